import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ProtocolError,
  type Reply,
  ReplyError,
  RespReader,
} from '../../../../src/counters/redis/connection/resp-reader.ts'

type Plain = number | string | null | { readonly error: string } | readonly Plain[]

function encode(reply: Plain, asLine = false): string {
  if (reply === null) return '$-1\r\n'
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (typeof reply === 'string') {
    return asLine ? `+${reply}\r\n` : `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`
  }
  if ('error' in reply) return `-${reply.error}\r\n`
  return `*${reply.length}\r\n${reply.map((item) => encode(item)).join('')}`
}

function toPlain(reply: Reply): Plain {
  if (reply instanceof ReplyError) return { error: reply.message }
  if (Array.isArray(reply)) return reply.map(toPlain)
  return reply as Plain
}

function readAll(bytes: Buffer, cuts: readonly number[]): Plain[] {
  const replies: Plain[] = []
  const reader = new RespReader({
    onInteger: (value) => replies.push(value),
    onReply: (reply) => replies.push(toPlain(reply)),
  })
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  // Like with a socket, all chunks share one buffer.
  const shared = Buffer.alloc(bytes.length)
  let start = 0
  for (const end of ends) {
    shared.fill(0x21)
    bytes.copy(shared, 0, start, end)
    reader.read(shared, end - start)
    start = end
  }
  return replies
}

const line = fc.string({ unit: 'binary' }).map((text) => text.replace(/[\r\n]/g, ''))
const reply = fc.letrec<{ reply: Plain }>((tie) => ({
  reply: fc.oneof(
    { weight: 5, arbitrary: fc.maxSafeInteger() },
    fc.string({ unit: 'binary', maxLength: 600 }),
    fc.constant(null),
    line.map((error) => ({ error })),
    fc.array(tie('reply'), { maxLength: 4, depthIdentifier: 'list' }),
  ),
})).reply

test('replies are the same however their bytes are split', () => {
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 20 }), fc.array(fc.nat()), (replies, cuts) => {
      const bytes = Buffer.from(replies.map((each) => encode(each)).join(''))
      assert.deepEqual(readAll(bytes, cuts), replies)
    }),
    { numRuns: 500 },
  )
})

test('replies are the same byte by byte', () => {
  const replies: Plain[] = [-0.0, 1, -17, 'OK', '', null, ['a', [1, null], []], { error: 'ERR x' }]
  const bytes = Buffer.from(replies.map((each) => encode(each)).join(''))
  const every = Array.from({ length: bytes.length }, (_, i) => i)
  assert.deepEqual(readAll(bytes, every), [0, ...replies.slice(1)])
})

test('a long string that arrives in many chunks is joined', () => {
  const long = 'ü'.repeat(200_000)
  const bytes = Buffer.from(encode(long) + encode(7))
  const cuts = Array.from({ length: 50 }, (_, i) => i * 9_000)
  assert.deepEqual(readAll(bytes, cuts), [long, 7])
})

test('any bytes are either replies or a protocol error, never a crash', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .string({ unit: fc.constantFrom(...'+-:$*0123456789\r\nab') })
      .map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(bytes, fc.array(fc.nat()), (input, cuts) => {
      try {
        readAll(Buffer.from(input), cuts)
      } catch (error) {
        assert.ok(error instanceof ProtocolError, String(error))
      }
    }),
    { numRuns: 1500 },
  )
})

for (const [what, text] of Object.entries({
  'an unknown type': '!3\r\nabc\r\n',
  'a letter in a number': ':1a\r\n',
  'a number without digits': ':\r\n',
  'a minus without digits': ':-\r\n',
  'two minus signs': ':--1\r\n',
  'a line without its line break': ':1\rx',
  'a string longer than announced': '$2\r\nabc\r\n',
  'a negative length other than -1': '$-2\r\n',
  'a string of 17 MB': '$17000000\r\n',
  'a list of two million': '*2000000\r\n',
  'lists without end': '*1\r\n'.repeat(50),
  'an endless line': `+${'x'.repeat(70_000)}`,
})) {
  test(`${what} is a protocol error`, () => {
    assert.throws(() => readAll(Buffer.from(text), []), ProtocolError)
  })
}

test('nothing is passed on after stop, not even from the current chunk', () => {
  const seen: number[] = []
  const reader = new RespReader({
    onInteger(value) {
      seen.push(value)
      if (value === 2) reader.stop()
    },
    onReply: () => assert.fail('there is no such reply'),
  })
  const bytes = Buffer.from(':1\r\n:2\r\n:3\r\n')
  reader.read(bytes, bytes.length)
  assert.deepEqual(seen, [1, 2])
})

test('the code of an error is its first word', () => {
  assert.equal(new ReplyError('MOVED 1 127.0.0.1:1').code, 'MOVED')
  assert.equal(new ReplyError('LOADING').code, 'LOADING')
})
