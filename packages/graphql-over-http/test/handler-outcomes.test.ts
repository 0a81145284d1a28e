/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GraphQLError, type GraphQLSchema } from 'graphql'
import { createHandler, type Handler } from '../src/handler.ts'
import type { HandlerOptions } from '../src/options.ts'
import type { ResponseInit } from '../src/request.ts'
import { accepting, GR, get, J, type PlainRequest, post, request } from './support/request.ts'
import { createTestSchema, schema } from './support/schema.ts'

/** Status and media type of a response; a dash means that there is no content type. */
type Expected = `${number} ${'J' | 'GR' | '-'}`

interface Row {
  readonly id: string
  readonly when: string
  readonly request: PlainRequest
  readonly options?: HandlerOptions<unknown, unknown, undefined>
  /**
   * The message of the first error; null for no body, true for a body with data and without errors.
   */
  readonly message: RegExp | string | null | true
  readonly allow?: string
  /** For clients that accept `application/json`, then for clients that accept the newer type. */
  readonly classic: readonly [Expected, Expected]
  readonly draft2026: readonly [Expected, Expected]
}

const HELLO = { query: '{ hello }' }
const iterable: AsyncIterable<unknown> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
}
const always = (expected: Expected): readonly [Expected, Expected] => [expected, expected]

/**
 * A malformed request; the expected responses come from the 2026-08 draft and from graphql-http.
 */
const malformed = (when: string, message: string, body: unknown): Row => ({
  id: 'F8',
  when,
  request: post(body),
  message,
  classic: always('400 J'),
  draft2026: always('422 GR'),
})

const invalid = (id: string, when: string, message: Row['message'], req: PlainRequest): Row => ({
  id,
  when,
  request: req,
  message,
  classic: ['200 J', '400 GR'],
  draft2026: always('422 GR'),
})

const refusedMethods = ['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'post'].map(
  (method): Row => ({
    id: 'F2',
    when: `the method is ${method}`,
    request: request({ method, body: JSON.stringify(HELLO) }),
    message: null,
    allow: 'GET, POST',
    classic: always('405 -'),
    draft2026: always('405 -'),
  }),
)

const refusedTypes = ['text/plain', 'application/json; charset=latin1', undefined].map(
  (type): Row => ({
    id: 'F3',
    when: `the content type is ${type}`,
    request: request({ headers: type === undefined ? {} : { 'content-type': type }, body: '{}' }),
    message: null,
    classic: always('415 -'),
    draft2026: always('415 -'),
  }),
)

