import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CounterKeyError, StoreError } from '../../src/counters/counter-store.ts'
import type { Decide } from '../../src/decide/decide.ts'
import { OverloadError, ServiceError } from '../../src/decide/decision.ts'
import { parseRequestJson, toResponseJson } from '../../src/protocol/json.ts'
import { OK, OVER_LIMIT, type RateLimitRequest } from '../../src/protocol/message.ts'
import { openHttpListener } from '../../src/transports/http-listener.ts'
import { createJsonHandler } from '../../src/transports/json.ts'
import { RequestBodies } from '../../src/transports/request-bodies.ts'
import { collectLog } from '../support/collected-log.ts'
import { exchangeRaw } from '../support/raw-http.ts'

const body = JSON.stringify({
  domain: 'd',
  descriptors: [{ entries: [{ key: 'k', value: 'v' }] }],
})

const allow: Decide = (_request, _deadlineMs, decided) =>
  decided(undefined, {
    overallCode: OK,
    statuses: [
      {
        code: OK,
        currentLimit: { requestsPerUnit: 20, unit: 2, name: '' },
        limitRemaining: 19,
        resetSeconds: 33,
      },
    ],
    responseHeadersToAdd: [],
    dynamicMetadata: undefined,
  })

const refuse: Decide = (_request, _deadlineMs, decided) =>
  decided(undefined, {
    overallCode: OVER_LIMIT,
    statuses: [{ code: OVER_LIMIT, currentLimit: undefined, limitRemaining: 0, resetSeconds: 12 }],
    responseHeadersToAdd: [],
    dynamicMetadata: undefined,
  })

async function openExample(t: TestContext, decide: Decide, bodyLimitBytes = 1_048_576) {
  const { log, lines } = collectLog()
  const handle = createJsonHandler({
    decide,
    parseRequest: parseRequestJson,
    toResponseText: toResponseJson,
    bodies: new RequestBodies({ bytes: bodyLimitBytes }),
    failures: { report: (toMessage) => log.warning(toMessage) },
  })
  const listener = await openHttpListener({
    host: '127.0.0.1',
    port: 0,
    routes: { '/json': handle },
  })
  t.after(() => listener[Symbol.asyncDispose]())
  const url = `http://127.0.0.1:${listener.port}/json`
  const post = async (sent: string | Uint8Array<ArrayBuffer>) => {
    const response = await fetch(url, { method: 'POST', body: sent })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      sniff: response.headers.get('x-content-type-options'),
      text: await response.text(),
    }
  }
  return { post, url, lines, port: listener.port }
}

const badRequest = {
  status: 400,
  type: 'text/plain; charset=utf-8',
  sniff: 'nosniff',
  text: 'Bad Request\n',
}

test('an allowed request gets 200 with the decision', async (t) => {
  const { post } = await openExample(t, allow)
  assert.deepEqual(await post(body), {
    status: 200,
    type: 'application/json',
    sniff: null,
    text: '{"overallCode":"OK","statuses":[{"code":"OK","currentLimit":{"requestsPerUnit":20,"unit":"MINUTE"},"limitRemaining":19,"durationUntilReset":"33s"}]}',
  })
})

test('a request over the limit gets 429 with the decision', async (t) => {
  const { post } = await openExample(t, refuse)
  const { status, type, text } = await post(body)
  assert.deepEqual(
    [status, type, JSON.parse(text).overallCode],
    [429, 'application/json', 'OVER_LIMIT'],
  )
})

test('the decision gets the request, and no deadline', async (t) => {
  const seen: [RateLimitRequest, number][] = []
  const { post } = await openExample(t, (request, deadlineMs, decided) => {
    seen.push([request, deadlineMs])
    allow(request, deadlineMs, decided)
  })
  await post(
    '{"domain":"d","descriptors":[{"entries":[{"key":"ü","value":"v"}],"hits_addend":"2"}]}',
  )
  assert.deepEqual(
    seen.map(([{ domain, descriptors }, deadlineMs]) => [
      domain,
      descriptors[0]?.entries[0]?.key,
      descriptors[0]?.hitsAddend,
      deadlineMs,
    ]),
    [['d', 'ü', 2, Number.POSITIVE_INFINITY]],
  )
})

