import { toShare } from '../counters/sliding-window.ts'
import type { Tally } from './tally.ts'

/** Windows are aligned to the Unix epoch, whatever their length. */
export function windowStart(nowSeconds: number, unitSeconds: number): number {
  return nowSeconds - (nowSeconds % unitSeconds)
}

/** From 1 to the whole window: at its very start all of it is left. */
export function secondsUntilReset(nowSeconds: number, unitSeconds: number): number {
  return unitSeconds - (nowSeconds % unitSeconds)
}

/**
 * How much of the window before lies within one window's length of now: from 1 to the whole of it.
 * @param window the start of the window that `nowMs` lies in, in seconds
 */
export function toOverlapMs(nowMs: number, window: number, unitSeconds: number): number {
  return (window + unitSeconds) * 1000 - Math.floor(nowMs)
}

/** What is asked of a sliding window, and what came back. */
export type SlidingTally = Pick<
  Tally,
  'unitSeconds' | 'most' | 'charge' | 'isRefund' | 'hits' | 'overlapMs' | 'after' | 'previous'
>

/** After how many seconds the window ends; of a sliding one that refused, when it has room again. */
export function toResetSeconds(tally: Tally, isOver: boolean, nowSeconds: number): number {
  return isOver && tally.isSliding
    ? secondsUntilRoom(tally)
    : secondsUntilReset(nowSeconds, tally.unitSeconds)
}

/**
 * After how many whole seconds a sliding window that refused would let the same hits in, if nobody
 * else called: from 1 to two windows. Hits that are more than the limit are never let in: for them
 * it is the time until the window ends.
 */
export function secondsUntilRoom(tally: SlidingTally): number {
  const room = tally.most - (tally.isRefund ? 0 : tally.charge)
  const untilReset = Math.ceil(tally.overlapMs / 1000)
  if (room < 0) return untilReset

  // The count never grows as time passes, so the moment is found by halving.
  let tooEarly = 0
  let enough = untilReset + tally.unitSeconds
  while (enough - tooEarly > 1) {
    const middle = Math.floor((tooEarly + enough) / 2)
    if (countAfter(tally, middle * 1000) <= room) enough = middle
    else tooEarly = middle
  }
  return enough
}

/** The count so much later, before two windows are over, if nobody else calls. */
function countAfter(tally: SlidingTally, laterMs: number): number {
  const { unitSeconds, hits, overlapMs, after, previous } = tally
  const counted = after - Math.max(0, hits) - toShare(previous, overlapMs, unitSeconds)
  return laterMs < overlapMs
    ? counted + toShare(previous, overlapMs - laterMs, unitSeconds)
    : toShare(counted, overlapMs + unitSeconds * 1000 - laterMs, unitSeconds)
}
