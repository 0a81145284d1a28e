/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import {
  buildSchema,
  type DocumentNode,
  execute,
  type FieldNode,
  GraphQLError,
  parse,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  validate,
  visit,
} from 'graphql'
import { createDocumentCache } from '../src/document-cache.ts'
import { createHandler } from '../src/handler.ts'
import type { HandlerOptions } from '../src/options.ts'
import { accepting, GR, J, post, toAnswer } from './support/request.ts'
import { schema } from './support/schema.ts'

/** A cache over functions that only count their calls. */
function createCountingCache(maxEntries: number, maxBytes = 16 * 2 ** 20) {
  const parsed: string[] = []
  const validated: string[] = []
  const document = parse('{ hello }')
  const sources = new WeakMap<DocumentNode, string>()
  const cache = createDocumentCache(
    maxEntries,
    maxBytes,
    (source) => {
      parsed.push(source)
      const copy = { ...document }
      sources.set(copy, source)
      return copy
    },
    (_schema, node) => {
      const source = sources.get(node) ?? ''
      validated.push(source)
      return source.startsWith('bad') ? [new GraphQLError('bad')] : []
    },
  )
  const use = (source: string) => cache.validate(schema, cache.parse(source), source)
  /** How many of these sources are cached, which shows in calls that do no work. */
  const countKnown = (candidates: readonly string[]) =>
    candidates.filter((source) => {
      const before = parsed.length
      cache.parse(source)
      return parsed.length === before
    }).length
  return { use, countKnown, parsed, validated }
}

const numbered = (count: number, toSource = (number: number) => `source ${number}`) =>
  Array.from({ length: count }, (_, number) => toSource(number))

/** Records which documents were executed: an identical object came from the cache. */
function createRecordingHandler(options: HandlerOptions = {}) {
  const documents: DocumentNode[] = []
  const handler = createHandler({
    schema,
    execute: (args) => {
      documents.push(args.document)
      return execute(args)
    },
    ...options,
  })
  const send = async (query: string) => toAnswer(await handler(post({ query }, { accept: GR })))
  return { documents, send }
}

test('a document is parsed and validated once', async () => {
  const { use, parsed, validated } = createCountingCache(100)
  for (const source of ['one', 'two', 'one', 'two', 'one']) use(source)
  assert.deepEqual(parsed, ['one', 'two'])
  assert.deepEqual(validated, ['one', 'two'])

  const { documents, send } = createRecordingHandler()
  await send('{ hello }')
  await send('{ hello }')
  assert.equal(documents.length, 2)
  assert.equal(documents[0], documents[1])
})

test('an invalid document is validated once, and never taken for a valid one', () => {
  const { use, validated } = createCountingCache(100)
  for (let times = 0; times < 5; times += 1) {
    const errors = use('bad')
    assert.deepEqual(
      errors.map(({ message }) => message),
      ['bad'],
    )
  }
  assert.deepEqual(validated, ['bad'])
})

test('sources that differ in a single character are different documents', async () => {
  const { documents, send } = createRecordingHandler()
  for (const query of ['{ hello }', '{ hello  }', '{hello}', '{ hello }#']) await send(query)
  assert.equal(new Set(documents).size, 4)
})

const ALL_OFF: readonly (readonly [what: string, options: HandlerOptions])[] = [
  ['documentCache is false', { documentCache: false }],
  ['documentCache is 0', { documentCache: 0 }],
  ['parse is replaced', { parse: (source) => parse(source) }],
  ['validate is replaced', { validate: (...args) => validate(...args) }],
  ['validation rules are replaced', { validationRules: (_req, _args, rules) => rules }],
]

for (const [what, options] of ALL_OFF) {
  test(`nothing is cached when ${what}`, async () => {
    const { documents, send } = createRecordingHandler(options)
    await send('{ hello }')
    await send('{ hello }')
    assert.equal(documents.length, 2)
    assert.notEqual(documents[0], documents[1])
  })
}

