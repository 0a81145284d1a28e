import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Restarts } from '../../src/workers/restarts.ts'

test('a lost worker is replaced immediately, and with growing delays while it keeps failing', () => {
  const restarts = new Restarts()
  const delays = Array.from({ length: 10 }, () => restarts.toDelayMs(50))
  assert.deepEqual(delays, [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
  assert.equal(restarts.toDelayMs(9_999), 10_000)
  assert.equal(restarts.toDelayMs(10_000), 0)
  assert.equal(restarts.toDelayMs(50), 0)
  assert.equal(restarts.toDelayMs(50), 100)
})

test('a failure is permanent after six failed starts in a row', () => {
  const restarts = new Restarts()
  for (let count = 0; count < 5; count += 1) restarts.toDelayMs(50)
  assert.equal(restarts.hasPermanentFailure, false)
  restarts.started()
  for (let count = 0; count < 5; count += 1) restarts.toDelayMs(50)
  assert.equal(restarts.hasPermanentFailure, false)
  restarts.toDelayMs(50)
  assert.equal(restarts.hasPermanentFailure, true)
})
