/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ExecutionArgs, type ExecutionResult, execute, parse } from 'graphql'
import { createHandler } from '../src/handler.ts'
import type { RequestParams, Response } from '../src/request.ts'
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
import { createTestSchema, schema } from './support/schema.ts'

const HELLO = { query: '{ hello }' }
const handler = createHandler({ schema })
const send = async (req: PlainRequest) => toAnswer(await handler(req))

const ok = (body: object, type = J): Response => [
  JSON.stringify(body),
  { status: 200, statusText: 'OK', headers: { 'content-type': `${type}; charset=utf-8` } },
]
const WORLD = { data: { hello: 'world' } }

/** The complete response pairs, with no other headers than those listed. */
const PAIRS: readonly (readonly [what: string, req: PlainRequest, response: Response])[] = [
  ['a query over POST', post(HELLO), ok(WORLD)],
  ['a query over GET', get(HELLO), ok(WORLD)],
  ['a query in the newer type', post(HELLO, { accept: GR }), ok(WORLD, GR)],
  ['a mutation over POST', post({ query: 'mutation { bump }' }), ok({ data: { bump: 1 } })],
  [
    'an unsupported method',
    request({ method: 'PUT' }),
    [null, { status: 405, statusText: 'Method Not Allowed', headers: { allow: 'GET, POST' } }],
  ],
  [
    'an unsupported content type',
    request({ headers: { 'content-type': 'text/plain' } }),
    [null, { status: 415, statusText: 'Unsupported Media Type' }],
  ],
  [
    'a mutation over GET',
    get({ query: 'mutation { bump }' }),
    [
      '{"errors":[{"message":"Cannot perform mutations over GET"}]}',
      { status: 405, statusText: 'Method Not Allowed', headers: { allow: 'POST' } },
    ],
  ],
  [
    'a body that is not JSON',
    post('{', { accept: GR }),
    [
      '{"errors":[{"message":"Unparsable JSON body"}]}',
      {
        status: 400,
        statusText: 'Bad Request',
        headers: { 'content-type': 'application/json; charset=utf-8' },
      },
    ],
  ],
  [
    'a subscription',
    post({ query: 'subscription { ticks }' }, { accept: GR }),
    [
      '{"errors":[{"message":"Subscriptions are not supported"}]}',
      {
        status: 400,
        statusText: 'Bad Request',
        headers: { 'content-type': 'application/graphql-response+json; charset=utf-8' },
      },
    ],
  ],
  [
    'a failed field',
    post({ query: '{ fail }' }),
    ok({
      errors: [
        { message: 'The resolver failed', locations: [{ line: 1, column: 3 }], path: ['fail'] },
      ],
      data: { fail: null },
    }),
  ],
]

for (const [what, req, response] of PAIRS) {
  test(`the handler resolves to exactly one pair for ${what}`, async () => {
    assert.deepEqual(await createHandler({ schema: createTestSchema() })(req), response)
  })
}

test('the handler does not depend on this or on shared state', async () => {
  const { call } = { call: createHandler({ schema }) }
  assert.deepEqual(await call(post(HELLO)), ok(WORLD))
  assert.deepEqual(await call(post(HELLO)), ok(WORLD))
})

test('the handler answers only after the operation has completed', async () => {
  assert.deepEqual(await handler(post({ query: '{ later }' })), ok({ data: { later: 'at last' } }))
})

test('extensions of a result reach the client', async () => {
  const traced = createHandler({
    schema,
    execute: async (args) => ({ ...(await execute(args)), extensions: { cost: 3 } }),
  })
  assert.deepEqual(await traced(post(HELLO)), ok({ ...WORLD, extensions: { cost: 3 } }))
})

test('a result without data is a request error, with or without errors', async () => {
  const results: readonly ExecutionResult[] = [{}, { extensions: { cost: 3 } }]
  for (const result of results) {
    const broken = createHandler({ schema, execute: () => result })
    assert.equal((await broken(post(HELLO, { accept: GR })))[1].status, 400)
  }
})

test('a result whose data is null was executed', async () => {
  const empty = createHandler({ schema, execute: () => ({ data: null }) })
  assert.deepEqual(await empty(post(HELLO, { accept: GR })), ok({ data: null }, GR))
})

test('execution arguments have their keys in the documented order', async () => {
  const seen: string[][] = []
  const spied = createHandler({
    schema,
    context: { user: 1 },
    rootValue: 'root',
    execute(args) {
      seen.push(Object.keys(args))
      return execute(args)
    },
  })
  await spied(post(HELLO))
  const keys = [
    'operationName',
    'document',
    'variableValues',
    'contextValue',
    'schema',
    'rootValue',
  ]
  assert.deepEqual(seen, [keys])
})

test('execution arguments carry the parameters', async () => {
  const seen: ExecutionArgs[] = []
  const context = { user: 1 }
  const spied = createHandler({
    schema,
    context,
    rootValue: 'root',
    execute(args) {
      seen.push(args)
      return execute(args)
    },
  })
  const query = 'query A($name: String) { greet(name: $name) } query B { hello }'
  const variables = { name: 'Ada', unused: [1] }
  await spied(post({ query, operationName: 'A', variables }))
  const [args] = seen
  assert.equal(args?.schema, schema)
  assert.equal(args?.operationName, 'A')
  assert.equal(args?.contextValue, context)
  assert.equal(args?.rootValue, 'root')
  assert.deepEqual(args?.variableValues, variables)
  assert.deepEqual(JSON.stringify(args?.document), JSON.stringify(parse(query)))
})

