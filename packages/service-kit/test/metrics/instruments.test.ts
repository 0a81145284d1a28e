import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Counter, Timer, toShownCount } from '../../src/metrics/instruments.ts'

test('a counter is shown as its last exact value once doubles are no longer exact', () => {
  const counter = new Counter()
  counter.value += 2 ** 53 - 2
  assert.equal(toShownCount(counter.value), 2 ** 53 - 2)
  counter.value += 1e300
  assert.equal(toShownCount(counter.value), 2 ** 53 - 1)
})

test('a timer has number, sum and maximum, and passes each duration to its observer', () => {
  const timer = new Timer()
  timer.observe(2)
  const observed: number[] = []
  timer.observer = (durationMs) => observed.push(durationMs)
  timer.observe(5)
  timer.observe(1)
  assert.deepEqual([timer.count, timer.sumMs, timer.maxMs, observed], [3, 8, 5, [5, 1]])
})
