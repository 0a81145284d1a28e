import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TimerBuffer } from '../../src/metrics/timer-buffer.ts'

test('a full buffer keeps the first durations and drops new ones', () => {
  let calls = 0
  const buffer = new TimerBuffer('t', () => {
    calls += 1
  })
  for (let i = 0; i < 200_000; i += 1) buffer.add(i)
  const taken = buffer.take()
  assert.equal(taken.length, 65_536)
  assert.equal(taken[65_535], 65_535)
  buffer.add(7)
  assert.deepEqual([...buffer.take()], [7])
  assert.equal(calls, 2)
})
