import { toShare } from '../counters/sliding-window.ts'
import type { Tally } from './tally.ts'

/** Windows are aligned to the Unix epoch, whatever their length. */
export function windowStart(nowSeconds: number, unitSeconds: number): number {
  return nowSeconds - (nowSeconds % unitSeconds)
}

/** From 1 to the full length of the window, which is returned in its first second. */
export function secondsUntilReset(nowSeconds: number, unitSeconds: number): number {
  return unitSeconds - (nowSeconds % unitSeconds)
}

/**
 * How much of the previous window is within one window's length of now, from 1 to its full length.
 * @param window - the start of the window that contains `nowMs`, in seconds
 */
export function toOverlapMs(nowMs: number, window: number, unitSeconds: number): number {
  return (window + unitSeconds) * 1000 - Math.floor(nowMs)
}

/** The change of a sliding counter and its result. */
export type SlidingTally = Pick<
  Tally,
  'unitSeconds' | 'most' | 'charge' | 'isRefund' | 'hits' | 'overlapMs' | 'after' | 'previous'
>

/** The seconds until the window ends, or for a sliding window that refused, until it has room again. */
export function toResetSeconds(tally: Tally, isOver: boolean, nowSeconds: number): number {
  return isOver && tally.isSliding
    ? secondsUntilRoom(tally)
    : secondsUntilReset(nowSeconds, tally.unitSeconds)
}

/**
 * The whole seconds until a sliding window that refused would allow the same hits, without any other
 * calls: from 1 to two windows. More hits than the limit are never allowed: for them it is the time until
 * the window ends.
 */
export function secondsUntilRoom(tally: SlidingTally): number {
  const room = tally.most - (tally.isRefund ? 0 : tally.charge)
  const untilReset = Math.ceil(tally.overlapMs / 1000)
  if (room < 0) return untilReset

  // The count never grows over time, so a binary search finds the moment.
  let tooEarly = 0
  let enough = untilReset + tally.unitSeconds
  while (enough - tooEarly > 1) {
    const middle = Math.floor((tooEarly + enough) / 2)
    if (countAfter(tally, middle * 1000) <= room) enough = middle
    else tooEarly = middle
  }
  return enough
}

/** The count at a later time, within two windows, without any other calls. */
function countAfter(tally: SlidingTally, laterMs: number): number {
  const { unitSeconds, hits, overlapMs, after, previous } = tally
  const counted = after - Math.max(0, hits) - toShare(previous, overlapMs, unitSeconds)
  return laterMs < overlapMs
    ? counted + toShare(previous, overlapMs - laterMs, unitSeconds)
    : toShare(counted, overlapMs + unitSeconds * 1000 - laterMs, unitSeconds)
}
