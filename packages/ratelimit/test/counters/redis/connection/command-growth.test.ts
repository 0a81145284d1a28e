import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommandBuffer } from '../../../../src/counters/redis/connection/command-buffer.ts'

test('collected commands are unchanged when the buffer grows', () => {
  const buffer = new CommandBuffer()
  const key = 'k'.repeat(1_000)
  let wanted = ''
  // More than three times the size of a new buffer, so that it grows more than once.
  for (let window = 100; window < 160; window += 1) {
    buffer.count(key, window, 1)
    wanted += `*3\r\n$6\r\nINCRBY\r\n$1003\r\n${key}${window}\r\n$1\r\n1\r\n`
  }
  assert.equal(buffer.length, wanted.length)
  assert.equal(buffer.collected.toString(), wanted)
})

test('a key that is larger than a new buffer is written completely', () => {
  const buffer = new CommandBuffer()
  const key = 'ä'.repeat(40_000)
  buffer.read('a', 5)
  buffer.read(key, 7)
  assert.equal(
    buffer.collected.toString(),
    `*2\r\n$3\r\nGET\r\n$2\r\na5\r\n*2\r\n$3\r\nGET\r\n$80001\r\n${key}7\r\n`,
  )
})
