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
