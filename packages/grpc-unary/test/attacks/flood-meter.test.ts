import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FloodMeter, flood } from '../../src/http2/flood-meter.ts'
import { defaultLimits } from '../../src/limits.ts'

const START_MS = 1_800_000_000_000

/** How many of a kind are allowed at that time before the limit is exceeded. */
function countUntilStop(
  meter: FloodMeter,
  kind: (typeof flood)[keyof typeof flood],
  nowMs: number,
) {
  let count = 0
  while (meter.exceeded(kind, nowMs) === undefined) count++
  return count
}

test('the counts are reset every second', () => {
  const meter = new FloodMeter(defaultLimits)
  assert.equal(countUntilStop(meter, flood.reset, START_MS), defaultLimits.resetsPerSecond)
  assert.equal(meter.exceeded(flood.reset, START_MS + 999), 'resetsPerSecond')
  assert.equal(countUntilStop(meter, flood.reset, START_MS + 1000), defaultLimits.resetsPerSecond)
})

test('calls and responses raise the limits of the frames that accompany them', () => {
  const meter = new FloodMeter(defaultLimits)
  meter.exceeded(flood.settings, START_MS)
  meter.calls = 100
  meter.sentBytes = 512_000
  const { pingsPerSecond, prioritiesPerSecond, windowUpdatesPerSecond } = defaultLimits
  assert.equal(countUntilStop(meter, flood.ping, START_MS), pingsPerSecond + 400 + 1000)
  assert.equal(countUntilStop(meter, flood.priority, START_MS), prioritiesPerSecond + 400)
  assert.equal(
    countUntilStop(meter, flood.windowUpdate, START_MS),
    windowUpdatesPerSecond + 400 + 1000,
  )
  assert.equal(countUntilStop(meter, flood.reset, START_MS), defaultLimits.resetsPerSecond)
})

test('bytes that are discarded are counted per second', () => {
  const meter = new FloodMeter({ ...defaultLimits, discardedBytesPerSecond: 100 })
  assert.equal(meter.discarded(60, START_MS), undefined)
  assert.equal(meter.discarded(40, START_MS), undefined)
  assert.equal(meter.discarded(1, START_MS + 999), 'discardedBytesPerSecond')
  assert.equal(meter.discarded(100, START_MS + 1000), undefined)
})
