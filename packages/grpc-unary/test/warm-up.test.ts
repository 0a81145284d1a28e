import assert from 'node:assert/strict'
import { test } from 'node:test'
import { status } from '../src/index.ts'
import { makeWarmUpCalls } from '../src/warm-up.ts'

const PATH = '/test.Echo/Say'

test('a method is called through sockets, one call at a time and several at a time', async () => {
  const seen: string[] = []
  const answered = await makeWarmUpCalls(
    {
      methods: {
        [PATH]: {
          kind: 'unary',
          handle(call) {
            const text = call.buffer.toString('utf8', call.start, call.end)
            seen.push(text)
            if (text === 'bad') call.fail(status.INVALID_ARGUMENT, 'bad')
            else setImmediate(() => call.send(Buffer.from(text), 0, text.length))
          },
        },
      },
      path: PATH,
      messages: [Buffer.from('one'), Buffer.from('bad')],
      connections: 2,
      callsPerConnection: 40,
    },
    AbortSignal.timeout(60_000),
  )
  assert.ok(answered >= 80)
  assert.equal(seen.length, answered)
  assert.deepEqual([...new Set(seen)], ['one', 'bad'])
})

test('the warm-up ends if a method does not answer', async () => {
  const enough = new AbortController()
  const answered = await makeWarmUpCalls(
    {
      methods: { [PATH]: { kind: 'unary', handle: () => enough.abort() } },
      path: PATH,
      messages: [Buffer.from('x')],
      connections: 3,
      callsPerConnection: 10,
    },
    enough.signal,
  )
  assert.equal(answered, 0)
})