test('a static list of validation rules keeps the cache, and each document is checked once', async (t) => {
  const rule = t.mock.fn((context: ValidationContext) => ({
    Field(node: FieldNode) {
      if (node.name.value === 'greet') context.reportError(new GraphQLError('No greeting'))
    },
  }))
  const rules: ValidationRule[] = [...specifiedRules, rule]
  const { documents, send } = createRecordingHandler({ validationRules: rules })
  for (let times = 0; times < 3; times += 1) {
    assert.equal((await send('{ hello }')).status, 200)
    // Only one error, although the list repeats the rules of the GraphQL specification.
    assert.equal((await send('{ nope }')).json.errors?.length, 1)
    const { status, json } = await send('{ greet(name: "a") }')
    assert.equal(status, 400)
    assert.equal(json.errors?.[0]?.message, 'No greeting')
  }
  assert.equal(rule.mock.callCount(), 3)
  assert.equal(new Set(documents).size, 1)

  // A rule that is added later applies to cached documents too.
  rules.push((context) => ({
    Field: (node) => context.reportError(new GraphQLError(`Not ${node.name.value}`)),
  }))
  assert.equal((await send('{ hello }')).json.errors?.[0]?.message, 'Not hello')
})

test('a custom validate is called every time', async (t) => {
  const check = t.mock.fn(() => [])
  const rules = t.mock.fn(() => [])
  const { send } = createRecordingHandler({ validate: check, validationRules: rules })
  for (let times = 0; times < 3; times += 1) await send('{ hello }')
  assert.equal(check.mock.callCount(), 3)
  assert.equal(rules.mock.callCount(), 3)
})

for (const limit of [1, 2, 3, 10, 25]) {
  test(`with a limit of ${limit}, at most that many documents are cached`, () => {
    for (const surplus of [0, 1, 2, 3]) {
      const sources = numbered(limit * 4 + surplus)
      // A lookup may move an entry, so each lookup uses its own cache.
      const known = sources.filter((candidate) => {
        const { use, countKnown } = createCountingCache(limit)
        // Each document is sent twice in a row, like a document in use.
        for (const source of sources) {
          use(source)
          use(source)
        }
        return countKnown([candidate]) === 1
      }).length
      assert.ok(known <= limit, `${known} are remembered`)
      assert.ok(known >= limit / 3, `${known} are remembered`)
    }
  })
}

test('the option sets the limit', async () => {
  const { documents, send } = createRecordingHandler({ documentCache: 10 })
  const sources = numbered(40, (number) => `{ hello${number}: hello }`)
  for (const source of sources) await send(source)
  const before = documents.length
  for (const source of sources.slice(0, 20)) await send(source)
  // Evicted by the twenty that follow, so they are parsed again.
  assert.equal(new Set(documents).size, before + 20)
})

const words = (count: number) => (number: number) => `{x${number}:greet ${'hello '.repeat(count)}}`

test('the cache is bounded in bytes, whatever the length of the sources', () => {
  const maxBytes = 1_000_000
  for (const size of [10, 100, 1000]) {
    const cache = createDocumentCache(100_000, maxBytes, parse, () => [])
    const sources = numbered(20_000 / size, words(size))
    for (const source of [...sources, ...sources]) {
      cache.validate(schema, cache.parse(source), source)
    }
    const known = sources.filter((source) => Object.isFrozen(cache.parse(source))).length
    // At least 48 bytes for each of two nodes for each field.
    assert.ok(known * size * 96 <= maxBytes, `${known} documents of ${size} fields`)
    assert.equal(known > 0, size < 1000, `${known} documents of ${size} fields`)
  }
})

test('the limit in bytes is an option', async () => {
  for (const [documentCacheBytes, expected] of [
    [undefined, 1],
    [1000, 2],
  ]) {
    const { documents, send } = createRecordingHandler(
      documentCacheBytes === undefined ? {} : { documentCacheBytes },
    )
    for (let times = 0; times < 2; times += 1) await send('{ hello }')
    assert.equal(new Set(documents).size, expected)
  }
})

