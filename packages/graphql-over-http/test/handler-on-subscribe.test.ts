/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExecutionArgs, execute, GraphQLError, parse } from 'graphql'
import { createHandler } from '../src/handler.ts'
import type { Response } from '../src/request.ts'
import { GR, get, post, toAnswer } from './support/request.ts'
import { schema } from './support/schema.ts'

const HELLO = { query: '{ hello }' }
const WORLD = { data: { hello: 'world' } }

const argsFor = (query: string) => ({ schema, document: parse(query) })

test('onSubscribe runs for every operation, with the request and its parameters', async () => {
  const calls: unknown[][] = []
  const handler = createHandler({
    schema,
    onSubscribe: (...args) => {
      calls.push(args)
    },
  })
  for (const query of ['{ hello }', 'mutation { bump }', 'subscription { ticks }', '{']) {
    const req = post({ query, operationName: null })
    await handler(req)
    const [seen, params] = calls.at(-1) ?? []
    assert.equal(seen, req)
    assert.deepEqual(params, {
      query,
      operationName: null,
      variables: undefined,
      extensions: undefined,
    })
  }
  assert.equal(calls.length, 4)
})

test('onSubscribe that returns nothing lets the request continue', async () => {
  for (const onSubscribe of [() => undefined, async () => undefined, () => {}]) {
    const handler = createHandler({ schema, onSubscribe })
    assert.deepEqual(toAnswer(await handler(post(HELLO))).json, WORLD)
  }
})

test('onSubscribe ends the request with a pair', async () => {
  const pair: Response = [null, { status: 402, statusText: 'Payment Required' }]
  assert.equal(await createHandler({ schema, onSubscribe: () => pair })(post(HELLO)), pair)
})

test('onSubscribe answers with a result', async () => {
  const results = [
    { data: { hello: 'there' } },
    { data: null },
    { data: { hello: null }, errors: [new GraphQLError('partly')] },
  ]
  for (const result of results) {
    const handler = createHandler({ schema, onSubscribe: async () => result })
    const { status, json } = toAnswer(await handler(post(HELLO, { accept: GR })))
    assert.equal(status, 200)
    assert.deepEqual(json, JSON.parse(JSON.stringify(result)))
  }
})

test('a result of nothing but errors is a request error, not arguments', async () => {
  const handler = createHandler({ onSubscribe: () => ({ errors: [new GraphQLError('stop')] }) })
  const graphql = toAnswer(await handler(post(HELLO, { accept: GR })))
  assert.deepEqual([graphql.status, graphql.body], [400, '{"errors":[{"message":"stop"}]}'])
  assert.equal(toAnswer(await handler(post(HELLO))).status, 200)
})

test('a list of errors is a request error, whatever their class', async () => {
  const plain = new TypeError('plain')
  const lists = [
    [new GraphQLError('one'), new GraphQLError('two')],
    [plain, new GraphQLError('one')],
    [plain],
  ]
  for (const errors of lists) {
    // @ts-expect-error: the type requires GraphQL errors, but JavaScript can return any
    const handler = createHandler({ onSubscribe: () => errors })
    const { status, type, json } = toAnswer(await handler(post(HELLO, { accept: GR })))
    assert.deepEqual([status, type], [400, GR])
    assert.deepEqual(json, { errors: errors.map(({ message }) => ({ message })) })
  }
})

test('an empty list of errors lets the request continue', async () => {
  const handler = createHandler({ schema, onSubscribe: () => [] })
  assert.deepEqual(toAnswer(await handler(post(HELLO, { accept: GR }))).json, WORLD)
})

test('arguments of onSubscribe are trusted: nothing is parsed or validated', async () => {
  const handler = createHandler({
    schema: () => assert.fail('the schema function was called'),
    parse: () => assert.fail('parsed'),
    validate: () => assert.fail('validated'),
    validationRules: () => assert.fail('the rules function was called'),
    onSubscribe: async () => argsFor('{ hello nope }'),
  })
  assert.deepEqual(toAnswer(await handler(post({ query: 'no document' }))).json, WORLD)
})

test('arguments of onSubscribe need no schema option', async () => {
  const handler = createHandler({ onSubscribe: () => argsFor('{ hello }') })
  assert.deepEqual(toAnswer(await handler(post({ query: 'stored:1' }))).json, WORLD)
})

test('arguments of onSubscribe are checked like any other operation', async () => {
  const refusals = [
    ['subscription { ticks }', post, 400, 'Subscriptions are not supported'],
    ['query A { hello } query B { hello }', post, 400, 'Unable to detect operation AST'],
    ['mutation { bump }', get, 405, 'Cannot perform mutations over GET'],
  ] as const
  for (const [query, send, status, message] of refusals) {
    const handler = createHandler({
      onSubscribe: () => argsFor(query),
      execute: () => assert.fail('executed'),
    })
    const answer = toAnswer(await handler(send(HELLO, { accept: GR })))
    assert.deepEqual([answer.status, answer.json.errors?.[0]?.message], [status, message])
  }
})

test('arguments without a document are a missing operation, not a crash', async () => {
  for (const document of [undefined, null, {}, 'text']) {
    const args: object = { schema, document }
    const handler = createHandler({ schema, onSubscribe: () => args })
    const { status, json } = toAnswer(await handler(post(HELLO, { accept: GR })))
    assert.equal(status, 400)
    assert.equal(json.errors?.[0]?.message, 'Unable to detect operation AST')
  }
})

test('arguments of onSubscribe are not changed: they may be the same every time', async () => {
  const args = Object.freeze(argsFor('{ context rootValue }'))
  let requests = 0
  const handler = createHandler<unknown, unknown, number>({
    onSubscribe: () => ({ ...args }),
    context: () => {
      requests += 1
      return requests
    },
    rootValue: 'root',
  })
  const frozen = createHandler({ onSubscribe: () => args, rootValue: 'root' })
  for (const expected of [1, 2]) {
    const answer = toAnswer(await handler(post(HELLO)))
    assert.deepEqual(answer.json, { data: { context: expected, rootValue: 'root' } })
    const unchanged = toAnswer(await frozen(post(HELLO)))
    assert.deepEqual(unchanged.json, { data: { context: null, rootValue: 'root' } })
  }
  assert.deepEqual(Object.keys(args), ['schema', 'document'])
})

test('arguments keep their own context and root value, even when undefined', async () => {
  const seen: ExecutionArgs[] = []
  const handler = createHandler({
    context: () => assert.fail('the context was made'),
    rootValue: 'root',
    onSubscribe: () => ({ ...argsFor('{ hello }'), contextValue: undefined, rootValue: undefined }),
    execute: (args) => {
      seen.push(args)
      return execute(args)
    },
  })
  await handler(post(HELLO))
  assert.deepEqual([seen[0]?.contextValue, seen[0]?.rootValue], [undefined, undefined])
})

test('with arguments, the context is made after the operation is known and may end it', async () => {
  const order: string[] = []
  const pair: Response = [null, { status: 401, statusText: 'Unauthorized' }]
  const handler = createHandler({
    onSubscribe: () => argsFor('{ hello }'),
    getOperationAST: (document) => {
      order.push('getOperationAST')
      const [definition] = document.definitions
      return definition?.kind === 'OperationDefinition' ? definition : null
    },
    context: () => {
      order.push('context')
      return pair
    },
    execute: () => assert.fail('executed'),
  })
  assert.equal(await handler(post(HELLO)), pair)
  assert.deepEqual(order, ['getOperationAST', 'context'])
})
