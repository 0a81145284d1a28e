import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestBuffers } from '../../src/http2/request-buffers.ts'

const MIB = 2 ** 20

test('a returned buffer is reused for requests that fit', () => {
  const buffers = new RequestBuffers()
  const first = buffers.take(MIB + 5)
  assert.ok(first.length >= MIB + 5 && first.length < MIB + 4096)
  buffers.give(first)
  assert.equal(buffers.take(MIB / 2 + 100), first)
  assert.notEqual(buffers.take(MIB / 2 + 100), first)
})

test('a small request does not use a large buffer', () => {
  const buffers = new RequestBuffers()
  const large = buffers.take(4 * MIB)
  buffers.give(large)
  assert.ok(buffers.take(100).length < 10_000)
  assert.equal(buffers.take(4 * MIB), large)
})

test('at most 16 MiB of idle buffers are kept', () => {
  const buffers = new RequestBuffers()
  const taken = Array.from({ length: 10 }, () => buffers.take(4 * MIB))
  for (const buffer of taken) buffers.give(buffer)
  const again = taken.map(() => buffers.take(4 * MIB))
  const reused = again.filter((buffer) => taken.includes(buffer))
  assert.ok(reused.length > 0 && reused.length <= 4, `${reused.length}`)
  // One that is longer than all kept buffers.
  const longest = buffers.take(100 * MIB)
  assert.equal(longest.length, 100 * MIB)
  buffers.give(longest)
  assert.notEqual(buffers.take(100 * MIB), longest)
})