test('a cached document keeps no tokens, and its locations are the same', () => {
  const source =
    'query ($a: Int = 1) {\n  a: hello @include(if: true)\n  ...F\n}\nfragment F on Query { hello }'
  const cache = createDocumentCache(100, 1e6, parse, () => [])
  cache.validate(schema, cache.parse(source), source)
  const light = cache.parse(source)
  assert.deepEqual(JSON.parse(JSON.stringify(light)), JSON.parse(JSON.stringify(parse(source))))
  const collect = (document: DocumentNode) => {
    const found: unknown[] = []
    visit(document, {
      enter({ loc, kind }) {
        const { start, end, startToken } = loc ?? assert.fail(kind)
        // graphql-jit reads the position of an error from its token.
        const place = kind === 'Document' ? [] : [startToken.line, startToken.column]
        found.push([kind, start, end, ...place])
        found.push(new GraphQLError('x', { nodes: [{ kind, loc } as never] }).locations)
      },
    })
    return found
  }
  assert.deepEqual(collect(light), collect(parse(source)))
  visit(light, { enter: ({ loc }) => assert.equal(Object.hasOwn(loc ?? {}, 'startToken'), false) })
})

test('code that changes a cached document fails, except for new properties on fields', async () => {
  const { documents, send } = createRecordingHandler()
  await send('{ hello }')
  const document = documents[0] ?? assert.fail()
  const operation = document.definitions[0]
  assert.ok(operation?.kind === 'OperationDefinition')
  const { selections } = operation.selectionSet
  assert.throws(() => Reflect.apply(Array.prototype.push, selections, [selections[0]]), TypeError)
  assert.equal(Reflect.set(operation, 'operation', 'mutation'), false)
  assert.equal(Reflect.set(document, 'definitions', []), false)
  assert.equal(Reflect.set(selections[0] ?? {}, '__note', 1), true)
})

test('a document that is too large is not cached, valid or not', async () => {
  const long = `{ hello } #${'x'.repeat(1_100_000)}`
  const { documents, send } = createRecordingHandler()
  assert.equal((await send(long)).status, 200)
  assert.equal((await send(long)).status, 200)
  assert.notEqual(documents[0], documents[1])

  const { use, validated } = createCountingCache(100)
  const bad = `bad ${'x'.repeat(1_100_000)}`
  use(bad)
  use(bad)
  assert.equal(validated.length, 2)
})

test('documents that are sent once never evict one that was sent twice', () => {
  const { use, parsed } = createCountingCache(100)
  use('hot')
  use('hot')
  for (const source of numbered(20_000)) use(source)
  use('hot')
  assert.equal(parsed.filter((source) => source === 'hot').length, 1)
})

test('a flood of documents does not evict one that is in use', () => {
  const { use, parsed } = createCountingCache(1000)
  for (const [number, source] of numbered(20_000).entries()) {
    if (number % 100 === 0) use('hot')
    use(source)
  }
  assert.equal(parsed.filter((source) => source === 'hot').length, 1)
})

test('a flood of long documents does not evict one that is in use', () => {
  const { use, parsed } = createCountingCache(1000)
  for (const source of numbered(500, (number) => `${number} ${'x'.repeat(300_000)}`)) {
    use('hot')
    use(source)
  }
  assert.equal(parsed.filter((source) => source === 'hot').length, 1)
})

test('a flood of invalid documents evicts no valid one, and is bounded itself', () => {
  const { use, countKnown, validated } = createCountingCache(10)
  use('hot')
  const bad = numbered(1000, (number) => `bad ${number}`)
  for (const source of bad) use(source)
  assert.equal(countKnown(['hot']), 1)

  validated.length = 0
  for (const source of bad) use(source)
  assert.ok(validated.length > 800, `${bad.length - validated.length} were remembered`)
})

const OLD = buildSchema('type Query { common: Int old: Int }')
const NEW = buildSchema('type Query { common: Int new: Int }')

test('documents are validated again in a schema that replaces another', async () => {
  let current = OLD
  const { send } = createRecordingHandler({ schema: () => current })
  const statuses = async () => [
    (await send('{ old }')).status,
    (await send('{ new }')).status,
    (await send('{ common }')).status,
  ]
  for (let times = 0; times < 3; times += 1) {
    current = OLD
    assert.deepEqual(await statuses(), [200, 400, 200])
    assert.deepEqual(await statuses(), [200, 400, 200])
    current = NEW
    assert.deepEqual(await statuses(), [400, 200, 200])
    assert.deepEqual(await statuses(), [400, 200, 200])
  }
})

