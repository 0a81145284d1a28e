import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createAuthority } from '@portcullis/test-servers'
import { Webhook } from 'standardwebhooks'
import { ApiError } from '../../../src/errors.ts'
import {
  createHttpTransport,
  type HttpTransportParts,
} from '../../../src/plugins/hooks/http-transport.ts'
import { hookSecret, openHookReceiver, type Reply } from '../../support/hook-receiver.ts'

const secret = hookSecret.replace('v1,whsec_', '')
const payload = { metadata: { name: 'x' }, user: { id: '1', name: 'Zoë' } }
const id = '6a3f4d0e-58a1-4e5c-9a52-0d0f5a9b1c11'

const createTransport = (url: string, more: Partial<HttpTransportParts> = {}) =>
  createHttpTransport({
    target: { kind: 'http', url, isInternalAllowed: true },
    secrets: [secret],
    now: Date.now,
    limits: { pauseMs: 1 },
    ...more,
  })

/** Status, code and message of the error. */
async function failureOf(promise: Promise<unknown>): Promise<readonly unknown[]> {
  try {
    return ['no failure', await promise]
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return [error.status, error.code, error.message]
  }
}

const openWith = async (t: TestContext, replies: readonly Reply[]) => {
  const receiver = await openHookReceiver(t, { secret: hookSecret })
  receiver.reply = (_request, count) => replies[count - 1] ?? replies.at(-1) ?? {}
  return receiver
}

test('a request is posted as JSON, with signatures that the standardwebhooks package accepts', async (t) => {
  const receiver = await openHookReceiver(t)
  receiver.reply = () => ({ body: { fine: true } })
  const newer = 'bmV3ZXIgc2VjcmV0'
  const send = createTransport(receiver.url, { secrets: [secret, newer] })
  assert.deepEqual(await send(payload, id), { fine: true })
  const [{ headers, text }] = receiver.requests as [(typeof receiver.requests)[number]]
  assert.deepEqual(JSON.parse(text), payload)
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['webhook-id'], id)
  assert.match(`${headers['webhook-signature']}`, /^v1,[A-Za-z\d+/]{43}= v1,[A-Za-z\d+/]{43}=$/)
  const signed = {
    'webhook-id': id,
    'webhook-timestamp': `${headers['webhook-timestamp']}`,
    'webhook-signature': `${headers['webhook-signature']}`,
  }
  for (const each of [secret, newer]) {
    assert.deepEqual(new Webhook(each).verify(text, signed), payload)
  }
  assert.throws(() => new Webhook(secret).verify(`${text} `, signed))
  assert.throws(() => new Webhook('b3RoZXI=').verify(text, signed))
})

test('without secrets there is no signature', async (t) => {
  const receiver = await openHookReceiver(t)
  await createTransport(receiver.url, { secrets: [] })(payload, id)
  assert.equal(receiver.requests[0]?.headers['webhook-signature'], undefined)
})

test('200 and 202 return JSON, 204 returns nothing', async (t) => {
  const json = { 'content-type': 'Application/JSON; charset=utf-8' }
  const receiver = await openWith(t, [
    { body: { a: 1 } },
    { status: 202, headers: json, body: '{"b":2}' },
    { status: 204 },
  ])
  const send = createTransport(receiver.url)
  assert.deepEqual(await send(payload, id), { a: 1 })
  assert.deepEqual(await send(payload, id), { b: 2 })
  assert.equal(await send(payload, id), undefined)
})

const unexpected = (message: string) => [500, 'unexpected_failure', message]
const busy = unexpected('Service currently unavailable due to hook')
const failures: readonly (readonly [string, Reply, readonly unknown[]])[] = [
  ['400', { status: 400 }, unexpected('Invalid payload sent to hook')],
  ['401', { status: 401 }, unexpected('Hook requires authorization token')],
  ['429 without Retry-After', { status: 429 }, busy],
  ['503 without Retry-After', { status: 503 }, busy],
  ['404', { status: 404 }, unexpected('Unexpected status code returned from hook: 404')],
  ['500', { status: 500 }, unexpected('Unexpected status code returned from hook: 500')],
  [
    'a redirect',
    { status: 302, headers: { location: '/elsewhere' } },
    unexpected('Unexpected status code returned from hook: 302'),
  ],
  [
    'HTML',
    { headers: { 'content-type': 'text/html' }, body: '<p>' },
    [
      400,
      'hook_payload_invalid_content_type',
      'Invalid JSON response. Received content-type: text/html',
    ],
  ],
  [
    'broken JSON',
    { headers: { 'content-type': 'application/json' }, body: '{' },
    unexpected('Hook must answer with a JSON object'),
  ],
  [
    'too much',
    { body: { long: 'x'.repeat(204_800) } },
    [422, 'hook_payload_over_size_limit', 'Payload size exceeded size limit of 204800 bytes'],
  ],
]