const ROWS: readonly Row[] = [
  ...refusedMethods,
  ...refusedTypes,
  {
    id: 'F4',
    when: 'the body is missing',
    request: request(),
    message: 'Missing body',
    classic: always('400 J'),
    draft2026: always('400 GR'),
  },
  {
    id: 'F5',
    when: 'the body is not JSON',
    request: post('{ "query": '),
    message: 'Unparsable JSON body',
    classic: always('400 J'),
    draft2026: always('400 GR'),
  },
  {
    ...malformed('the JSON is a batch', 'JSON body must be an object', [HELLO]),
    id: 'F6',
  },
  {
    ...malformed('the JSON is a number', 'JSON body must be an object', 1),
    id: 'F6',
  },
  {
    id: 'F7',
    when: 'a URL parameter is not JSON',
    request: get({ ...HELLO, variables: '{' }),
    message: 'Unparsable URL',
    classic: always('400 J'),
    draft2026: always('422 GR'),
  },
  malformed('the query is missing', 'Missing query', {}),
  malformed('the query is not a string', 'Invalid query', { query: 1 }),
  malformed('the variables are not a map', 'Invalid variables', { ...HELLO, variables: [] }),
  malformed('the operation name is not a string', 'Invalid operationName', {
    ...HELLO,
    operationName: 1,
  }),
  malformed('the extensions are not a map', 'Invalid extensions', { ...HELLO, extensions: 'x' }),
  {
    id: 'F9',
    when: 'the document does not parse',
    request: post({ query: '{ hello' }),
    message: /^Syntax Error: /,
    classic: ['200 J', '400 GR'],
    draft2026: always('400 GR'),
  },
  {
    id: 'F9',
    when: 'the document is empty',
    request: get({ query: '' }),
    message: /^Syntax Error: /,
    classic: ['200 J', '400 GR'],
    draft2026: always('400 GR'),
  },
  invalid('F10', 'a field is unknown', /nope/, post({ query: '{ nope }' })),
  invalid('F10', 'a GET mutation is invalid', /nope/, get({ query: 'mutation { nope }' })),
  invalid(
    'F11',
    'no operation has that name',
    'Unable to detect operation AST',
    post({ query: 'query A { hello }', operationName: 'B' }),
  ),
  invalid(
    'F11',
    'the operation is not named',
    'Unable to detect operation AST',
    post({ query: 'query A { hello } query B { hello }' }),
  ),
  invalid(
    'F12',
    'the operation is a subscription',
    'Subscriptions are not supported',
    post({ query: 'subscription { ticks }' }),
  ),
  {
    ...invalid('F12', 'the result is a stream', 'Subscriptions are not supported', post(HELLO)),
    options: { schema, execute: () => iterable },
  },
  {
    id: 'F13',
    when: 'a mutation comes over GET',
    request: get({ query: 'mutation { bump }' }),
    message: 'Cannot perform mutations over GET',
    allow: 'POST',
    classic: always('405 -'),
    draft2026: always('405 GR'),
  },
  invalid(
    'F14',
    'a variable cannot be coerced',
    /number/,
    post({ query: 'query ($number: Int!) { double(number: $number) }', variables: {} }),
  ),
  {
    id: 'F15',
    when: 'a field fails',
    request: post({ query: '{ hello fail }' }),
    message: 'The resolver failed',
    classic: ['200 J', '200 GR'],
    draft2026: ['200 J', '294 GR'],
  },
  {
    id: 'F16',
    when: 'a required field fails',
    request: post({ query: '{ hello failRequired }' }),
    message: 'The resolver failed',
    classic: ['200 J', '200 GR'],
    draft2026: ['200 J', '294 GR'],
  },
  {
    id: 'F17',
    when: 'all is well over POST',
    request: post(HELLO),
    message: true,
    classic: ['200 J', '200 GR'],
    draft2026: ['200 J', '200 GR'],
  },
  {
    id: 'F17',
    when: 'all is well over GET',
    request: get(HELLO),
    message: true,
    classic: ['200 J', '200 GR'],
    draft2026: ['200 J', '200 GR'],
  },
  {
    ...invalid('F18', 'onSubscribe returns GraphQL errors', 'No', post(HELLO)),
    options: { schema, onSubscribe: () => [new GraphQLError('No'), new GraphQLError('Never')] },
  },
  {
    ...invalid('F18', 'the custom parser throws a GraphQL error', 'No', post(HELLO)),
    options: {
      schema,
      parseRequestParams() {
        throw new GraphQLError('No')
      },
    },
  },
  {
    id: 'F19',
    when: 'the custom parser throws an error',
    request: post(HELLO),
    options: {
      schema,
      parseRequestParams() {
        throw new Error('No')
      },
    },
    message: 'No',
    classic: always('400 J'),
    draft2026: always('400 GR'),
  },
]

const STATUS_TEXT: { readonly [status: number]: string } = {
  200: 'OK',
  294: 'Partial Success',
  400: 'Bad Request',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
}

const ACCEPTS = [undefined, '*/*', J, GR]
const PROFILES = [
  ['classic', 'classic'],
  ['2026', 'draft2026'],
] as const

function toExpected({ status, headers }: ResponseInit): string {
  const type = headers?.['content-type']
  assert.match(type ?? 'x; charset=utf-8', /^[^;]+; charset=utf-8$/)
  const short = type === undefined ? '-' : type.startsWith(`${GR};`) ? 'GR' : 'J'
  return `${status} ${short}`
}

