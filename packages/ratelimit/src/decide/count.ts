import type { Counted, CounterStore, Increment } from '../counters/counter-store.ts'
import type { DecisionParts } from './decision.ts'
import type { Tallies, Tally } from './tally.ts'
import { toOverlapMs, windowStart } from './windows.ts'

/** Sets the window of each tally. Gives those that the store must be asked about. */
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

/** Whether the store must be asked about it. */
function open(
  { localCache }: DecisionParts,
  tally: Tally,
  nowMs: number,
  nowSeconds: number,
): boolean {
  const { counters, charge, isRefund, unitSeconds, key } = tally
  if (!isRefund) counters.totalHits += charge
  if (tally.isUnlimited) {
    if (!isRefund) counters.withinLimit += charge
    return false
  }
  const window = windowStart(nowSeconds, unitSeconds)
  tally.window = window
  if (tally.isSliding) {
    // Not for the local cache: there may be room again at any moment.
    tally.overlapMs = toOverlapMs(nowMs, window, unitSeconds)
    return true
  }
  if (localCache === undefined) return true
  if (isRefund) {
    // It may bring the counter back below the limit, so what was known no longer holds.
    localCache.delete(key, window)
    return true
  }
  tally.isKnownOver = localCache.isOver(key, window, tally.requestsPerUnit, nowSeconds)
  return !tally.isKnownOver
}

/** Asks the store to count those of the tallies that need it. */
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
  /** All of the request, with those that the store is not asked about. */
  readonly tallies: Tallies
  readonly toCount: readonly Tally[]
  readonly deadlineMs: number
  readonly counted: Counted
}

/**
 * STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: where one limit refuses the request, the counters of the
 * others stay as they are. Rules that cannot refuse by themselves, in shadow or quota mode, stop
 * nothing (5.12).
 */
export function spareOthers({ store, tallies, toCount, deadlineMs, counted }: Sparing): void {
  if (!tallies.some((tally) => tally?.isKnownOver && tally.isStrict)) {
    store.addSparing(toCount, deadlineMs, counted)
    return
  }
  for (const tally of toCount) if (!tally.isRefund) tally.hits = 0
  store.add(toCount, deadlineMs, counted)
}

/** Descriptors that are worked off before others get their turn, and counters a store is asked for at once. */
export const sliceLength = 64

/**
 * `store.add` for many counters: so many at a time, each after the answer to those before. So one
 * request never has more than its share of a connection that all requests use. Where one slice fails, the
 * others after it are not counted.
 */
export function addInSlices(
  store: Pick<CounterStore, 'add'>,
  increments: readonly Increment[],
  length: number,
  deadlineMs: number,
  counted: Counted,
): void {
  const addFrom = (start: number): void => {
    const slice = increments.slice(start, start + length)
    store.add(slice, deadlineMs, (error) => {
      const next = start + length
      if (error !== undefined || next >= increments.length) counted(error)
      else setImmediate(addFrom, next)
    })
  }
  addFrom(0)
}