test('an invalid response fails at once with the reason', async (t) => {
  for (const [name, reply, failure] of failures) {
    await t.test(name, async (t) => {
      const receiver = await openWith(t, [reply])
      assert.deepEqual(await failureOf(createTransport(receiver.url)(payload, id)), failure)
      assert.equal(receiver.requests.length, 1)
    })
  }
})

test('a response with Retry-After is retried twice', async (t) => {
  const later = { status: 503, headers: { 'retry-after': '1' } }
  const receiver = await openWith(t, [later, { ...later, status: 429 }, { body: { ok: 1 } }])
  assert.deepEqual(await createTransport(receiver.url)(payload, id), { ok: 1 })
  const ids = receiver.requests.map(({ headers }) => headers['webhook-id'])
  assert.deepEqual(ids, [id, id, id])
  const stubborn = await openWith(t, [later])
  assert.deepEqual(await failureOf(createTransport(stubborn.url)(payload, id)), [
    422,
    'hook_timeout_after_retry',
    'Failed to reach hook after maximum retries',
  ])
  assert.equal(stubborn.requests.length, 3)
})

test('an unreachable receiver is tried three times', async (t) => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const send = createTransport(`http://127.0.0.1:${address.port}/`)
  assert.deepEqual(await failureOf(send(payload, id)), [
    422,
    'hook_timeout_after_retry',
    'Failed to reach hook after maximum retries',
  ])
  assert.equal(connections, 3)
})

test('all attempts share one time limit', async (t) => {
  const silent = await openWith(t, [{ isNone: true }])
  // The limit is long enough for the request to arrive on a busy machine.
  const limits = { totalMs: 2_000, pauseMs: 1 }
  const toTimeout = (seconds: string) => [
    422,
    'hook_timeout',
    `Failed to reach hook within maximum time of ${seconds} seconds`,
  ]
  const failure = await failureOf(createTransport(silent.url, { limits })(payload, id))
  assert.deepEqual(failure, toTimeout('2.000000'))
  assert.equal(silent.requests.length, 1)
  const busyOne = await openWith(t, [{ status: 429, headers: { 'retry-after': '9' } }])
  const patient = { totalMs: 500, pauseMs: 60_000 }
  const send = createTransport(busyOne.url, { limits: patient })
  assert.deepEqual(await failureOf(send(payload, id)), toTimeout('0.500000'))
})

test('a kept-alive connection that the receiver has closed does not use up an attempt', async (t) => {
  const receiver = await openWith(t, [{ body: {} }])
  const send = createTransport(receiver.url, { limits: { tries: 1 } })
  for (let requested = 0; requested < 3; requested++) {
    assert.deepEqual(await send(payload, id), {})
    receiver.closeIdle()
  }
})

test('a TLS connection resolves the host name once and verifies the certificate', async (t) => {
  const authority = createAuthority('tests')
  const certificate = authority.issue('hook.example')
  const receiver = await openHookReceiver(t, { tls: certificate, secret: hookSecret })
  receiver.reply = () => ({ body: { ok: 1 } })
  const requested: string[] = []
  const resolve = async (host: string) => {
    requested.push(host)
    return [{ address: '127.0.0.1', family: 4 }]
  }
  const parts = { resolve, ca: authority.certificate }
  const send = createTransport(`https://hook.example:${receiver.port}/`, parts)
  assert.deepEqual(await send(payload, id), { ok: 1 })
  assert.deepEqual(await send(payload, id), { ok: 1 })
  // The second request used the same connection.
  assert.deepEqual(requested, ['hook.example'])
  const untrusting = createTransport(`https://hook.example:${receiver.port}/`, { resolve })
  assert.equal((await failureOf(untrusting(payload, id)))[1], 'hook_timeout_after_retry')
})
