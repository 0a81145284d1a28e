import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CommandBuffer } from '../../../../src/counters/redis/connection/command-buffer.ts'
import { KeyBytes, type KeyWords } from '../../../../src/structures/key-bytes.ts'

function encode(...words: readonly (string | number | bigint)[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(`${word}`)}\r\n${word}\r\n`)
  return `*${words.length}\r\n${parts.join('')}`
}

const key = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
)
const window = fc.oneof(fc.nat({ max: 4_102_444_800 }), fc.constantFrom(0, 60, 3_600))
const hits = fc.oneof(fc.constant(1), fc.maxSafeNat())

/** The encoded key if it is ASCII, as the store passes it; otherwise the text. */
function toShortForm(text: string): string | KeyWords {
  const encoded = new KeyBytes().set(text)
  return encoded.isAscii ? encoded : text
}

test('any number of commands in any order is encoded as a simple encoder does it', () => {
  const command = fc.oneof(
    fc.record({ kind: fc.constant('count' as const), key, window, number: hits }),
    fc.record({ kind: fc.constant('expire' as const), key, window, number: fc.nat() }),
    fc.record({ kind: fc.constant('create' as const), key, window, number: fc.nat() }),
    fc.record({ kind: fc.constant('read' as const), key, window, number: fc.nat() }),
  )
  fc.assert(
    fc.property(fc.array(command, { maxLength: 120 }), (commands) => {
      const buffer = new CommandBuffer()
      let wanted = ''
      for (const { kind, key, window, number } of commands) {
        const name = `${key}${window}`
        if (kind === 'count') {
          buffer.count(toShortForm(key), window, number)
          wanted += encode('INCRBY', name, number)
        } else if (kind === 'expire') {
          buffer.expire(toShortForm(key), window, number)
          wanted += encode('EXPIRE', name, number)
        } else if (kind === 'create') {
          buffer.createCounter(toShortForm(key), window, number)
          wanted += encode('SET', name, 0, 'EX', number, 'NX')
        } else {
          buffer.read(key, window)
          wanted += encode('GET', name)
        }
      }
      assert.equal(buffer.collected.toString(), Buffer.from(wanted).toString())
    }),
    { numRuns: 300 },
  )
})

test('the commands of sliding counters and scripts are encoded as a simple encoder does it', () => {
  const increment = fc.record({
    key,
    window,
    unitSeconds: fc.integer({ min: 1, max: 4_102_444_800 }),
    overlapMs: fc.oneof(fc.constant(0), fc.maxSafeNat()),
    hits: fc.oneof(fc.integer(), fc.maxSafeInteger()),
    most: fc.nat({ max: 4_294_967_295 }),
    isStrict: fc.boolean(),
    after: fc.constant(0),
    previous: fc.constant(0),
  })
  const script = Buffer.from('$4\r\nEVAL\r\n$4\r\ntext\r\n')
  fc.assert(
    fc.property(fc.array(increment, { maxLength: 60 }), fc.nat(), (increments, ttlSeconds) => {
      const buffer = new CommandBuffer()
      for (const one of increments) buffer.readWindows(one)
      buffer.startScript(script, increments.length, 8 * increments.length)
      for (const one of increments) buffer.addName(one)
      for (const one of increments) {
        buffer.addValues(one, ttlSeconds)
        buffer.addNumber(1)
      }
      const reads = increments.map(({ key, window, unitSeconds }) =>
        encode('HMGET', `${key}${unitSeconds}s`, window, window - unitSeconds),
      )
      const names = increments.map(({ key, window, unitSeconds, overlapMs }) =>
        overlapMs > 0 ? `${key}${unitSeconds}s` : `${key}${window}`,
      )
      const values = increments.flatMap(({ window, unitSeconds, overlapMs, hits, most }) => {
        const windows = [window, window - unitSeconds, overlapMs, unitSeconds * 1000]
        return [...windows, hits, most, ttlSeconds, 1]
      })
      const run = encode('EVAL', 'text', increments.length, ...names, ...values)
      const wanted = Buffer.from([...reads, run].join(''))
      assert.equal(buffer.collected.toString(), wanted.toString())
    }),
    { numRuns: 200 },
  )
})

test('hits beyond 2^31 and beyond 2^53 are written as whole numbers', () => {
  for (const hits of [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 53, 2 ** 64]) {
    const buffer = new CommandBuffer()
    buffer.count('k_', 60, hits)
    assert.equal(buffer.collected.toString(), encode('INCRBY', 'k_60', BigInt(hits)))
  }
})

test('bytes that were handed over are not overwritten', () => {
  const buffer = new CommandBuffer()
  buffer.count('first_', 1, 1)
  const first = buffer.collected
  buffer.handOver()
  buffer.count('second_', 2, 2)
  assert.equal(first.toString(), encode('INCRBY', 'first_1', 1))
  assert.equal(buffer.collected.toString(), encode('INCRBY', 'second_2', 2))
})

test('a huge command grows the buffer, and its memory is released', () => {
  const buffer = new CommandBuffer()
  const huge = 'x'.repeat(3_000_000)
  buffer.count(huge, 1, 1)
  assert.equal(buffer.collected.toString(), encode('INCRBY', `${huge}1`, 1))
  buffer.clear()
  assert.equal(buffer.length, 0)
  assert.ok(buffer.collected.buffer.byteLength < 100_000)
})
