/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, sdk, send } from '../support/http-client.ts'
import { openRawConnection } from '../support/raw-connection.ts'

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

test('every error response has the request id that is in the log', async (t) => {
  const server = await openFlowServer(t, { REQUEST_ID_HEADER: 'X-Trace' })
  if (!server) return
  const { url } = server
  const body = { email: 'unknown@example.com', password: 'wrong horse battery' }
  const failing: Readonly<Record<string, (headers?: object) => Promise<HttpAnswer>>> = {
    '400': (headers) => send(url, '/token?grant_type=password', { body, headers: { ...headers } }),
    '400 for invalid JSON': (headers) =>
      send(url, '/signup', { body: '{', headers: { ...headers } }),
    '401': (headers) => send(url, '/user', { headers: { ...headers } }),
    '404': (headers) => send(url, '/nowhere', { headers: { ...headers } }),
    '405': (headers) => send(url, '/signup', { method: 'DELETE', headers: { ...headers } }),
    '303 for an expired link': (headers) =>
      send(url, '/verify?type=signup&token=abc', { headers: { ...headers } }),
    '303 for an unknown OAuth state': (headers) =>
      send(url, '/callback?state=abc&code=x', { headers: { ...headers } }),
  }
  for (const [what, request] of Object.entries(failing)) {
    await t.test(what, async () => {
      for (const dialect of [{}, sdk]) {
        const answer = await request(dialect)
        assert.equal(answer.status, Number(what.slice(0, 3)), JSON.stringify(answer.body))
        assert.match(answer.headers.get('x-request-id') ?? '', uuid)
        const named = await request({ ...dialect, 'x-trace': `of-the-proxy-${what.slice(0, 3)}` })
        assert.equal(named.headers.get('x-request-id'), `of-the-proxy-${what.slice(0, 3)}`)
        // The body has the id only if the server is at fault.
        assert.equal(named.body?.error_id, undefined)
      }
      assert.ok(server.log.some((line) => line.includes(`of-the-proxy-${what.slice(0, 3)}`)))
    })
  }

  await t.test('500, with the same id in the body', async () => {
    await server.query('alter table users rename to gone')
    const answer = await send(url, '/token?grant_type=password', { body })
    await server.query('alter table gone rename to users')
    assert.equal(answer.status, 500)
    assert.match(answer.body.error_id, uuid)
    assert.equal(answer.headers.get('x-request-id'), answer.body.error_id)
    assert.ok(server.log.some((line) => line.includes(`request ${answer.body.error_id} failed`)))
  })

  await t.test('input that is not HTTP', async () => {
    const connection = await openRawConnection(t, url)
    connection.write('nonsense\r\n\r\n')
    assert.match(await connection.received, /^HTTP\/1\.1 400 [^]*x-request-id: [0-9a-f-]{36}\r\n/)
  })

  await t.test('CORS exposes the header', async () => {
    const { headers } = await send(url, '/user', { headers: { origin: 'https://site.example' } })
    assert.match(headers.get('access-control-expose-headers') ?? '', /X-Request-Id/)
  })
})
