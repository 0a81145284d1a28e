/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { GraphQLError as OtherGraphQLError } from 'graphql-16'
import { createHandler } from '../src/handler.ts'
import { GR, get, J, type PlainRequest, post, toAnswer } from './support/request.ts'
import { schema } from './support/schema.ts'

const HELLO = { query: '{ hello }' }

const throwing = (error: unknown) => () => {
  throw error
}

/** A typical application error, with details that must stay private. */
class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  readonly statement = 'SELECT secret'
  readonly password = 'secret'

  constructor(message: string) {
    super(message, { cause: new Error('secret') })
  }
}

test('only the message of a plain error is sent', async () => {
  const handler = createHandler({ schema, parseRequestParams: throwing(new DatabaseError('no')) })
  const [body] = await handler(post(HELLO))
  assert.equal(body, '{"errors":[{"message":"no"}]}')
})

test('only message, location and path of a resolver error are sent', async () => {
  const handler = createHandler({
    schema,
    execute: () => ({
      data: null,
      errors: [new GraphQLError('no', { path: ['hello'], originalError: new DatabaseError('no') })],
    }),
  })
  const [body] = await handler(post(HELLO))
  assert.equal(body, '{"data":null,"errors":[{"message":"no","path":["hello"]}]}')
})

test('an error with toJSON is sent in that form', async () => {
  class CodedError extends Error {
    toJSON() {
      return { message: this.message, code: 'E1' }
    }
  }
  const handler = createHandler({ schema, parseRequestParams: throwing(new CodedError('no')) })
  const [body] = await handler(post(HELLO))
  assert.equal(body, '{"errors":[{"message":"no","code":"E1"}]}')
})

test('a GraphQL error is sent with its extensions', async () => {
  const error = new GraphQLError('no', { extensions: { code: 'E1' } })
  const handler = createHandler({ schema, onSubscribe: () => [error] })
  const [body] = await handler(post(HELLO))
  assert.equal(body, '{"errors":[{"message":"no","extensions":{"code":"E1"}}]}')
})

test('only the message of a plain error in the extensions of another error is sent', async () => {
  const errors = [new GraphQLError('no', { extensions: { causes: [new DatabaseError('why')] } })]
  const handler = createHandler({ schema, execute: () => ({ data: null, errors }) })
  const { json } = toAnswer(await handler(post(HELLO)))
  const sent = [{ message: 'no', extensions: { causes: [{ message: 'why' }] } }]
  assert.deepEqual(json, { data: null, errors: sent })
})

test('errors that are plain objects, as created by other executors, are sent unchanged', async () => {
  const error: GraphQLFormattedError = { message: 'no', path: ['hello', 1] }
  const handler = createHandler({
    schema,
    // @ts-expect-error: graphql-js uses instances here
    execute: () => ({ data: null, errors: [error] }),
  })
  const { json } = toAnswer(await handler(post(HELLO)))
  assert.deepEqual(json, { data: null, errors: [error] })
})

test('a GraphQL error from another copy of graphql is recognized', async () => {
  const error = new OtherGraphQLError('no', { extensions: { code: 'E1' } })
  for (const option of [
    { parseRequestParams: throwing(error) },
    { parse: throwing(error) },
    { onSubscribe: () => [error] },
  ]) {
    const handler = createHandler({ schema, ...option })
    const expected = { errors: [{ message: 'no', extensions: { code: 'E1' } }] }
    const graphql = toAnswer(await handler(post(HELLO, { accept: GR })))
    assert.deepEqual([graphql.status, graphql.type, graphql.json], [400, GR, expected])
    const json = toAnswer(await handler(post(HELLO, { accept: J })))
    assert.deepEqual([json.status, json.type, json.json], [200, J, expected])
  }
})

test('without formatError the message of a resolver reaches the client', async () => {
  const { json } = toAnswer(await createHandler({ schema })(post({ query: '{ fail }' })))
  assert.equal(json.errors?.[0]?.message, 'The resolver failed')
})

