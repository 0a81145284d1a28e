/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createHandler } from '../src/handler.ts'
import type { Response } from '../src/request.ts'
import { anyText } from './support/any-text.ts'
import {
  accepting,
  GR,
  get,
  J,
  type PlainRequest,
  post,
  request,
  toAnswer,
} from './support/request.ts'
import { schema } from './support/schema.ts'

const HELLO = { query: '{ hello }' }
// Without the limit on tokens, which would refuse most of these documents first.
const handlers = (['classic', '2026'] as const).map((profile) =>
  createHandler({ schema, profile, maxTokens: false }),
)

/** Sends to both profiles; a rejection of either fails the test. */
async function sendToBoth(req: PlainRequest): Promise<readonly Response[]> {
  return Promise.all(handlers.map((handler) => handler(req)))
}

function assertProperAnswer([body, { status, statusText }]: Response): void {
  assert.ok(status >= 200 && status < 500, `status ${status}`)
  assert.notEqual(statusText, '')
  if (body === null) return
  const response = JSON.parse(body)
  assert.ok('data' in response || response.errors.length > 0, body)
  for (const { message } of response.errors ?? []) {
    assert.equal(typeof message, 'string')
    assert.doesNotMatch(body, /\.ts:\d+|node_modules|node:internal/)
    assert.doesNotMatch(message, /call stack|recursion|Cannot read|not a function|in JSON at/)
  }
}

const pieces = fc
  .array(
    fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        '"',
        ':',
        ',',
        '\\',
        '\\u00',
        'null',
        'query',
        '{ hello }',
        '0',
        '1e999',
      ],
      ...['"query":', '"{ hello }"', '"variables":', '"__proto__":', '\u0000', '\uD800', '🦊', ' '],
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(''))
const bytes = fc.uint8Array({ maxLength: 100 }).map((array) => Buffer.from(array).toString('utf8'))
const binary = fc
  .uint8Array({ maxLength: 100 })
  .map((array) => Buffer.from(array).toString('latin1'))
const text = fc.oneof(pieces, bytes, binary, anyText())
const accept = fc.constantFrom(undefined, '*/*', J, GR)

test('random bodies never cause a rejection or a 5xx status', async () => {
  await fc.assert(
    fc.asyncProperty(text, accept, async (body, type) => {
      for (const response of await sendToBoth(accepting(post(body), type))) {
        assertProperAnswer(response)
      }
    }),
    { numRuns: 1000 },
  )
})

test('random JSON never causes a rejection or a 5xx status', async () => {
  const params = fc.record(
    {
      query: fc.oneof(fc.jsonValue(), fc.constantFrom('{ hello }', '{ echo(value: $a) }', '{')),
      variables: fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue())),
      operationName: fc.jsonValue({ maxDepth: 1 }),
      extensions: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.oneof(params, fc.jsonValue()), accept, async (body, type) => {
      for (const response of await sendToBoth(accepting(post(JSON.stringify(body)), type))) {
        assertProperAnswer(response)
      }
    }),
    { numRuns: 500 },
  )
})

