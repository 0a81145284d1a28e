import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Backoff } from '../../../src/counters/network/backoff.ts'

test('attempts come after 125 ms, and then twice as late each time up to 4 s', () => {
  const backoff = new Backoff()
  const delays = Array.from({ length: 7 }, () => backoff.nextMs())
  assert.deepEqual(delays, [125, 250, 500, 1_000, 2_000, 4_000, 4_000])
})

test('a connection that lasted is replaced at once, and the delays begin anew', () => {
  const backoff = new Backoff()
  backoff.nextMs()
  backoff.nextMs()
  assert.equal(backoff.isDueAtOnce(124), false)
  assert.equal(backoff.nextMs(), 500)
  assert.equal(backoff.isDueAtOnce(125), true)
  assert.equal(backoff.nextMs(), 125)
})

test('calls that are refused bring an attempt forward a quarter of a second after the last', (t) => {
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
