import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type SlidingTally, secondsUntilRoom } from '../../src/decide/windows.ts'

interface Situation {
  readonly unitSeconds: number
  readonly most: number
  readonly charge: number
  readonly current: number
  readonly previous: number
  readonly overlapMs: number
}

function toTally(situation: Situation, isRefund = false): SlidingTally {
  const { current, charge } = situation
  const hits = isRefund ? -charge : charge
  const counted = isRefund ? current : current + charge
  return { ...situation, isRefund, hits, after: counted + share(situation) }
}

function share({ previous, overlapMs, unitSeconds }: Situation): number {
  return Number((BigInt(previous) * BigInt(overlapMs)) / BigInt(unitSeconds * 1000))
}

/** The same counters a number of seconds later. */
function pass(situation: Situation, seconds: number): Situation {
  const { unitSeconds, overlapMs, current } = situation
  const left = overlapMs - seconds * 1000
  if (left > 0) return { ...situation, overlapMs: left }
  const next = left + unitSeconds * 1000
  if (next > 0) return { ...situation, previous: current, current: 0, overlapMs: next }
  return { ...situation, previous: 0, current: 0, overlapMs: unitSeconds * 1000 }
}

function isAllowed(situation: Situation): boolean {
  return situation.current + share(situation) + situation.charge <= situation.most
}

const minute = { unitSeconds: 60, most: 10, charge: 1, current: 0, previous: 0, overlapMs: 60_000 }

test('it is the second in which enough of the previous window has slid out', () => {
  const full = { ...minute, previous: 10 }
  assert.equal(secondsUntilRoom(toTally(full)), 1)
  assert.equal(secondsUntilRoom(toTally({ ...full, charge: 5 })), 25)
  // Two hits have room as soon as less than 54 seconds are left.
  assert.equal(secondsUntilRoom(toTally({ ...full, charge: 2, overlapMs: 55_000 })), 2)
  assert.equal(secondsUntilRoom(toTally({ ...full, charge: 2, overlapMs: 54_999 })), 1)
})

test('it extends into the next window if the current one alone is full', () => {
  const full = { ...minute, current: 10, overlapMs: 20_000 }
  assert.equal(secondsUntilRoom(toTally(full)), 21)
  assert.equal(secondsUntilRoom(toTally({ ...full, charge: 10 })), 75)
  assert.equal(secondsUntilRoom(toTally({ ...minute, current: 10, charge: 10 })), 115)
  const hundred = { ...minute, most: 100, current: 100, charge: 100 }
  assert.equal(secondsUntilRoom(toTally(hundred)), 120)
})

test('for hits that are never allowed it is the end of the window', () => {
  assert.equal(secondsUntilRoom(toTally({ ...minute, charge: 11, overlapMs: 12_300 })), 13)
  assert.equal(secondsUntilRoom(toTally({ ...minute, most: 0 })), 60)
})

test('after a refund it is the time until the count is within the limit', () => {
  const lowered = { ...minute, most: 5, current: 10, charge: 3, overlapMs: 20_000 }
  assert.equal(secondsUntilRoom(toTally(lowered, true)), 45)
})

test('it is the first whole second in which the same hits are allowed', () => {
  const situations = fc
    .record({
      unitSeconds: fc.constantFrom(1, 2, 7, 60),
      most: fc.integer({ min: 0, max: 30 }),
      charge: fc.integer({ min: 0, max: 30 }),
      current: fc.integer({ min: 0, max: 40 }),
      previous: fc.integer({ min: 0, max: 40 }),
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    })
    .map(({ at, ...rest }) => ({
      ...rest,
      overlapMs: rest.unitSeconds * 1000 - Math.floor(at * rest.unitSeconds * 1000),
    }))
    .filter((situation) => !isAllowed(situation) && situation.charge <= situation.most)
  fc.assert(
    fc.property(situations, (situation) => {
      let expected = 1
      while (!isAllowed(pass(situation, expected))) expected += 1
      assert.equal(secondsUntilRoom(toTally(situation)), expected)
      assert.ok(expected <= 2 * situation.unitSeconds)
    }),
    { numRuns: 500 },
  )
})

test('the longest window and the largest limit work', () => {
  const unitSeconds = 315_360_000
  const most = 4_294_967_295
  const full = { unitSeconds, most, current: most, previous: most }
  const seconds = (more: { charge: number; overlapMs: number }) =>
    secondsUntilRoom(toTally({ ...full, ...more }))
  assert.equal(seconds({ charge: 14, overlapMs: unitSeconds * 1000 }), unitSeconds + 1)
  assert.equal(seconds({ charge: most, overlapMs: 1000 }), unitSeconds + 1)
  assert.equal(seconds({ charge: most, overlapMs: 1 }), unitSeconds)
})
