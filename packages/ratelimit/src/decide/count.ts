import {
  type Counted,
  type CounterStore,
  type Increment,
  keyOf,
} from '../counters/counter-store.ts'
import type { DecisionParts } from './decision.ts'
import type { Tallies, Tally } from './tally.ts'
import { toOverlapMs, windowStart } from './windows.ts'

/** Sets the window of each tally. Returns the tallies that the store must count. */
export function openTallies(
  parts: DecisionParts,
  tallies: Tallies,
  nowMs: number,
  nowSeconds: number,
): Tally[] {
  const toCount: Tally[] = []
  for (let i = 0; i < tallies.length; i += 1) {
    const tally = tallies[i]
    if (tally !== undefined && open(parts, tally, nowMs, nowSeconds)) toCount.push(tally)
  }
  return toCount
}

/** Returns whether the store must count the tally. */
function open(
  { localCache }: DecisionParts,
  tally: Tally,
  nowMs: number,
  nowSeconds: number,
): boolean {
  const { counters, charge, isRefund, unitSeconds } = tally
  if (!isRefund) counters.totalHits += charge
  if (tally.isUnlimited) {
    if (!isRefund) counters.withinLimit += charge
    return false
  }
  const window = windowStart(nowSeconds, unitSeconds)
  tally.window = window
  if (tally.isSliding) {
    // The local cache does not apply to sliding windows, which may have room again at any moment.
    tally.overlapMs = toOverlapMs(nowMs, window, unitSeconds)
    return true
  }
  if (localCache === undefined) return true
  if (isRefund) {
    // A refund may bring the counter back below the limit, so the cached entry is no longer valid.
    localCache.delete(keyOf(tally), window)
    return true
  }
  tally.isKnownOver = localCache.isOver(keyOf(tally), window, tally.requestsPerUnit, nowSeconds)
  return !tally.isKnownOver
}

/** Lets the store count the tallies that need it. */
export function addTallies(
  { settings, store }: DecisionParts,
  tallies: Tallies,
  toCount: readonly Tally[],
  deadlineMs: number,
  counted: Counted,
): void {
  if (settings.stopsIncrementWhenOver) {
    spareOthers({ store, tallies, toCount, deadlineMs, counted })
  } else if (toCount.length > sliceLength) {
    addInSlices(store, toCount, sliceLength, deadlineMs, counted)
  } else {
    store.add(toCount, deadlineMs, counted)
  }
}

export interface Sparing {
  readonly store: CounterStore
  /** All tallies of the request, including those that the store does not count. */
  readonly tallies: Tallies
  readonly toCount: readonly Tally[]
  readonly deadlineMs: number
  readonly counted: Counted
}

/**
 * STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: if one limit refuses the request, the counters of the other
 * limits stay unchanged. Rules that cannot refuse on their own, in shadow or quota mode, have no such effect.
 */
function spareOthers({ store, tallies, toCount, deadlineMs, counted }: Sparing): void {
  if (!tallies.some((tally) => tally?.isKnownOver && tally.isStrict)) {
    store.addSparing(toCount, deadlineMs, counted)
    return
  }
  for (const tally of toCount) if (!tally.isRefund) tally.hits = 0
  store.add(toCount, deadlineMs, counted)
}

/**
 * The number of descriptors that are processed in one turn of the event loop, and of counters in one call of
 * the store.
 */
export const sliceLength = 64

/**
 * Calls `store.add` for many counters in slices, one after the other, so that a single request cannot
 * occupy the connection that all requests share. If a slice fails, the slices after it are not counted.
 *
 * A store that counts at once has no connection, and gets all slices in the same turn of the event loop.
 * Otherwise the window of a request could end between two slices, and its counters with it, so that the
 * rest of the request would be counted from 0.
 */
export function addInSlices(
  store: Pick<CounterStore, 'add'>,
  increments: readonly Increment[],
  length: number,
  deadlineMs: number,
  counted: Counted,
): void {
  const addFrom = (start: number): void => {
    let next = start
    let isCountedAtOnce: boolean
    do {
      const slice = increments.slice(next, next + length)
      next += length
      const following = next
      let hasReturned = false
      isCountedAtOnce = false
      store.add(slice, deadlineMs, (error) => {
        if (error !== undefined || following >= increments.length) counted(error)
        else if (hasReturned) setImmediate(addFrom, following)
        else isCountedAtOnce = true
      })
      hasReturned = true
    } while (isCountedAtOnce)
  }
  addFrom(0)
}