for (const [profile, column] of PROFILES) {
  for (const row of ROWS) {
    test(`${profile}, ${row.id}: the response when ${row.when}`, async () => {
      const handler = createHandler({ schema, ...row.options, profile })
      for (const accept of ACCEPTS) {
        const [body, init] = await handler(accepting(row.request, accept))
        assert.equal(toExpected(init), row[column][accept === GR ? 1 : 0], `accept ${accept}`)
        assert.equal(init.statusText, STATUS_TEXT[init.status])
        assert.equal(init.headers?.allow, row.allow)
        if (row.message === null) {
          assert.equal(body, null)
          continue
        }
        const { data, errors } = JSON.parse(body ?? '')
        if (row.message === true) {
          assert.deepEqual({ data, errors }, { data: { hello: 'world' }, errors: undefined })
        } else if (typeof row.message === 'string') {
          assert.equal(errors[0].message, row.message)
        } else {
          assert.match(errors[0].message, row.message)
        }
      }
    })
  }

  test(`${profile}, F1: an Accept header without a supported type takes precedence over every other error`, async () => {
    for (const row of ROWS) {
      const handler = createHandler({ schema, ...row.options, profile })
      for (const accept of ['text/html', `${J};q=0`, `${GR}; charset=utf-16`]) {
        assert.deepEqual(await handler(accepting(row.request, accept)), [
          null,
          {
            status: 406,
            statusText: 'Not Acceptable',
            headers: { accept: `${GR}; charset=utf-8, ${J}; charset=utf-8` },
          },
        ])
      }
    }
  })

  test(`${profile}, F20: an exception in an option rejects instead of becoming a response`, async () => {
    const error = new Error('of the option')
    const thrower = () => {
      throw error
    }
    const rejecter = async () => thrower()
    const options: HandlerOptions[] = [
      ...[thrower, rejecter].flatMap((hook) => [
        { onSubscribe: hook },
        { context: hook },
        { schema: hook },
        { validationRules: hook },
        { execute: hook },
        { onOperation: hook },
      ]),
      { validate: thrower },
    ]
    for (const option of options) {
      const handler: Handler = createHandler({ schema, ...option, profile })
      for (const accept of ACCEPTS) {
        await assert.rejects(handler(accepting(post(HELLO), accept)), error)
      }
    }
  })

  test(`${profile}: every body is a GraphQL response, and its status fits its data`, async () => {
    for (const row of ROWS) {
      const handler = createHandler({ schema, ...row.options, profile })
      for (const accept of ACCEPTS) {
        const [body, { status, headers }] = await handler(accepting(row.request, accept))
        const where = `${row.id} ${row.when}, accept ${accept}`
        if (status === 405) assert.ok(headers?.allow, where)
        if (body === null) continue
        const response = JSON.parse(body)
        assert.ok('data' in response || 'errors' in response, where)
        if ('errors' in response) {
          assert.ok(response.errors.length > 0, where)
          for (const { message } of response.errors) assert.equal(typeof message, 'string', where)
        }
        const isGraphql = headers?.['content-type']?.startsWith(GR)
        if (!('data' in response) && isGraphql) assert.ok(status >= 400, where)
        if (response.data) assert.ok(status >= 200 && status < 300, where)
      }
    }
  })
}

test('no mutation runs over GET, whatever selects it', async () => {
  let mutations = 0
  const spied: GraphQLSchema = createTestSchema(() => {
    mutations += 1
  })
  const selections: readonly (readonly [query: string, operationName?: string])[] = [
    ['mutation { bump }'],
    ['mutation A { bump }', 'A'],
    ['query Q { hello } mutation M { bump }', 'M'],
    ['mutation M { bump } query Q { hello }', 'M'],
    ['fragment F on Mutation { bump } mutation { ...F }'],
    ['mutation ($a: Boolean = true) { bump @include(if: $a) }'],
    ['mutation { ... on Mutation { one: bump two: bump } }'],
  ]
  for (const profile of ['classic', '2026'] as const) {
    const handler = createHandler({ schema: spied, profile })
    for (const [query, operationName] of selections) {
      const params = { query, ...(operationName && { operationName }) }
      for (const accept of ACCEPTS) {
        const [body, { status, headers }] = await handler(accepting(get(params), accept))
        assert.equal(status, 405, query)
        assert.equal(headers?.allow, 'POST')
        assert.equal('data' in JSON.parse(body ?? '{}'), false)
      }
    }
    assert.equal(mutations, 0)
  }

  const handler = createHandler({ schema: spied })
  await handler(get({ query: 'query Q { hello } mutation M { bump }', operationName: 'Q' }))
  assert.equal(mutations, 0)
  await handler(post({ query: 'mutation { bump }' }))
  assert.equal(mutations, 1)
})
