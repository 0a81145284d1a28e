/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { parse } from 'graphql'
import { createHandler } from '../src/handler.ts'
import type { HandlerOptions } from '../src/options.ts'
import { GR, J, post, toAnswer } from './support/request.ts'
import { schema } from './support/schema.ts'

const HELLO = { query: '{ hello }' }

/** An endless stream that counts how often it was read and closed. */
function createStream(onReturn: () => unknown = async () => ({ done: true, value: undefined })) {
  const calls = { next: 0, return: 0 }
  const iterator = {
    async next() {
      calls.next += 1
      return { done: false, value: { data: { hello: 'world' } } }
    },
    return() {
      calls.return += 1
      // A hand-written iterator may return anything.
      return onReturn() as Promise<IteratorResult<unknown>>
    },
  }
  const stream: AsyncIterable<unknown> = { [Symbol.asyncIterator]: () => iterator }
  return { stream, calls }
}

const incremental = (subsequentResults: AsyncIterable<unknown>) => ({
  initialResult: { data: { hello: 'world' }, hasNext: true },
  subsequentResults,
})

/** Each way in which the user's functions can return a stream. */
const SOURCES: readonly (readonly [
  what: string,
  toOptions: (stream: AsyncIterable<unknown>) => HandlerOptions,
])[] = [
  ['execute returns a stream', (stream) => ({ execute: () => stream })],
  ['execute resolves to a stream', (stream) => ({ execute: async () => stream })],
  [
    'execute returns incremental results',
    (stream) => ({ execute: () => toResult(incremental(stream)) }),
  ],
  [
    'execute resolves to incremental results',
    (stream) => ({ execute: async () => toResult(incremental(stream)) }),
  ],
  ['onOperation returns a stream', (stream) => ({ onOperation: () => toResult(stream) })],
  [
    'onOperation returns incremental results',
    (stream) => ({ onOperation: () => toResult(incremental(stream)) }),
  ],
  [
    'the arguments came from onSubscribe',
    (stream) => ({
      onSubscribe: () => ({ schema, document: parse('{ hello }') }),
      execute: () => stream,
    }),
  ],
]

/** Results of other executors, which the types of graphql-js do not allow. */
const toResult = (value: object): { data?: null } => value

for (const [what, toOptions] of SOURCES) {
  for (const profile of ['classic', '2026'] as const) {
    test(`${profile}: when ${what} it is refused and closed once`, async () => {
      for (const accept of [J, GR]) {
        const { stream, calls } = createStream()
        const handler = createHandler({ schema, profile, ...toOptions(stream) })
        const { status, json } = toAnswer(await handler(post(HELLO, { accept })))
        const expected = profile === '2026' ? 422 : accept === GR ? 400 : 200
        assert.equal(status, expected)
        assert.equal('data' in json, false)
        assert.match(json.errors?.[0]?.message ?? '', /not supported/)
        assert.deepEqual(calls, { next: 0, return: 1 })
      }
    })
  }
}

const REJECTIONS: readonly (readonly [what: string, onReturn: () => unknown])[] = [
  ['rejects', () => Promise.reject(new Error('cannot close'))],
  [
    'throws',
    () => {
      throw new Error('cannot close')
    },
  ],
  ['never settles', () => new Promise(() => {})],
  ['returns nothing', () => undefined],
]

for (const [what, onReturn] of REJECTIONS) {
  test(`a stream whose return() ${what} is refused like any other`, async (t) => {
    const unhandled = t.mock.fn()
    process.on('unhandledRejection', unhandled)
    t.after(() => process.off('unhandledRejection', unhandled))
    for (const [, toOptions] of SOURCES) {
      const { stream, calls } = createStream(onReturn)
      const handler = createHandler({ schema, ...toOptions(stream) })
      const { status } = toAnswer(await handler(post(HELLO, { accept: GR })))
      assert.equal(status, 400)
      assert.equal(calls.return, 1)
    }
    await setImmediate()
    assert.equal(unhandled.mock.callCount(), 0)
  })
}

test('a stream without return() is refused too', async () => {
  const stream: AsyncIterable<unknown> = {
    [Symbol.asyncIterator]: () => ({ next: () => assert.fail('read') }),
  }
  const handler = createHandler({ schema, execute: () => stream })
  assert.equal((await handler(post(HELLO, { accept: GR })))[1].status, 400)
})

test('an async generator that is refused runs its cleanup', async () => {
  let isClosed = false
  const generator = (async function* () {
    try {
      yield 1
      yield 2
    } finally {
      isClosed = true
    }
  })()
  // Like an executor that waits for the first value.
  await generator.next()
  const handler = createHandler({ schema, execute: () => generator })
  await handler(post(HELLO))
  await setImmediate()
  assert.equal(isClosed, true)
})

test('onOperation sees the stream before it is refused, and may answer instead', async () => {
  const { stream } = createStream()
  const seen: unknown[] = []
  const handler = createHandler({
    schema,
    execute: () => stream,
    onOperation: (_req, _args, result) => {
      seen.push(result)
      return { data: { hello: 'instead' } }
    },
  })
  assert.deepEqual(toAnswer(await handler(post(HELLO))).json, { data: { hello: 'instead' } })
  assert.equal(seen[0], stream)
})
