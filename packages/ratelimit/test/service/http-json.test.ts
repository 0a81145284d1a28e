import assert from 'node:assert/strict'
import { test } from 'node:test'
import { descriptor, requestFor } from '../support/decider.ts'
import { exchangeRaw } from '../support/raw-http.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient, postJson } from '../support/service-client.ts'

const rules = `
domain: d
descriptors:
  - { key: k, rate_limit: { unit: day, requests_per_unit: 100, name: hundred } }
  - { key: one, rate_limit: { unit: minute, requests_per_unit: 1 } }
  - { key: free, rate_limit: { unlimited: true } }
`
const now = () => 1_700_000_000_000

const body = (text: string) => `{"domain":"d","descriptors":[${text}]}`
const entries = (key: string) => `"entries":[{"key":"${key}","value":"v"}]`

test('a decision is proto3 JSON, with status 200 or 429', async (t) => {
  const service = await openService(t, { rules, now })
  const type = 'application/json'
  const both = body(`{${entries('one')}},{${entries('none')}}`)
  assert.deepEqual(await postJson(service, both), {
    status: 200,
    type,
    text: '{"overallCode":"OK","statuses":[{"code":"OK","currentLimit":{"requestsPerUnit":1,"unit":"MINUTE"},"durationUntilReset":"40s"},{"code":"OK"}]}',
  })
  // The memory store uses the real clock, for which this minute has long ended.
  const twice = body(`{${entries('one')},"hitsAddend":2},{${entries('none')}}`)
  assert.deepEqual(await postJson(service, twice), {
    status: 429,
    type,
    text: '{"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT","currentLimit":{"requestsPerUnit":1,"unit":"MINUTE"},"durationUntilReset":"40s"},{"code":"OK"}]}',
  })
  assert.deepEqual(await postJson(service, body(`{${entries('free')}}`)), {
    status: 200,
    type,
    text: '{"overallCode":"OK","statuses":[{"code":"OK","limitRemaining":4294967295}]}',
  })
})

test('headers and metadata have their JSON names', async (t) => {
  const service = await openService(t, {
    rules,
    env: { LIMIT_RESPONSE_HEADERS_ENABLED: 'true', RESPONSE_DYNAMIC_METADATA: 'true' },
  })
  const answer = JSON.parse((await postJson(service, body(`{${entries('k')}}`))).text)
  assert.deepEqual(answer.statuses[0].currentLimit, {
    requestsPerUnit: 100,
    unit: 'DAY',
    name: 'hundred',
  })
  assert.deepEqual(answer.responseHeadersToAdd.slice(0, 2), [
    { key: 'RateLimit-Limit', value: '100' },
    { key: 'RateLimit-Remaining', value: '99' },
  ])
  assert.deepEqual(answer.dynamicMetadata, { domain: 'd', descriptors: [{ entries: ['k=v'] }] })
})

/** Body → remaining hits of a hundred. */
const accepted: readonly (readonly [string, string, number])[] = [
  ['only entries', body(`{${entries('k')}}`), 99],
  ['hits of the request', `{"hitsAddend":3,${body(`{${entries('k')}}`).slice(1)}`, 97],
  ['the other name', `{"hits_addend":3,${body(`{${entries('k')}}`).slice(1)}`, 97],
  ['a number in a string', `{"hitsAddend":"3",${body(`{${entries('k')}}`).slice(1)}`, 97],
  ['hits of the descriptor', body(`{${entries('k')},"hitsAddend":5}`), 95],
  ['hits of the descriptor in a string', body(`{${entries('k')},"hits_addend":"5"}`), 95],
  ['no hits', body(`{${entries('k')},"hitsAddend":"0"}`), 100],
  ['null for absent fields', body(`{${entries('k')},"limit":null,"hitsAddend":null}`), 99],
  ['a unit by its name', body(`{${entries('k')},"limit":{"requestsPerUnit":9,"unit":"DAY"}}`), 8],
  ['a unit by its number', body(`{${entries('k')},"limit":{"requests_per_unit":9,"unit":4}}`), 8],
  ['an unknown unit', body(`{${entries('k')},"limit":{"requestsPerUnit":9}}`), 99],
  ['a refund', body(`{${entries('k')},"hitsAddend":5,"isNegativeHits":true}`), 100],
  ['white space', ` \n${body(`{${entries('k')}}`)}\t`, 99],
  ['escapes', body('{"entries":[{"key":"\\u006b","value":"\\ud83e\\udd80"}]}'), 99],
]