test('operationName picks one of several operations', async () => {
  const query = 'query A { hello } query null { greet }'
  const a = await send(post({ query, operationName: 'A' }))
  assert.deepEqual(a.json, WORLD)
  // Null cannot be expressed in a URL: the text is a name.
  const named = await send(get({ query, operationName: 'null' }))
  assert.deepEqual(named.json, { data: { greet: 'Hello you' } })
})

test('an empty operationName counts as absent, over GET and over POST', async () => {
  assert.deepEqual((await send(post({ ...HELLO, operationName: '' }))).json, WORLD)
  assert.deepEqual((await send(get({ ...HELLO, operationName: '' }))).json, WORLD)
})

const CONTEXTS = [{ user: 'Ada' }, 'text', 7, true, null, [1, 2], [null, { user: 'Ada' }]]

for (const context of CONTEXTS) {
  test(`resolvers get the context ${JSON.stringify(context)}, from a value or a function`, async () => {
    const expected = { data: { context } }
    const made = [context, () => context, async () => context]
    for (const option of made) {
      const answer = toAnswer(
        await createHandler<unknown, unknown, typeof context>({ schema, context: option })(
          post({ query: '{ context }' }),
        ),
      )
      assert.deepEqual(answer.json, expected)
    }
  })
}

test('the context function gets the request and its parameters', async () => {
  const calls: unknown[][] = []
  const req = post({ ...HELLO, extensions: { a: 1 } })
  await createHandler({
    schema,
    context: (...args) => {
      calls.push(args)
    },
  })(req)
  const params: RequestParams = {
    ...HELLO,
    operationName: undefined,
    variables: undefined,
    extensions: { a: 1 },
  }
  assert.equal(calls.length, 1)
  assert.equal(calls[0]?.[0], req)
  assert.deepEqual(calls[0]?.[1], params)
})

test('the context function ends the request with a pair, which is sent unchanged', async () => {
  const pair: Response = [null, { status: 401, statusText: 'Unauthorized' }]
  for (const context of [() => pair, async () => pair]) {
    const guarded = createHandler({ schema, context, execute: () => assert.fail('executed') })
    assert.equal(await guarded(post(HELLO)), pair)
  }
})

test('a pair without a numeric status is a context, not a response', async () => {
  for (const context of [
    [null, {}],
    ['text', { status: '401' }],
    [null, null],
    ['a', 'b'],
  ]) {
    const [body] = await createHandler({ schema, context: () => context })(
      post({ query: '{ context }' }),
    )
    assert.deepEqual(JSON.parse(body ?? ''), { data: { context } })
  }
})

test('the schema can be chosen per request', async () => {
  const spied = createHandler<unknown, unknown, { tenant: string }>({
    context: { tenant: 'a' },
    schema: async (req, args) => {
      assert.equal(req.method, 'POST')
      assert.deepEqual(Object.keys(args), [
        'operationName',
        'document',
        'variableValues',
        'contextValue',
      ])
      assert.deepEqual(args.contextValue, { tenant: 'a' })
      return schema
    },
  })
  assert.deepEqual(await spied(post(HELLO)), ok(WORLD))
})

test('the schema function ends the request with a pair', async () => {
  const pair: Response = ['gone', { status: 410, statusText: 'Gone' }]
  const gone = createHandler({ schema: () => pair, execute: () => assert.fail('executed') })
  assert.equal(await gone(post(HELLO)), pair)
})

test('resolvers get the root value', async () => {
  const rooted = createHandler({ schema, rootValue: { site: 'here' } })
  const answer = toAnswer(await rooted(post({ query: '{ rootValue }' })))
  assert.deepEqual(answer.json, { data: { rootValue: { site: 'here' } } })
})

const OPTIONAL = ['operationName', 'variables', 'extensions']

test('null and absent parameters give identical responses', async () => {
  for (const query of ['{ hello }', '{ nope }', 'query A { hello } query B { hello }', '{']) {
    const expected = await handler(post({ query }))
    for (const name of OPTIONAL) {
      assert.deepEqual(await handler(post({ query, [name]: null })), expected)
    }
    const nulls = Object.fromEntries(OPTIONAL.map((name) => [name, null]))
    assert.deepEqual(await handler(post({ query, ...nulls })), expected)
  }
})

test('unknown properties never change the response', async () => {
  const expected = await handler(post(HELLO))
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (unknown) => {
      for (const name of ['query', ...OPTIONAL]) delete unknown[name]
      assert.deepEqual(await handler(post({ ...unknown, ...HELLO })), expected)
    }),
    { numRuns: 100 },
  )
})

test('GET and POST of the same query give the same response', async () => {
  const name = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('+', '%', '&', '=?#', '🦊'),
  )
  await fc.assert(
    fc.asyncProperty(name, fc.constantFrom(J, GR), async (value, accept) => {
      const literal = { query: `{ greet(name: ${JSON.stringify(value)}) }` }
      const variable = {
        query: 'query A($name: String) { greet(name: $name) }',
        operationName: 'A',
        variables: { name: value },
      }
      for (const params of [literal, variable]) {
        const overPost = await handler(accepting(post(params), accept))
        assert.deepEqual(await handler(accepting(get(params), accept)), overPost)
        assert.equal(toAnswer(overPost).json.data?.['greet'], `Hello ${value}`)
      }
    }),
    { numRuns: 200 },
  )
})