test('interleaved requests to two schemas are validated against their own schema', async () => {
  const handler = createHandler({
    schema: async (req) => {
      await new Promise((resolve) => setImmediate(resolve))
      return req.url === '/old' ? OLD : NEW
    },
  })
  const answers = Array.from({ length: 200 }, async (_, number) => {
    const isOld = number % 2 === 0
    const query = number % 3 === 0 ? '{ old }' : '{ new }'
    const req = { ...post({ query }, { accept: GR }), url: isOld ? '/old' : '/new' }
    const [, { status }] = await handler(req)
    assert.equal(status, isOld === (query === '{ old }') ? 200 : 400)
  })
  assert.equal((await Promise.all(answers)).length, 200)
})

/** Ways to modify an error. The types forbid them, but applications do it. */
const SPOILERS: readonly (readonly [what: string, spoil: (error: GraphQLError) => void])[] = [
  ['the message', (error) => Reflect.set(error, 'message', 'spoiled')],
  ['a new field', (error) => Reflect.set(error, 'spoiled', true)],
  ['an extension', (error) => Reflect.set(error.extensions, 'spoiled', true)],
  ['the extensions', (error) => Reflect.set(error, 'extensions', { spoiled: true })],
  ['the locations', (error) => Reflect.set(error, 'locations', [])],
  ['the list of locations', (error) => Reflect.set(error.locations ?? [], 'length', 0)],
  ['a single location', (error) => Reflect.set(error.locations?.[0] ?? {}, 'line', 666)],
]

for (const [what, spoil] of SPOILERS) {
  test(`cached errors are not shared: formatError may change ${what}`, async () => {
    let isSpoiler = true
    const seen = new Set<object>()
    const handler = createHandler({
      schema,
      formatError: (error) => {
        assert.ok(error instanceof GraphQLError)
        seen.add(error)
        if (isSpoiler) spoil(error)
        return error
      },
    })
    const req = post({ query: '{ nope nothing }' }, { accept: GR })
    const [expected] = await createHandler({ schema, documentCache: false })(req)

    // The first request fills the cache, and it must not receive the cached object either.
    for (const isBad of [true, false, true, true, false]) {
      isSpoiler = isBad
      const [body] = await handler(req)
      if (!isBad) assert.equal(body, expected)
    }
    assert.equal(seen.size, 10)
  })
}

test('responses are the same with and without the cache, for valid and invalid documents', async () => {
  const field = fc.constantFrom(
    ...['hello', 'greet', 'fail', 'failRequired', 'nope', 'self', 'self { hello }', '__typename'],
    ...['greet(name: "a")', 'greet(name: 1)', 'a: hello', 'a: greet', '...F', 'double', 'hello {'],
  )
  const query = fc
    .tuple(
      fc.constantFrom('', 'query', 'query A', 'mutation', 'query ($a: Int)', '{ hello }'),
      fc.array(field, { maxLength: 3 }),
      fc.constantFrom('', 'fragment F on Query { hello }', 'fragment F on Nope { hello }'),
    )
    .map(([head, fields, tail]) => `${head} { ${fields.join(' ')} } ${tail}`)
  const accept = fc.constantFrom(J, GR)
  const cached = createHandler({ schema })
  const tiny = createHandler({ schema, documentCache: 1 })
  const uncached = createHandler({ schema, documentCache: false })
  await fc.assert(
    fc.asyncProperty(
      fc.array(query, { minLength: 1, maxLength: 4 }),
      accept,
      async (list, type) => {
        for (const source of [...list, ...list]) {
          const req = accepting(post({ query: source }), type)
          const expected = await uncached(req)
          assert.deepEqual(await cached(req), expected)
          assert.deepEqual(await tiny(req), expected)
        }
      },
    ),
    { numRuns: 100 },
  )
})

test('a schema that is no longer used is garbage-collected', async () => {
  const program = fileURLToPath(new URL('./support/dropped-schema.ts', import.meta.url))
  // The same version of graphql as this test.
  const inherited = process.execArgv.filter(
    (argument, index) => argument === '--import' || process.execArgv[index - 1] === '--import',
  )
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...inherited,
    '--expose-gc',
    program,
  ])
  // The engine may keep the last few; a cache without weak references would keep all.
  assert.ok(Number(stdout) <= 10, `${stdout.trim()} of 200 schemas are still in memory`)
})