for (const [what, text, remaining] of accepted) {
  test(`/json accepts ${what}`, async (t) => {
    const service = await openService(t, { rules })
    const { status, text: answer } = await postJson(service, text)
    assert.equal(status, 200, answer)
    assert.equal(JSON.parse(answer).statuses[0].limitRemaining, remaining)
  })
}

const refused: readonly (readonly [string, string | Uint8Array<ArrayBuffer>])[] = [
  ['an empty body', ''],
  ['no JSON', 'domain=d'],
  ['a list', '[]'],
  ['null', 'null'],
  ['an unknown member', '{"domain":"d","colour":"red"}'],
  ['an unknown member further down', body(`{${entries('k')},"colour":1}`)],
  ['text after the end', `${body(`{${entries('k')}}`)}x`],
  ['a second document', `${body(`{${entries('k')}}`)}{}`],
  [
    'invalid UTF-8',
    Buffer.concat([Buffer.from('{"domain":"'), Uint8Array.of(0xc3, 0x28), Buffer.from('"}')]),
  ],
  ['a lone surrogate', body('{"entries":[{"key":"\\ud83e"}]}')],
  ['a number that is too large', `{"hitsAddend":4294967296,${body(`{${entries('k')}}`).slice(1)}`],
  ['a negative number', `{"hitsAddend":-1,${body(`{${entries('k')}}`).slice(1)}`],
  ['a fraction', `{"hitsAddend":1.5,${body(`{${entries('k')}}`).slice(1)}`],
  ['a word instead of a number', `{"hitsAddend":"many",${body(`{${entries('k')}}`).slice(1)}`],
  ['a number above 64 bits', body(`{${entries('k')},"hitsAddend":"18446744073709551616"}`)],
  ['an unknown unit name', body(`{${entries('k')},"limit":{"unit":"FORTNIGHT"}}`)],
  ['a number instead of text', '{"domain":5}'],
  ['an object instead of a list', '{"domain":"d","descriptors":{}}'],
  ['an empty domain', '{"descriptors":[{}]}'],
  ['no descriptors', '{"domain":"d"}'],
  ['both names at once', `{"hitsAddend":1,"hits_addend":1,${body('{}').slice(1)}`],
]

test('an invalid request gets 400, and the reason is logged', async (t) => {
  for (const [what, sent] of refused) {
    // A shared service would log only some of them.
    const service = await openService(t, { rules })
    const before = service.log.length
    assert.deepEqual(
      await postJson(service, sent),
      { status: 400, type: 'text/plain; charset=utf-8', text: 'Bad Request\n' },
      what,
    )
    const [line = '', ...more] = service.log.slice(before)
    assert.match(line, /^warning error: \S/, what)
    assert.deepEqual(more, [], what)
  }
})

test('without a body any method gets 400', async (t) => {
  const service = await openService(t, { rules })
  for (const method of ['GET', 'DELETE', 'OPTIONS', 'PUT']) {
    const response = await fetch(`${service.httpUrl}/json`, { method })
    assert.deepEqual([response.status, await response.text()], [400, 'Bad Request\n'], method)
  }
})

test('without rules every request gets 400', async (t) => {
  const service = await openService(t, { rules: 'domain: [' })
  assert.equal((await postJson(service, body(`{${entries('k')}}`))).status, 400)
})

