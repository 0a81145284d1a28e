/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createHandler } from '../src/handler.ts'
import { parseRequestParams } from '../src/params.ts'
import { isResponse } from '../src/request.ts'
import { GR, get, J, type PlainRequest, post, request } from './support/request.ts'
import { schema } from './support/schema.ts'

const QUERY = '{ hello }'

/** Also turns a synchronous exception of the parser into a rejection. */
const parse = async (req: PlainRequest) => parseRequestParams(req)

/**
 * The parameters of a valid request. They are copied, so that undefined and absent values are
 * equal.
 */
async function parseWell(req: PlainRequest) {
  const params = await parse(req)
  assert.ok(!isResponse(params), `refused: ${JSON.stringify(params)}`)
  return JSON.parse(JSON.stringify(params))
}

const METHOD_NOT_ALLOWED = [
  null,
  { status: 405, statusText: 'Method Not Allowed', headers: { allow: 'GET, POST' } },
]
const UNSUPPORTED_MEDIA_TYPE = [null, { status: 415, statusText: 'Unsupported Media Type' }]

for (const method of ['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'get', 'post', '']) {
  test(`method "${method}" is answered with 405 and the list of methods`, async () => {
    const body = () => assert.fail('the body was read')
    const req = request({ method, url: `/?query=${QUERY}`, body })
    assert.deepEqual(await parse(req), METHOD_NOT_ALLOWED)
  })
}

const CONTENT_TYPES: readonly (readonly [type: string | undefined, isAccepted: boolean])[] = [
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset=UTF-8', true],
  ['APPLICATION/JSON', true],
  ['Application/Json; Charset=Utf-8', true],
  ['application/json; charset=utf8', true],
  ['application/json; charset="utf-8"', true],
  ['application/json; profile=x', true],
  ['application/json; profile=x; charset=utf-8', true],
  ['application/json; profile="a;b"; charset=utf-8', true],
  ['application/json; charset=utf-8; profile=x', true],
  ['application/json;', true],
  ['application/json ; charset=utf-8 ;', true],

  ['application/json; charset=iso-8859-1', false],
  ['application/json; charset="utf-16"', false],
  ['application/json; profile=x; charset=latin1', false],
  ['application/graphql-response+json', false],
  ['application/graphql+json', false],
  ['application/graphql', false],
  ['application/x-www-form-urlencoded', false],
  ['multipart/form-data; boundary=x', false],
  ['text/plain', false],
  ['text/plain; application/json', false],
  ['text/plain, application/json', false],
  ['application/json, text/plain', false],
  ['text/plain; a="; application/json"', false],
  ['application/jsonp', false],
  ['ap plication/json', false],
  ['application /json', false],
  ['"application/json"', false],
  ['application/"json"', false],
  ['application/json charset=utf-8', false],
  ['application/json; charset', false],
  ['application/json; charset = utf-8', false],
  ['application/json; charset="utf-8', false],
  ['application/json\t; \tcharset="utf\\-8"', true],
  ['application/*', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
]

for (const [type, isAccepted] of CONTENT_TYPES) {
  test(`a POST with content type ${JSON.stringify(type)} is ${isAccepted ? 'read' : 'answered with 415'}`, async () => {
    const headers = type === undefined ? {} : { 'content-type': type }
    if (isAccepted) {
      const body = () => JSON.stringify({ query: QUERY })
      assert.deepEqual(await parseWell(request({ headers, body })), { query: QUERY })
    } else {
      const body = () => assert.fail('the body was read')
      assert.deepEqual(await parse(request({ headers, body })), UNSUPPORTED_MEDIA_TYPE)
    }
  })
}

test('the content type of a GET is ignored, since it has no body', async () => {
  const req = get({ query: QUERY }, { 'content-type': 'text/plain' })
  assert.deepEqual(await parseWell(req), { query: QUERY })
})

const HEADERS: readonly (readonly [kind: string, headers: PlainRequest['headers']])[] = [
  ['in Title-Case', { 'Content-Type': J }],
  ['in UPPER CASE', { 'CONTENT-TYPE': J }],
  ['with a list of one value', { 'content-type': [J] }],
  ['in Title-Case with a list of one value', { 'Content-Type': [J] }],
  ['of fetch', new Headers({ 'Content-Type': J })],
  ['with a method get', { get: (name) => (name === 'content-type' ? J : null) }],
  ['without a prototype', Object.assign(Object.create(null), { 'content-type': J })],
]

for (const [kind, headers] of HEADERS) {
  test(`headers ${kind} are found`, async () => {
    const req = request({ headers, body: JSON.stringify({ query: QUERY }) })
    assert.deepEqual(await parseWell(req), { query: QUERY })
  })
}

test('repeated Accept headers, as a list, are one list of media ranges', async () => {
  const handler = createHandler({ schema })
  const answerTo = async (accept: string[]) => {
    const { headers, ...req } = post({ query: QUERY })
    return (await handler({ ...req, headers: { ...headers, accept } }))[1]
  }
  assert.equal(
    (await answerTo(['text/html', GR])).headers?.['content-type'],
    `${GR}; charset=utf-8`,
  )
  assert.equal(
    (await answerTo([`${GR};q=0.1`, J])).headers?.['content-type'],
    `${J}; charset=utf-8`,
  )
  assert.equal((await answerTo(['text/html', 'text/plain'])).status, 406)
})

const FULL = {
  query: 'query A { hello } query B { hello }',
  operationName: 'B',
  variables: { a: [1, { b: null }], ключ: '🐙' },
  extensions: { trace: { id: 7 } },
}

const READABLE: readonly (readonly [what: string, req: PlainRequest, params: object])[] = [
  ['all four parameters of a URL', get(FULL), FULL],
  ['all four parameters of a body', post(FULL), FULL],
  ['a body given as text', request({ body: JSON.stringify(FULL) }), FULL],
  ['a byte order mark before the body', post(`\uFEFF${JSON.stringify(FULL)}`), FULL],
  ['a body given as an object', request({ body: FULL }), FULL],
  [
    'a body function that returns text at once',
    request({ body: () => JSON.stringify(FULL) }),
    FULL,
  ],
  ['a body function that returns an object', request({ body: () => FULL }), FULL],
  ['a body function that resolves to an object', request({ body: async () => FULL }), FULL],
  ['an absolute URL', { ...get(FULL), url: `https://a.example:4000${get(FULL).url}` }, FULL],
  ['a URL without a path', { ...get(FULL), url: get(FULL).url.replace('/graphql', '') }, FULL],
  [
    'the first of two equal parameters',
    request({ method: 'GET', url: '/?query={a}&query={b}&operationName=A&operationName=B' }),
    { query: '{a}', operationName: 'A' },
  ],
  [
    'a plus sign as a space and an escaped one as itself',
    request({ method: 'GET', url: '/?query=%7B+a(b:%22%2B%22)+%7D' }),
    { query: '{ a(b:"+") }' },
  ],
  [
    'a question mark inside a parameter',
    request({ method: 'GET', url: '/?query={a(b:"?")}&operationName=A' }),
    { query: '{a(b:"?")}', operationName: 'A' },
  ],
  [
    'empty optional parameters of a URL as absent',
    get({ query: QUERY, operationName: '', variables: '', extensions: '' }),
    { query: QUERY, operationName: null },
  ],
  [
    'the operation name "null" of a URL as a name',
    get({ query: QUERY, operationName: 'null' }),
    { query: QUERY, operationName: 'null' },
  ],
  [
    'null variables of a URL as null',
    get({ query: QUERY, variables: null, extensions: null }),
    { query: QUERY, variables: null, extensions: null },
  ],
  [
    'null parameters of a body as null',
    post({ query: QUERY, operationName: null, variables: null, extensions: null }),
    { query: QUERY, operationName: null, variables: null, extensions: null },
  ],
  [
    'an empty operation name of a body as absent',
    post({ query: QUERY, operationName: '' }),
    { query: QUERY, operationName: null },
  ],
  ['an empty query, which is for the parser to refuse', post({ query: '' }), { query: '' }],
  ['an empty query of a URL', get({ query: '' }), { query: '' }],
  ['no property it does not know', post({ ...FULL, id: 1, doc_id: 'x', operations: [] }), FULL],
  ['no URL parameter it does not know', get({ ...FULL, id: '1' }), FULL],
]

for (const [what, req, params] of READABLE) {
  test(`the parser reads ${what}`, async () => {
    assert.deepEqual(await parseWell(req), params)
  })
}

const failing = (error: unknown) => () => Promise.reject(error)

const REFUSED: readonly (readonly [what: string, req: PlainRequest, message: string])[] = [
  ['no body', request({ body: null }), 'Missing body'],
  ['an empty body', request({ body: '' }), 'Missing body'],
  ['an empty body from a function', post(''), 'Unparsable JSON body'],
  [
    'a body that fails to arrive',
    request({ body: failing(new Error('secret')) }),
    'Unparsable JSON body',
  ],
  [
    'a body that fails with no error at all',
    request({ body: failing(undefined) }),
    'Unparsable JSON body',
  ],
  [
    'a body function that throws',
    request({
      body: () => {
        throw new Error('secret')
      },
    }),
    'Unparsable JSON body',
  ],
  ['a body that is not JSON', post('{ "query": '), 'Unparsable JSON body'],
  ['a body in another notation', request({ body: 'query={hello}' }), 'Unparsable JSON body'],
  ['a trailing comma', post('{"query":"{hello}",}'), 'Unparsable JSON body'],
  ['NaN', post('{"query":"{hello}","variables":{"n":NaN}}'), 'Unparsable JSON body'],
  ['null', post(null), 'JSON body must be an object'],
  ['a number', post(1), 'JSON body must be an object'],
  ['a string', post('"{ hello }"'), 'JSON body must be an object'],
  ['a boolean', post(true), 'JSON body must be an object'],
  ['an empty batch', post([]), 'JSON body must be an object'],
  ['a batch', post([{ query: QUERY }]), 'JSON body must be an object'],
  [
    'a body function that resolves to null',
    request({ body: async () => null }),
    'JSON body must be an object',
  ],
  ['an empty object', post({}), 'Missing query'],
  ['a null query', post({ query: null }), 'Missing query'],
  ['a query in a prototype', post('{"__proto__":{"query":"{hello}"}}'), 'Missing query'],
  ['a URL without parameters', request({ method: 'GET', url: '/graphql' }), 'Missing query'],
  ['a URL with an empty search', request({ method: 'GET', url: '/graphql?' }), 'Missing query'],
  ['a number as query', post({ query: 1 }), 'Invalid query'],
  ['an empty object as query', post({ query: {} }), 'Invalid query'],
  ['a list as query', post({ query: [QUERY] }), 'Invalid query'],
  ['false as query', post({ query: false }), 'Invalid query'],
  ['a string as variables', post({ query: QUERY, variables: '{}' }), 'Invalid variables'],
  ['an empty string as variables', post({ query: QUERY, variables: '' }), 'Invalid variables'],
  ['a number as variables', post({ query: QUERY, variables: 0 }), 'Invalid variables'],
  ['a boolean as variables', post({ query: QUERY, variables: false }), 'Invalid variables'],
  ['a list as variables', post({ query: QUERY, variables: [] }), 'Invalid variables'],
  ['a number as operation name', post({ query: QUERY, operationName: 0 }), 'Invalid operationName'],
  [
    'an object as operation name',
    post({ query: QUERY, operationName: {} }),
    'Invalid operationName',
  ],
  [
    'a list as operation name',
    post({ query: QUERY, operationName: ['A'] }),
    'Invalid operationName',
  ],
  ['a string as extensions', post({ query: QUERY, extensions: 'x' }), 'Invalid extensions'],
  ['a number as extensions', post({ query: QUERY, extensions: 0 }), 'Invalid extensions'],
  ['a list as extensions', post({ query: QUERY, extensions: [] }), 'Invalid extensions'],
  [
    'variables of a URL that are not JSON',
    get({ query: QUERY, variables: '{a:1}' }),
    'Unparsable URL',
  ],
  [
    'extensions of a URL that are not JSON',
    get({ query: QUERY, extensions: 'x' }),
    'Unparsable URL',
  ],
  ['a list as variables of a URL', get({ query: QUERY, variables: [] }), 'Invalid variables'],
  ['a string as variables of a URL', get({ query: QUERY, variables: '"a"' }), 'Invalid variables'],
  ['a number as extensions of a URL', get({ query: QUERY, extensions: 1 }), 'Invalid extensions'],
  [
    'everything wrong at once',
    post({ query: 1, variables: 1, operationName: 1, extensions: 1 }),
    'Invalid query',
  ],
  [
    'all but the query wrong',
    post({ query: '', variables: 1, operationName: 1, extensions: 1 }),
    'Invalid variables',
  ],
  [
    'name and extensions wrong',
    post({ query: '', operationName: 1, extensions: 1 }),
    'Invalid operationName',
  ],
]

for (const [what, req, message] of REFUSED) {
  test(`the parser refuses ${what}: ${message}`, async () => {
    await assert.rejects(parse(req), (error) => {
      assert.ok(error instanceof Error)
      assert.equal(error.message, message)
      return true
    })
  })
}

test('the parser always returns a promise, also when it refuses immediately', async () => {
  const started = [get(FULL), request({ method: 'PUT' }), get({}), post(FULL)].map((req) =>
    parseRequestParams(req),
  )
  for (const promise of started) assert.ok(promise instanceof Promise)
  await Promise.allSettled(started)
})

test('the body of a POST is read once', async (t) => {
  const body = t.mock.fn(() => JSON.stringify({ query: QUERY }))
  await parse(request({ body }))
  assert.equal(body.mock.callCount(), 1)
})

test('the body of a GET is not read', async (t) => {
  const body = t.mock.fn(() => '')
  await parse({ ...get({ query: QUERY }), body })
  assert.equal(body.mock.callCount(), 0)
})

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '+',
    '%',
    '&',
    '=',
    '?',
    '#',
    '%2B',
    'a b',
    '"',
    '\\',
    '\n',
    '👩‍🚀',
    'ü',
    '\u0000',
  ),
)
const map = fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })

test('GET and POST of the same parameters give the same parameters', async () => {
  const params = fc.record(
    { query: text, operationName: text, variables: map, extensions: map },
    { requiredKeys: ['query'] },
  )
  await fc.assert(
    fc.asyncProperty(params, async (generated) => {
      assert.deepEqual(await parseWell(get(generated)), await parseWell(post(generated)))
    }),
    { numRuns: 300 },
  )
})