/** Each way to fail, with the number of errors. */
const FAILURES: readonly (readonly [what: string, req: PlainRequest, count: number])[] = [
  ['a malformed body', post('{'), 1],
  ['a missing query', post({}), 1],
  ['an unparsable URL', get({ ...HELLO, variables: '{' }), 1],
  ['a syntax error', post({ query: '{' }), 1],
  ['three validation errors', post({ query: '{ a b c }' }), 3],
  ['an unknown operation', post({ ...HELLO, operationName: 'A' }), 1],
  ['a subscription', post({ query: 'subscription { ticks }' }), 1],
  ['a variable of the wrong type', post({ query: 'query ($n: Int!) { double(number: $n) }' }), 1],
  ['two failed fields', post({ query: '{ fail other: fail hello }' }), 2],
  ['a failed required field', post({ query: '{ failRequired }' }), 1],
]

for (const [what, req, count] of FAILURES) {
  test(`formatError sees each error of ${what} once, and decides what is sent`, async () => {
    const seen: unknown[] = []
    for (const documentCache of [false, 100] as const) {
      const handler = createHandler({
        schema,
        documentCache,
        formatError: (error) => {
          seen.push(error)
          return { message: 'masked', number: seen.length }
        },
      })
      for (const _repeated of [1, 2]) {
        seen.length = 0
        const { json } = toAnswer(await handler(req))
        assert.equal(seen.length, count)
        assert.equal(new Set(seen).size, count)
        for (const error of seen) assert.ok(error instanceof Error)
        const sent = seen.map((_, index) => ({ message: 'masked', number: index + 1 }))
        assert.deepEqual(json.errors, sent)
      }
    }
  })
}

test('formatError may return any kind of error', async () => {
  const kinds: readonly (readonly [formatted: object, sent: object])[] = [
    [new DatabaseError('plain'), { message: 'plain' }],
    [
      new GraphQLError('graphql', { extensions: { code: 1 } }),
      { message: 'graphql', extensions: { code: 1 } },
    ],
    [
      { message: 'object', code: 2 },
      { message: 'object', code: 2 },
    ],
  ]
  for (const [formatted, sent] of kinds) {
    const handler = createHandler({ schema, formatError: () => formatted })
    const { json } = toAnswer(await handler(post({ query: '{ fail }' })))
    assert.deepEqual(json, { errors: [sent], data: { fail: null } })
  }
})

test('formatError does not change the status, and does not see mutations over GET', async () => {
  const handler = createHandler({ schema, formatError: () => new Error('masked') })
  assert.equal(toAnswer(await handler(post({ query: '{' }, { accept: GR }))).status, 400)
  assert.equal(toAnswer(await handler(post('{', { accept: GR }))).type, J)
  const mutation = toAnswer(await handler(get({ query: 'mutation { bump }' })))
  assert.equal(mutation.body, '{"errors":[{"message":"Cannot perform mutations over GET"}]}')
})

test('formatError is not called when nothing failed', async () => {
  const handler = createHandler({ schema, formatError: () => assert.fail('called') })
  assert.equal((await handler(post(HELLO)))[1].status, 200)
})

test('an exception in formatError rejects', async () => {
  const error = new Error('of the option')
  const handler = createHandler({ schema, formatError: throwing(error) })
  for (const [, req] of FAILURES) await assert.rejects(handler(req), error)
})

test('formatting errors changes neither the result nor its errors', async () => {
  const errors = [new GraphQLError('The resolver failed')]
  const result = { data: null, errors }
  const handler = createHandler({
    schema,
    execute: () => result,
    formatError: () => new Error('masked'),
  })
  const { json } = toAnswer(await handler(post(HELLO)))
  assert.equal(json.errors?.[0]?.message, 'masked')
  assert.equal(result.errors, errors)
  assert.equal(errors[0]?.message, 'The resolver failed')
})
