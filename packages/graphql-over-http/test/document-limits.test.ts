/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DocumentNode, execute, getIntrospectionQuery, parse } from 'graphql'
import { createHandler } from '../src/handler.ts'
import type { HandlerOptions } from '../src/options.ts'
import { GR, J, post, toAnswer } from './support/request.ts'
import { schema } from './support/schema.ts'

const nested = (depth: number) => `${'{ self '.repeat(depth - 1)}{ hello }${' }'.repeat(depth - 1)}`
const aliased = (count: number) =>
  `{ ${Array.from({ length: count }, (_, number) => `a${number}: hello`).join(' ')} }`

async function send(options: HandlerOptions, query: string, accept = GR) {
  return toAnswer(await createHandler({ schema, ...options })(post({ query }, { accept })))
}

/** The largest document within each limit, the smallest beyond it, and the error message. */
const LIMITS: readonly (readonly [
  options: HandlerOptions,
  within: string,
  beyond: string,
  message: string,
])[] = [
  [
    { maxTokens: 4 },
    '{ a: hello }'.replace('a: ', ''),
    '{ a: hello }',
    'Document has too many tokens; the limit is 4, set by the option "maxTokens"',
  ],
  [
    { maxDepth: 3 },
    nested(3),
    nested(4),
    'Document has a depth of 4; the limit is 3, set by the option "maxDepth"',
  ],
  [
    { maxDepth: 2 },
    '{ ... { ...F } } fragment F on Query { self { ... { hello } } }',
    '{ ... { ...F } } fragment F on Query { self { ... { self { hello } } } }',
    'Document has a depth of 3; the limit is 2, set by the option "maxDepth"',
  ],
  [
    { maxAliases: 5 },
    aliased(5),
    aliased(6),
    'Document has 6 aliases; the limit is 5, set by the option "maxAliases"',
  ],
  [
    { maxAliases: 4 },
    '{ ...F a: self { ...F } } fragment F on Query { b: hello }',
    '{ ...F a: self { ...F } } fragment F on Query { b: hello c: hello }',
    'Document has 5 aliases; the limit is 4, set by the option "maxAliases"',
  ],
]

for (const [options, within, beyond, message] of LIMITS) {
  test(`${JSON.stringify(options)} refuses ${beyond} with 400 and names the option`, async () => {
    assert.equal((await send(options, within)).status, 200)
    for (const profile of ['classic', '2026'] as const) {
      for (const accept of [GR, J]) {
        // With a custom parser, too.
        for (const more of [{}, { parse: (source: string) => parse(source) }]) {
          const answer = await send({ ...options, ...more, profile }, beyond, accept)
          assert.equal(answer.status, 400)
          assert.deepEqual(answer.json, { errors: [{ message }] })
        }
      }
    }
  })
}

test('documents may have 15,000 tokens by default, and any number with maxTokens: false', async () => {
  // Without validation, which is slow for so many fields.
  const options = { validate: () => [], execute: () => ({ data: null }) }
  const tokens = (count: number) => `{${'a '.repeat(count - 2)}}`
  assert.equal((await send(options, tokens(15_000))).status, 200)
  const { status, json } = await send(options, tokens(15_001))
  assert.equal(status, 400)
  assert.match(json.errors?.[0]?.message ?? '', /15000.*"maxTokens"/)
  assert.equal((await send({ ...options, maxTokens: false }, tokens(15_001))).status, 200)
})

test('false turns a limit off', async () => {
  const options = { maxTokens: false, maxDepth: false, maxAliases: false } as const
  assert.equal((await send(options, nested(50))).status, 200)
  assert.equal((await send(options, aliased(500))).status, 200)
})

test('introspection has no depth, so that tools work beside maxDepth', async () => {
  assert.equal((await send({ maxDepth: 1 }, getIntrospectionQuery())).status, 200)
})

test('limits keep the document cache', async () => {
  const documents = new Set<DocumentNode>()
  const handler = createHandler({
    schema,
    maxTokens: 100,
    maxDepth: 5,
    maxAliases: 5,
    execute: (args) => {
      documents.add(args.document)
      return execute(args)
    },
  })
  for (let times = 0; times < 3; times += 1) await handler(post({ query: '{ hello }' }))
  assert.equal(documents.size, 1)
})

test('fragments that spread each other are measured in linear time, cycles included', async () => {
  const doubling = Array.from(
    { length: 200 },
    (_, number) => `fragment F${number} on Query { ...F${number + 1} ...F${number + 1} }`,
  )
  const limits = { maxDepth: 100, maxAliases: 100 }
  const many = `{ ...F0 } ${doubling.join(' ')} fragment F200 on Query { a: hello }`
  const { status, json } = await send(limits, many)
  assert.equal(status, 400)
  assert.match(json.errors?.[0]?.message ?? '', /"maxAliases"/)

  const circle =
    '{ ...F } fragment F on Query { self { ...G } } fragment G on Query { a: self { ...F } }'
  assert.match((await send(limits, circle)).json.errors?.[0]?.message ?? '', /spread fragment/)
})

test('a source that is not GraphQL reaches a custom parser', async () => {
  const custom = { parse: (source: string) => parse(source === '§' ? '{ hello }' : source) }
  assert.equal((await send(custom, '§')).status, 200)
})