const bad: readonly (readonly [string, string | Uint8Array<ArrayBuffer>])[] = [
  ['an empty body', ''],
  ['no JSON', '{'],
  ['a list', '[]'],
  ['an unknown member', '{"domain":"d","colour":"red"}'],
  ['something after the end', `${body} {}`],
  ['invalid UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d)],
  ['a byte order mark', `\ufeff${body}`],
  ['deep nesting', `{"domain":${'['.repeat(100_000)}`],
]
for (const [name, sent] of bad) {
  test(`${name} is a bad request, and the reason is only logged`, async (t) => {
    const { post, lines } = await openExample(t, () => assert.fail('nothing to decide'))
    assert.deepEqual(await post(sent), badRequest)
    assert.match(lines.join('\n'), /^warning error: .+$/)
  })
}

test('a GET has no body and so is a bad request', async (t) => {
  const { url } = await openExample(t, allow)
  const response = await fetch(url)
  assert.deepEqual([response.status, await response.text()], [400, 'Bad Request\n'])
})

test('a request that the decision refuses is a bad request', async (t) => {
  const error = new ServiceError('rate limit domain must not be empty')
  const { post, lines } = await openExample(t, (_request, _deadlineMs, decided) =>
    decided(error, undefined),
  )
  assert.deepEqual(await post(body), badRequest)
  assert.deepEqual(lines, ['warning error: rate limit domain must not be empty'])
})

test('a request with an invalid counter key is a bad request', async (t) => {
  const error = new CounterKeyError('malformed: key is too long or contains invalid characters')
  const { post, lines } = await openExample(t, (_request, _deadlineMs, decided) =>
    decided(error, undefined),
  )
  assert.deepEqual(await post(body), badRequest)
  assert.deepEqual(lines, [`warning error: ${error.message}`])
})

test('a store failure returns 503 with its reason, even if it happens later', async (t) => {
  const { post, lines } = await openExample(t, (_request, _deadlineMs, decided) => {
    setImmediate(() => decided(new StoreError('connection "lost"'), undefined))
  })
  assert.deepEqual(await post(body), {
    status: 503,
    type: 'application/json',
    sniff: null,
    text: '{"error":"connection \\"lost\\""}',
  })
  assert.deepEqual(lines, ['warning error: connection "lost"'])
})

test('a request that is refused because of too many others returns 503', async (t) => {
  const error = new OverloadError('too many large requests are already waiting')
  const { post, lines } = await openExample(t, (_request, _deadlineMs, decided) =>
    decided(error, undefined),
  )
  const { status, text } = await post(body)
  assert.deepEqual([status, text], [503, `{"error":"${error.message}"}`])
  assert.deepEqual(lines, [`warning error: ${error.message}`])
})

test('a decision that throws returns 500, and the listener keeps running', async (t) => {
  const failures: Decide[] = [
    () => {
      throw new Error('an internal error')
    },
    (_request, _deadlineMs, decided) => decided(undefined, undefined),
  ]
  const { post, lines } = await openExample(t, (...args) => (failures.shift() ?? allow)(...args))
  for (let i = 0; i < 2; i += 1) {
    const { status, text } = await post(body)
    assert.deepEqual([status, text], [500, 'Internal Server Error\n'])
  }
  assert.equal((await post(body)).status, 200)
  assert.deepEqual(lines, [
    'warning error: an internal error',
    'warning error: the decision has no response',
  ])
})

test('a body over the limit gets 413, with or without a content length, and the connection stays usable', async (t) => {
  const { post, port } = await openExample(t, allow, 1_000)
  const { status, text } = await post('x'.repeat(100_000))
  assert.deepEqual([status, text], [413, 'Request Entity Too Large\n'])
  const chunk = `800\r\n${'x'.repeat(2_048)}\r\n`
  const answers = await exchangeRaw(
    t,
    port,
    'POST /json HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
    chunk.repeat(100),
    '0\r\n\r\n',
    `POST /json HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
    body,
  )
  const statuses = [...answers.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, each]) => each)
  assert.deepEqual(statuses, ['413', '200'])
})

test('a body of exactly the limit is read', async (t) => {
  const { post } = await openExample(t, allow, body.length)
  assert.equal((await post(body)).status, 200)
  assert.equal((await post(`${body} `)).status, 413)
})

test('a client that disconnects before the response causes no failure', async (t) => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<() => void>()
  const { url, post, lines } = await openExample(t, (request, deadlineMs, decided) => {
    if (request.domain === 'slow') reach(() => allow(request, deadlineMs, decided))
    else allow(request, deadlineMs, decided)
  })
  const leaving = new AbortController()
  const left = fetch(url, { method: 'POST', body: '{"domain":"slow"}', signal: leaving.signal })
  const answer = await reached
  leaving.abort()
  await assert.rejects(left)
  answer()
  assert.equal((await post(body)).status, 200)
  assert.deepEqual(lines, [])
})