test('random documents never cause a rejection or a 5xx status', async () => {
  const tokens = fc.array(
    fc.constantFrom(
      ...['{', '}', '(', ')', '[', ']', ':', '$', '!', '...', '@', '=', '|', '&', '"', '"""', '#'],
      ...['query', 'mutation', 'fragment', 'on', 'Query', 'hello', 'echo', 'value', 'self', 'fail'],
      ...['1', '-0', '1e5', '\\u{110000}', '\\uD83D', 'true', 'null', '\n', ' ', ',', '\uFEFF'],
    ),
    { maxLength: 30 },
  )
  await fc.assert(
    fc.asyncProperty(tokens, accept, async (parts, type) => {
      const query = parts.join(' ')
      for (const send of [post, get]) {
        for (const response of await sendToBoth(accepting(send({ query }), type))) {
          assertProperAnswer(response)
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('random URLs never cause a rejection or a 5xx status', async () => {
  const search = fc.array(
    fc.constantFrom(
      ...['?', '&', '=', '%', '%7B', '%ZZ', '%00', '%E0%A4', '+', '#', '/', ';', '🦊', '\u0000'],
      ...['query=', 'variables=', 'operationName=', 'extensions=', '{hello}', '{', 'null', '[]'],
    ),
    { maxLength: 20 },
  )
  const escaped = anyText().map((points) => encodeURIComponent(points.toWellFormed()))
  const webUrl = fc
    .tuple(fc.domain(), escaped, fc.array(escaped))
    .map(([host, path, query]) => `https://${host}/${path}?${query.join('&')}`)
  const url = fc.oneof(
    text,
    webUrl,
    search.map((parts) => parts.join('')),
  )
  await fc.assert(
    fc.asyncProperty(url, fc.constantFrom('GET', 'POST', 'HEAD', 'x'), async (address, method) => {
      const req = request({ method, url: address, body: () => '{}' })
      for (const response of await sendToBoth(req)) assertProperAnswer(response)
    }),
    { numRuns: 1000 },
  )
})

test('random headers never cause a rejection or a 5xx status', async () => {
  const headers = fc.dictionary(
    fc.oneof(fc.constantFrom('accept', 'Accept', 'content-type', 'Content-Type'), fc.string()),
    fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.constant(undefined)),
  )
  await fc.assert(
    fc.asyncProperty(headers, async (map) => {
      const body = JSON.stringify(HELLO)
      for (const response of await sendToBoth(request({ headers: map, body }))) {
        assertProperAnswer(response)
      }
    }),
    { numRuns: 500 },
  )
})

const DEPTHS = [1000, 3000, 100_000]
const nest = (open: string, core: string, close: string, depth: number) =>
  open.repeat(depth) + core + close.repeat(depth)

const DEEP_DOCUMENTS: readonly (readonly [what: string, toQuery: (depth: number) => string])[] = [
  ['selections', (depth) => nest('{self', '{hello}', '}', depth)],
  ['selections that are never closed', (depth) => '{self'.repeat(depth)],
  ['inline fragments', (depth) => `{${nest('...{', 'hello', '}', depth)}}`],
  ['lists in an argument', (depth) => `{echo(value:${nest('[', '1', ']', depth)})}`],
  ['objects in an argument', (depth) => `{echo(value:${nest('{a:', '1', '}', depth)})}`],
  ['list types', (depth) => `query($a:${nest('[', 'Int', ']', depth)}){hello}`],
]

for (const [what, toQuery] of DEEP_DOCUMENTS) {
  test(`deeply nested ${what} are answered without a crash`, async () => {
    for (const depth of DEPTHS) {
      for (const response of await sendToBoth(post({ query: toQuery(depth) }, { accept: GR }))) {
        assertProperAnswer(response)
      }
    }
  })
}

/** Documents that overflow the stack in graphql-js, with the status of each profile. */
const TOO_DEEP: readonly (readonly [what: string, query: string, statuses: readonly number[]])[] = [
  ['that it cannot be parsed', nest('{self', '{hello}', '}', 100_000), [400, 400]],
  [
    'that it cannot be validated',
    `{...F0}${Array.from(
      { length: 10_000 },
      (_, number) => `fragment F${number} on Query{...F${number + 1}}`,
    ).join('')}fragment F10000 on Query{hello}`,
    [400, 422],
  ],
]

for (const [what, query, statuses] of TOO_DEEP) {
  test(`a document so deep ${what} is refused with the reason`, async () => {
    const responses = await sendToBoth(post({ query }, { accept: GR }))
    assert.deepEqual(
      responses.map(([, { status }]) => status),
      statuses,
    )
    for (const response of responses) {
      const { type, json } = toAnswer(response)
      assert.equal(type, GR)
      assert.match(json.errors?.[0]?.message ?? '', /deep/)
    }
  })
}

const DEEP_VARIABLES = [
  ['unused', '{ hello }', '[', ']'],
  ['of the wrong type', 'query ($a: String) { greet(name: $a) }', '[', ']'],
  ['of an input type', 'query ($a: Filter) { find(filter: $a) }', '{"and":', '}'],
  ['returned unchanged', 'query ($a: JSON) { echo(value: $a) }', '[', ']'],
] as const

for (const [what, query, open, close] of DEEP_VARIABLES) {
  test(`deeply nested variables ${what} are answered without a crash`, async () => {
    for (const depth of DEPTHS) {
      const variables = `{"a":${nest(open, 'null', close, depth)}}`
      const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`
      for (const response of await sendToBoth(post(body, { accept: GR }))) {
        assertProperAnswer(response)
      }
    }
  })
}

test('fragments that spread each other are refused', async () => {
  const query = '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'
  const statuses = (await sendToBoth(post({ query }, { accept: GR }))).map(
    ([, { status }]) => status,
  )
  assert.deepEqual(statuses, [400, 422])
})

test('keys of the prototype in the body do no harm', async () => {
  const bodies = [
    '{"query":"{ hello }","__proto__":{"polluted":true}}',
    '{"query":"{ hello }","constructor":{"prototype":{"polluted":true}}}',
    '{"query":"{ hello }","variables":{"__proto__":{"polluted":true}}}',
    '{"query":"{ hello }","extensions":{"__proto__":{"polluted":true}}}',
    '{"query":"{ hello }","operationName":null,"toString":1,"hasOwnProperty":1}',
  ]
  for (const body of bodies) {
    for (const response of await sendToBoth(post(body))) {
      assert.deepEqual(toAnswer(response).json, { data: { hello: 'world' } })
    }
  }
  assert.equal('polluted' in {}, false)
})

test('variables are own keys only, whatever they are called', async () => {
  const seen: unknown[] = []
  const spied = createHandler({
    schema,
    execute: ({ variableValues }) => {
      seen.push(variableValues)
      return { data: {} }
    },
  })
  await spied(post('{"query":"{ hello }","variables":{"__proto__":{"a":1},"constructor":2}}'))
  const [variables] = seen
  assert.ok(variables !== null && typeof variables === 'object')
  assert.deepEqual(Object.keys(variables), ['__proto__', 'constructor'])
  assert.equal(Object.getPrototypeOf(variables), Object.prototype)
  assert.equal('a' in variables, false)
})

test('variables named like keys of the prototype work, and are absent when not sent', async () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const query = `query ($${name}: String) { greet(name: $${name}) }`
    // As text, because an object literal would take `__proto__` for the prototype.
    const body = `{"query":${JSON.stringify(query)},"variables":{"${name}":"Ada"}}`
    const [sent] = await sendToBoth(post(body))
    const [absent] = await sendToBoth(post({ query, variables: {} }))
    assert.ok(sent && absent)
    assert.deepEqual(toAnswer(sent).json, { data: { greet: 'Hello Ada' } })
    assert.deepEqual(toAnswer(absent).json, { data: { greet: 'Hello you' } })
  }
})

test('line breaks in parameters never reach a header or a status text', async () => {
  const evil = 'x\r\nset-cookie: a=b'
  const requests = [
    post({ query: evil, operationName: evil }),
    post({ ...HELLO, operationName: evil, variables: { [evil]: evil } }),
    get({ query: evil, operationName: evil }),
    post(HELLO, { accept: evil }),
    post(HELLO, { accept: `${GR}, ${evil}` }),
    request({ method: evil }),
  ]
  for (const req of requests) {
    for (const [, { statusText, headers = {} }] of await sendToBoth(req)) {
      for (const value of [statusText, ...Object.entries(headers).flat()]) {
        assert.doesNotMatch(value ?? '', /[\r\n]/)
      }
    }
  }
})

/** Features outside the specification: they are refused with a reason that names them. */
const UNSUPPORTED: readonly (readonly [what: string, req: PlainRequest, reason: RegExp | null])[] =
  [
    ['a batch', post([HELLO, HELLO], { accept: GR }), /must be an object/],
    ['a subscription', post({ query: 'subscription { ticks }' }, { accept: GR }), /Subscriptions/],
    ['@defer', post({ query: '{ ... @defer { hello } }' }, { accept: GR }), /@defer/],
    ['@stream', post({ query: '{ self @stream { hello } }' }, { accept: GR }), /@stream/],
    [
      'an upload',
      post('--x', { accept: GR, 'content-type': 'multipart/form-data; boundary=x' }),
      null,
    ],
    ['multipart responses', post(HELLO, { accept: 'multipart/mixed' }), null],
    ['event streams', post(HELLO, { accept: 'text/event-stream' }), null],
    ['a browser that wants a page', get(HELLO, { accept: 'text/html' }), null],
  ]

for (const [what, req, reason] of UNSUPPORTED) {
  test(`${what}: refused, in both profiles`, async () => {
    for (const response of await sendToBoth(req)) {
      const { status, body, json } = toAnswer(response)
      assert.ok(status >= 400 && status < 500)
      if (reason === null) assert.equal(body, null)
      else assert.match(json.errors?.[0]?.message ?? '', reason)
    }
  })
}
