import type { Tally } from './tally.ts'

/**
 * From where on hits count as near the limit. In float32, as envoyproxy/ratelimit computes it:
 * with doubles 0.7 of 90 would be 62 and not 63.
 */
export function nearLimitFrom(requestsPerUnit: number, ratio: number): number {
  return Math.floor(Math.fround(Math.fround(requestsPerUnit) * Math.fround(ratio)))
}

/**
 * Whether the counted hits are over the limit, with the statistics that follow from it. A hit is
 * within, near or over by where it fell, so a call that straddles a border counts on both sides.
 */
export function judge(tally: Tally, nearLimitRatio: number, isShadowMode: boolean): boolean {
  const { counters, charge, after, requestsPerUnit: most } = tally
  // A refund was no hit: nothing is counted, but the caller learns how it stands.
  if (tally.isRefund) return after > most

  if (tally.isKnownOver) {
    counters.overLimit += charge
    counters.overLimitWithLocalCache += charge
    if (isShadowMode) counters.shadowMode += charge
    return true
  }

  const before = after - charge
  if (after > most) {
    // A sliding window has counted nothing of it, so that no hit of it was within or near.
    const over = before >= most || tally.isSliding ? charge : after - most
    counters.overLimit += over
    if (isShadowMode) counters.shadowMode += over
    if (over < charge) {
      counters.nearLimit += most - Math.max(nearLimitFrom(most, nearLimitRatio), before)
    }
    return true
  }

  counters.withinLimit += charge
  const near = nearLimitFrom(most, nearLimitRatio)
  if (after > near) counters.nearLimit += before >= near ? charge : after - near
  return false
}
