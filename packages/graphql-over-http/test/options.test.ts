/**
 * @legs main, graphql-16, node-22
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema } from 'graphql'
import { createHandler } from '../src/handler.ts'
import { checkOptions } from '../src/options.ts'
import { GR, get, post, request } from './support/request.ts'
import { schema } from './support/schema.ts'

const HELLO = { query: '{ hello }' }
const fn = () => undefined

/** Wrong values per option, and what the error says is wanted. */
const WRONG: readonly (readonly [option: string, values: readonly unknown[], wanted: RegExp])[] = [
  ['schema', ['type Query { a: Int }', {}, true, 1, [schema]], /GraphQLSchema.*function/],
  ['validationRules', ['rule', {}, 1, true], /list.*function/],
  ['parse', ['parse', {}, 1, true], /function/],
  ['validate', ['validate', {}, []], /function/],
  ['execute', ['execute', {}, []], /function/],
  ['getOperationAST', ['x', {}, []], /function/],
  ['onSubscribe', ['x', {}, []], /function/],
  ['onOperation', ['x', {}, []], /function/],
  ['formatError', ['x', {}, new Error('x')], /function/],
  ['parseRequestParams', ['x', {}, []], /function/],
  ['profile', ['modern', 'Classic', '', 'constructor', true, {}], /"classic".*"2026"/],
  ['documentCache', [-1, Number.NaN, 'many', {}, true, '100', [5]], /number.*false/],
]

for (const [option, values, wanted] of WRONG) {
  test(`a wrong ${option} is an error that names the option and what it must be`, () => {
    for (const value of values) {
      assert.throws(
        () => createHandler({ schema, [option]: value }),
        (error) => {
          assert.ok(error instanceof TypeError, `${option}: ${String(value)} was no TypeError`)
          assert.match(error.message, new RegExp(`"${option}"`))
          assert.match(error.message, wanted)
          return true
        },
        `${option}: ${String(value)} was accepted`,
      )
    }
  })
}

test('options that are no object are an error that says so', () => {
  for (const options of [undefined, null, 'schema', 1]) {
    assert.throws(
      // @ts-expect-error: what JavaScript may do
      () => createHandler(options),
      (error) => {
        assert.ok(error instanceof TypeError)
        assert.match(error.message, /createHandler/)
        assert.match(error.message, /options/)
        return true
      },
    )
  }
})

const RIGHT: readonly object[] = [
  {},
  { schema },
  { schema: () => schema },
  { schema: buildSchema('type Query { a: Int }'), context: null, rootValue: 0 },
  { schema, validationRules: [] },
  { schema, validationRules: fn },
  { schema, profile: 'classic' },
  { schema, profile: '2026' },
  { schema, documentCache: false },
  { schema, documentCache: 0 },
  { schema, documentCache: 1 },
  { schema, documentCache: Number.POSITIVE_INFINITY },
  { schema, parse: fn, validate: fn, execute: fn, getOperationAST: fn, formatError: fn },
  { onSubscribe: fn, onOperation: fn, parseRequestParams: fn },
  { schema, parse: undefined, profile: undefined, documentCache: undefined, execute: undefined },
  { schema, somethingOfAnAdapter: 1 },
]

for (const options of RIGHT) {
  test(`the options { ${Object.keys(options).join(', ')} } are accepted`, () => {
    assert.doesNotThrow(() => checkOptions(options))
    assert.equal(typeof createHandler(options), 'function')
  })
}

test('without a schema a request rejects, naming the option and the way out', async () => {
  const handler = createHandler({})
  await assert.rejects(handler(post(HELLO)), (error) => {
    assert.ok(error instanceof Error)
    assert.match(error.message, /^The GraphQL schema is not provided/)
    assert.match(error.message, /"schema"/)
    assert.match(error.message, /"onSubscribe"/)
    return true
  })
})

test('without a schema what is refused earlier is still refused', async () => {
  const handler = createHandler({})
  const refused = [
    [post(HELLO, { accept: 'text/html' }), 406],
    [request({ method: 'PUT' }), 405],
    [post(HELLO, { 'content-type': 'text/plain' }), 415],
    [post('{', { accept: GR }), 400],
    [get({}), 400],
  ] as const
  for (const [req, status] of refused) {
    assert.equal((await handler(req))[1].status, status)
  }
})

test('a schema function that returns no schema rejects', async () => {
  // @ts-expect-error: what JavaScript may do
  const handler = createHandler({ schema: () => undefined })
  await assert.rejects(handler(post(HELLO)), /schema/i)
})
