import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openConsole } from '../../src/console/console.ts'

async function listen(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Opens a console for these servers, and returns a function that calls it as its page does. */
async function open(t: TestContext, auth: RequestListener, debug: RequestListener, token?: string) {
  const running = await openConsole({
    host: '127.0.0.1',
    port: 0,
    token: 'a-token-of-the-console-for-this-test',
    version: '1',
    auth: { url: await listen(t, auth), key: async () => 'key' },
    ratelimit: { debugUrl: await listen(t, debug), debugToken: token },
  })
  t.after(() => running[Symbol.asyncDispose]())
  const { origin } = new URL(running.entryUrl)
  const entry = await fetch(running.entryUrl, { redirect: 'manual' })
  const [cookie = ''] = entry.headers.get('set-cookie')?.split(';') ?? []
  return async (path: string, body?: object) => {
    const answer = await fetch(`${origin}/api/settings${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        cookie,
        'x-portcullis-console': '1',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
}

const sendJson =
  (status: number, value: unknown): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const listing: RequestListener = (_request, response) =>
  response.writeHead(200, { 'content-type': 'text/plain' }).end('/rlconfig: …\n')

test('the error says that a server has no such endpoint', async (t) => {
  const call = await open(t, sendJson(404, { msg: 'not found' }), listing)
  for (const path of ['/auth', '/templates']) {
    const { status, text } = await call(path)
    assert.equal(status, 502)
    assert.match(JSON.parse(text).error.message, /Supabase Auth has no endpoint for them/)
  }
  const { status, text } = await call('/ratelimit')
  assert.equal(status, 502)
  assert.match(JSON.parse(text).error.message, /envoyproxy\/ratelimit has no page for them/)
})

test('the token of the debug pages is sent, and a missing one is explained', async (t) => {
  const debug: RequestListener = (request, response) =>
    request.headers.authorization === 'Bearer debug-token'
      ? sendJson(200, { settings: [] })(request, response)
      : response.writeHead(403).end()
  const auth = sendJson(200, {})
  assert.equal(
    (await (await open(t, auth, debug, 'debug-token'))('/ratelimit')).text,
    '{"settings":[]}',
  )
  const { text } = await (await open(t, auth, debug))('/ratelimit')
  assert.match(
    JSON.parse(text).error.message,
    /Set PORTCULLIS_DEBUG_TOKEN to the value of DEBUG_TOKEN/,
  )
})

const template = {
  name: 'invite',
  subject: 'Hello',
  text: 'Hello',
  html: '<link rel="preconnect" href="https://other.example"><p>Hello</p>',
  variables: [],
}

test('the HTML of a template is served for a sandboxed frame only', async (t) => {
  const call = await open(t, sendJson(200, { sender: 'smtp', templates: [template] }), listing)
  assert.deepEqual(JSON.parse((await call('/templates')).text), {
    sender: 'smtp',
    templates: [{ name: 'invite', subject: 'Hello', text: 'Hello', variables: [] }],
  })
  const { headers, text } = await call('/templates/invite/html')
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*; sandbox$/)
  assert.match(text, /<x-link rel="preconnect"/)
  assert.equal((await call('/templates/none/html')).status, 404)
})

test('a test is forwarded with its two fields, and so is the answer', async (t) => {
  let received = ''
  const auth: RequestListener = (request, response) => {
    request.setEncoding('utf8').on('data', (part: string) => {
      received += part
    })
    request.on('end', () => {
      response.setHeader('retry-after', '7')
      sendJson(422, { error_code: 'email_send_failed', msg: 'refused' })(request, response)
    })
  }
  const call = await open(t, auth, listing)
  const body = { template: 'invite', email: 'ada@site.example' }
  const { status, headers, text } = await call('/templates/test', body)
  assert.deepEqual(JSON.parse(received), body)
  assert.deepEqual([status, headers.get('retry-after')], [422, '7'])
  assert.equal(JSON.parse(text).msg, 'refused')
  assert.equal((await call('/templates/test', { template: 'invite' })).status, 400)
})