test('a body over the limit gets 413, with any transfer encoding', async (t) => {
  const service = await openService(t, { rules, env: { HTTP_BODY_LIMIT_BYTES: '1000' } })
  const long = body(`{"entries":[{"key":"k","value":"${'v'.repeat(1_000)}"}]}`)
  assert.equal((await postJson(service, long)).status, 413)
  const chunked = await exchangeRaw(
    t,
    Number(new URL(service.httpUrl).port),
    'POST /json HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n',
    ...[long.slice(0, 900), long.slice(900)].map(
      (piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`,
    ),
    '0\r\n\r\n',
  )
  assert.match(chunked, /^HTTP\/1\.1 413 /)
  assert.equal((await postJson(service, body(`{${entries('k')}}`))).status, 200)
})

test('both transports share counters', async (t) => {
  const service = await openService(t, { rules })
  const { decide } = await openDecisionClient(t, service)
  await decide(requestFor('d', descriptor('k=v', { hitsAddend: 40 })))
  const { text } = await postJson(service, body(`{${entries('k')},"hitsAddend":9}`))
  assert.equal(JSON.parse(text).statuses[0].limitRemaining, 51)
})

test('with LOG_LEVEL=debug every request is logged, including those over gRPC', async (t) => {
  const service = await openService(t, { rules, now, env: { LOG_LEVEL: 'debug' } })
  const before = service.log.length
  const three = body(`{${entries('k')}},{${entries('free')}},{${entries('none')}}`)
  const { status } = await postJson(service, three)
  assert.equal(status, 200)
  const client = await openDecisionClient(t, service)
  await client.decide(requestFor('elsewhere', descriptor('k=v', { hitsAddend: 0 })))
  await client.tryDecide(requestFor('', descriptor('k=v')))
  assert.deepEqual(service.log.slice(before), [
    'debug got descriptor: (k=v)',
    'debug applying limit: 100 requests per DAY, shadow_mode: false',
    'debug got descriptor: (free=v)',
    'debug descriptor is unlimited, not passing to the cache',
    'debug got descriptor: (none=v)',
    'debug descriptor does not match any limit, no limits applied',
    'debug returning normal response: overall_code:OK statuses:{code:OK current_limit:{name:"hundred" requests_per_unit:100 unit:DAY} limit_remaining:99 duration_until_reset:{seconds:6400}} statuses:{code:OK limit_remaining:4294967295} statuses:{code:OK}',
    "debug unknown domain 'elsewhere'",
    'debug got descriptor: (k=v)',
    'debug descriptor does not match any limit, no limits applied',
    'debug returning normal response: overall_code:OK statuses:{code:OK}',
    'debug caught error during call: rate limit domain must not be empty',
  ])
})

test('calls that fail are logged at a bounded rate', async (t) => {
  const service = await openService(t, { rules })
  const startedMs = performance.now()
  for (let i = 0; i < 200; i += 1) assert.equal((await postJson(service, 'x')).status, 400)
  const seconds = 1 + Math.ceil((performance.now() - startedMs) / 1_000)
  const logged = service.log.filter((line) => line.startsWith('warning error: '))
  assert.ok(logged.length >= 10 && logged.length <= 10 * seconds, `${logged.length} lines`)
})

test('/json refuses requests of a browser for another origin, unless that is allowed', async (t) => {
  const origin = 'https://app.example'
  const service = await openService(t, { rules, env: { HTTP_ALLOWED_ORIGINS: `${origin}/` } })
  const post = (headers: Record<string, string>, method = 'POST') =>
    exchangeRaw(
      t,
      Number(new URL(service.httpUrl).port),
      toHead(method, { ...headers, host: 'limits.example:8080' }),
    )
  const isRefused = (answer: string) => assert.match(answer, /^HTTP\/1\.1 403 /)
  isRefused(await post({ origin: 'https://evil.example' }))
  isRefused(await post({ origin: 'null' }))
  isRefused(await post({ origin: 'http://limits.example:3000', 'sec-fetch-site': 'same-site' }))
  isRefused(await post({ 'sec-fetch-site': 'cross-site' }, 'GET'))
  assert.match(
    service.log.join('\n'),
    /refused a request from the origin "https:\/\/evil\.example"/,
  )
  for (const headers of [
    {},
    { origin: 'http://limits.example:8080' },
    { origin: 'http://limits.example:8080', 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin, 'sec-fetch-site': 'cross-site' },
  ]) {
    const answer = await post(headers)
    assert.match(answer, /^HTTP\/1\.1 200 /)
    const isOther = 'sec-fetch-site' in headers && headers['sec-fetch-site'] === 'cross-site'
    assert.equal(answer.includes(`access-control-allow-origin: ${origin}`), isOther)
  }
  const preflight = { origin, 'access-control-request-method': 'POST' }
  assert.match(await post(preflight, 'OPTIONS'), /^HTTP\/1\.1 204 /)
})

function toHead(method: string, headers: Record<string, string>): string {
  const text = method === 'POST' ? body(`{${entries('k')}}`) : ''
  const all = { ...headers, 'content-length': `${text.length}`, connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} /json HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}
