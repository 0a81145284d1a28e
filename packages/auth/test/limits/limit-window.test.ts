import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toLimitWindow } from '../../src/limits/shared/grpc-limits.ts'

const [second, minute, hour, day] = [1, 2, 3, 4]
const toLimit = (most: number, burst: number, periodMs = 300_000) => ({ most, burst, periodMs })
/** Seven minutes after a full hour. */
const nowMs = Date.UTC(2030, 0, 1, 12, 7)

test('a limit becomes a window as long as its bucket takes to fill', () => {
  const cases = [
    [toLimit(30, 30), { requests: 30, unit: hour, part: 1, secondsLeft: 180 }],
    [toLimit(150, 30), { requests: 30, unit: minute, part: undefined, secondsLeft: 60 }],
    [toLimit(30, 30, 3_600_000), { requests: 30, unit: hour, part: undefined, secondsLeft: 3_180 }],
    [toLimit(1, 1, 86_400_000), { requests: 1, unit: day, part: undefined, secondsLeft: 42_780 }],
    [toLimit(1e6, 30), { requests: 3_333, unit: second, part: undefined, secondsLeft: 1 }],
  ] as const
  for (const [limit, window] of cases) assert.deepEqual(toLimitWindow(limit, nowMs), window)
})

test('for every limit, the window has the rate of the limit and ends', () => {
  const limits = fc.record({
    most: fc.integer({ min: 1, max: 10_000 }),
    burst: fc.integer({ min: 1, max: 100 }),
    nowSeconds: fc.integer({ min: 0, max: 4_000_000_000 }),
  })
  fc.assert(
    fc.property(limits, ({ most, burst, nowSeconds }) => {
      const limit = toLimit(most, Math.min(most, burst))
      const { requests, secondsLeft, part } = toLimitWindow(limit, nowSeconds * 1_000)
      const after = toLimitWindow(limit, (nowSeconds + secondsLeft) * 1_000)
      assert.ok(requests >= 1 && Number.isInteger(requests))
      assert.ok(secondsLeft >= 1 && secondsLeft <= 300)
      if (part !== undefined) assert.notEqual(after.part, part)
      const windowSeconds = Math.max(1, Math.ceil((limit.burst * 300) / most))
      assert.ok(requests <= (most * windowSeconds) / 300 || requests === 1)
    }),
  )
})
