import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Backoff } from '../../../src/counters/network/backoff.ts'

test('the first attempt is after 125 ms, and the delay doubles up to 4 s', () => {
  const backoff = new Backoff()
  const delays = Array.from({ length: 7 }, () => backoff.nextMs())
  assert.deepEqual(delays, [125, 250, 500, 1_000, 2_000, 4_000, 4_000])
})

test('a connection that lasted is replaced immediately, and the delays are reset', () => {
  const backoff = new Backoff()
  backoff.nextMs()
  backoff.nextMs()
  assert.equal(backoff.isDueAtOnce(124), false)
  assert.equal(backoff.nextMs(), 500)
  assert.equal(backoff.isDueAtOnce(125), true)
  assert.equal(backoff.nextMs(), 125)
})

test('refused calls cause an attempt 250 ms after the last one', (t) => {
  const clock = { now: 1_000 }
  t.mock.method(performance, 'now', () => clock.now)
  const backoff = new Backoff()
  assert.equal(backoff.mayHurry(), true)
  backoff.noteAttempt()
  clock.now += 249
  assert.equal(backoff.mayHurry(), false)
  clock.now += 1
  assert.equal(backoff.mayHurry(), true)
})
