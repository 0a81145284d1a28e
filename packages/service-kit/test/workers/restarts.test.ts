import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Restarts } from '../../src/workers/restarts.ts'

test('a lost worker is replaced at once, and later and later while it is lost again', () => {
  const restarts = new Restarts()
  const delays = Array.from({ length: 10 }, () => restarts.toDelayMs(50))
  assert.deepEqual(delays, [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
  assert.equal(restarts.toDelayMs(9_999), 10_000)
  assert.equal(restarts.toDelayMs(10_000), 0)
  assert.equal(restarts.toDelayMs(50), 0)
  assert.equal(restarts.toDelayMs(50), 100)
})

test('a failure is permanent after six that could not start, unless one could in between', () => {
  const restarts = new Restarts()
  for (let count = 0; count < 5; count += 1) restarts.toDelayMs(50)
  assert.equal(restarts.hasPermanentFailure, false)
  restarts.wentWell()
  for (let count = 0; count < 5; count += 1) restarts.toDelayMs(50)
  assert.equal(restarts.hasPermanentFailure, false)
  restarts.toDelayMs(50)
  assert.equal(restarts.hasPermanentFailure, true)
})
