/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { buildSchema, execute, GraphQLSchema, versionInfo } from 'graphql'
import { createHandler } from '../src/handler.ts'
import { checkOptions, type HandlerOptions } from '../src/options.ts'
import { GR, get, post, request } from './support/request.ts'
import { schema } from './support/schema.ts'

const HELLO = { query: '{ hello }' }
const fn = () => undefined

/** Invalid values per option, and what the error says is required. */
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
  ['csrfPrevention', ['no', 0, {}], /boolean/],
  ['persistedDocument', ['x', {}, true], /function/],
  ['documentCacheBytes', [-1, Number.NaN, false, '1 MB'], /number of bytes/],
  ['maxTokens', [-1, '100', true], /number.*false/],
  ['maxDepth', [-1, '100', true], /number.*false/],
  ['maxAliases', [-1, '100', true], /number.*false/],
  ['documentCache', [-1, Number.NaN, 'many', {}, true, '100', [5]], /number.*false/],
]

for (const [option, values, wanted] of WRONG) {
  test(`a wrong ${option} is an error that names the option and what it must be`, () => {
    for (const value of values) {
      assert.throws(
        () => createHandler({ schema, [option]: value }),
        (error) => {
          assert.ok(error instanceof TypeError, `${option}: ${String(value)} was not a TypeError`)
          assert.match(error.message, new RegExp(`"${option}"`))
          assert.match(error.message, wanted)
          return true
        },
        `${option}: ${String(value)} was accepted`,
      )
    }
  })
}

test('options that are not an object are an error that says so', () => {
  for (const options of [undefined, null, 'schema', 1]) {
    assert.throws(
      // @ts-expect-error: JavaScript can do this
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
  { schema, maxTokens: 0, maxDepth: 1, maxAliases: Number.POSITIVE_INFINITY },
  { schema, maxTokens: false, maxDepth: false, maxAliases: false, documentCacheBytes: 0 },
  { schema, csrfPrevention: false, persistedDocument: fn },
]

for (const options of RIGHT) {
  test(`the options { ${Object.keys(options).join(', ')} } are accepted`, () => {
    assert.doesNotThrow(() => checkOptions(options as HandlerOptions))
    assert.equal(typeof createHandler(options), 'function')
  })
}

test('a schema of another copy of graphql is an error, unless the options use that copy', () => {
  const other = Object.create(null, Object.getOwnPropertyDescriptors(GraphQLSchema.prototype))
  for (const options of [{}, { execute: fn }, { validate: fn }]) {
    assert.throws(
      () => createHandler({ schema: other, ...options } as never),
      /^TypeError: createHandler: the schema was made by another copy of graphql.*npm ls graphql/,
    )
  }
  for (const options of [
    { execute: fn, validate: fn },
    { onSubscribe: fn, execute: fn },
  ]) {
    assert.doesNotThrow(() => createHandler({ schema: other, ...options } as never))
  }
})

test('a request in place of the options is an error that says what to register', () => {
  const hono = { req: { raw: new Request('http://localhost/') } }
  for (const options of [new Request('http://localhost/'), get(HELLO), hono]) {
    assert.throws(() => createHandler(options as never), /^TypeError: .*called with a request/)
  }
  assert.throws(() => createHandler({ schema, headers: {} } as never), /unknown option "headers"/)
})

test('creating a handler without a schema and onSubscribe is an error that says what to set', () => {
  for (const options of [{}, { schema: undefined }, { context: { a: 1 } }]) {
    assert.throws(
      () => createHandler(options as HandlerOptions),
      /^TypeError: The GraphQL schema is not provided.*"schema".*"onSubscribe"/,
    )
  }
})

test('a request rejects without a schema if onSubscribe returns no arguments', async () => {
  const handler = createHandler({ onSubscribe: fn })
  await assert.rejects(handler(post(HELLO)), /^Error: The GraphQL schema is not provided/)
})

/** Common misspellings, and the options that were meant. */
const MISSPELT: readonly (readonly [written: string, meant: string | undefined])[] = [
  ['shcema', 'schema'],
  ['contxt', 'context'],
  ['validationRule', 'validationRules'],
  ['getOperationAst', 'getOperationAST'],
  ['formaterror', 'formatError'],
  ['onsubscribe', 'onSubscribe'],
  ['persistedDocuments', 'persistedDocument'],
  ['maxdepth', 'maxDepth'],
  ['playground', undefined],
  ['bodyLimitBytes', undefined],
  ['__proto__x', undefined],
]

for (const [written, meant] of MISSPELT) {
  test(`the unknown option ${written} is an error that names ${meant ?? 'all options'}`, () => {
    assert.throws(
      () => createHandler({ schema, [written]: fn }),
      (error) => {
        assert.ok(error instanceof TypeError)
        const rest = meant === undefined ? 'The options are: ' : `Did you mean "${meant}"?`
        assert.ok(
          error.message.startsWith(`createHandler: unknown option "${written}". ${rest}`),
          error.message,
        )
        return true
      },
    )
    assert.doesNotThrow(() => createHandler({ schema, [written]: undefined }))
  })
}

test('a schema with @defer or @stream is an error on graphql 17, which refuses to execute it', () => {
  for (const name of ['defer', 'stream']) {
    const incremental = buildSchema(`directive @${name} on FIELD type Query { a: Int }`)
    const make = () => createHandler({ schema: incremental })
    if (versionInfo.major > 16) assert.throws(make, /@defer or @stream.*Remove the directives/s)
    else assert.doesNotThrow(make)
    assert.doesNotThrow(() => createHandler({ schema: incremental, execute }))
  }
})

test('a request of a server instead of a plain one is an error that names the adapters', async () => {
  const handler = createHandler({ schema })
  const fetched = new Request('http://localhost/?query={hello}')
  for (const req of [fetched, Object.assign(new EventEmitter(), get(HELLO))]) {
    await assert.rejects(handler(req as never), /^TypeError: .*takes a plain request.*use\/http/)
  }
})

test('without a schema, requests that are refused earlier are still refused', async () => {
  const handler = createHandler({ onSubscribe: fn })
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
  // @ts-expect-error: JavaScript can do this
  const handler = createHandler({ schema: () => undefined })
  await assert.rejects(handler(post(HELLO)), /schema/i)
})
