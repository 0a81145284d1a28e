import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countSignIns, stepMs } from '../../../src/console/overview/sign-ins.ts'

const now = 1_800_000_000_000
const one = { succeeded: 1, failed: 0 }

test('a sign-in counts for the minute after it, and not longer', () => {
  const signIns = countSignIns()
  signIns.setKnownFrom(now - 86_400_000)
  signIns.add(now - 90_000, { succeeded: 2, failed: 1 })
  signIns.add(now, one)
  const { succeeded, failed, current, stepSeconds } = signIns.read('15m', now)
  assert.equal(succeeded.length * stepSeconds, 15 * 60)
  assert.deepEqual(current, { succeeded: 1, failed: 0 })
  const ago = (ms: number) => [succeeded, failed].map((points) => points.at(-1 - ms / stepMs))
  assert.deepEqual(ago(0), [1, 0])
  assert.deepEqual(ago(90_000), [2, 1])
  assert.deepEqual(ago(100_000), [0, 0])
  assert.deepEqual(ago(40_000), [2, 1])
  assert.deepEqual(ago(30_000), [0, 0])
})

test('longer ranges have averages per minute, and older counts are dropped', () => {
  const signIns = countSignIns()
  signIns.setKnownFrom(now - 2 * 86_400_000)
  signIns.add(now - 2 * 86_400_000, one)
  signIns.add(now - 86_400_000 + stepMs, { succeeded: 30, failed: 0 })
  const day = signIns.read('24h', now)
  assert.equal(day.succeeded.length * day.stepSeconds, 86_400)
  assert.deepEqual([day.succeeded[0], Math.max(...day.succeeded.map(Number))], [2, 2])
  const hour = signIns.read('1h', now)
  assert.deepEqual([hour.succeeded.length, hour.stepSeconds], [60, 60])
  assert.equal(Math.max(...hour.succeeded.map(Number)), 0)
})

test('there are no points for times that were not read', () => {
  const signIns = countSignIns()
  assert.equal(signIns.read('15m', now).current, undefined)
  signIns.setKnownFrom(now - 120_000)
  const { succeeded } = signIns.read('15m', now)
  assert.equal(succeeded.at(0), null)
  assert.equal(succeeded.at(-1), 0)
  assert.equal(succeeded.filter((point) => point !== null).length, 8)
})
