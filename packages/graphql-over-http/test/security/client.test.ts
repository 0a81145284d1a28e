/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../src/client.ts'
import { openClientServer, respond, scriptFetch, sendJson } from '../support/client-server.ts'

const REQUEST = { query: '{ hello }' }

test('credentials are not sent to another origin that the server redirects to', async (t) => {
  const other = await openClientServer(t, (res) => sendJson(res, { data: { hello: 'other' } }))
  for (const status of [301, 302, 303, 307, 308]) {
    other.received.length = 0
    const server = await openClientServer(t, (res) => {
      res.writeHead(status, { location: other.url }).end()
    })
    const client = createClient({
      url: server.url,
      headers: { Authorization: 'Bearer secret', Cookie: 'session=secret' },
    })
    await client.execute(REQUEST)
    assert.equal(server.received[0]?.headers.authorization, 'Bearer secret')
    assert.equal(other.received.length, 1)
    assert.equal(other.received[0]?.headers.authorization, undefined)
    assert.equal(other.received[0]?.headers.cookie, undefined)
  }
})

test('a header value with a line break is not sent, and does not end the process', async (t) => {
  const server = await openClientServer(t, (res) => sendJson(res, {}))
  const values = ['a\r\nx-injected: 1', 'a\nb', 'a\0b']
  for (const value of values) {
    const client = createClient({ url: server.url, headers: { 'x-value': value } })
    await assert.rejects(client.execute(REQUEST), { name: 'NetworkError' })
  }
  assert.deepEqual(server.received, [])
})

test('a header named like a key of the prototype changes no object', async () => {
  const { calls, fetchFn } = scriptFetch(respond('{}'))
  const headers = JSON.parse('{"__proto__":"polluted","constructor":"x"}')
  await createClient({ url: 'http://test', fetchFn, headers }).execute(REQUEST)
  const [call] = calls
  assert.equal(Object.getPrototypeOf(call?.init.headers), Object.prototype)
  assert.equal(call?.init.headers['constructor'], 'x')
})

test('a result with keys of the prototype changes no object', async () => {
  const body = '{"data":{"__proto__":{"polluted":true}},"__proto__":{"polluted":true}}'
  const { fetchFn } = scriptFetch(respond(body))
  const result = await createClient({ url: 'http://test', fetchFn }).execute(REQUEST)
  assert.equal('polluted' in {}, false)
  assert.equal(Object.getPrototypeOf(result), Object.prototype)
  assert.deepEqual(Object.keys(result.data ?? {}), ['__proto__'])
})

test('a failed response is never taken for a result', async () => {
  const { fetchFn } = scriptFetch(
    respond('{"data":{"admin":true}}', { status: 500 }),
    new Response('{"data":{"admin":true}}', { headers: { 'content-type': 'text/html' } }),
  )
  const client = createClient({ url: 'http://test', fetchFn })
  await assert.rejects(client.execute(REQUEST), { name: 'NetworkError' })
  await assert.rejects(client.execute(REQUEST), /Unsupported response content-type text\/html/)
})
