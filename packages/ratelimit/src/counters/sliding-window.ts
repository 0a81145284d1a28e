/**
 * The share of the previous window that still counts while `overlapMs` of it are left. It is rounded down,
 * so that a client that never stops is allowed as often as the limit, not once less. Every store computes
 * it in the same way, in doubles.
 */
export function toShare(previous: number, overlapMs: number, unitSeconds: number): number {
  return Math.floor((previous * overlapMs) / (unitSeconds * 1000))
}

/**
 * The suffix of the name of a sliding counter, in place of the window of a fixed one. The name of a fixed
 * counter ends in an underscore and digits, so it is always different. If the unit of a rule changes, its
 * counters start at 0, because windows of different lengths cannot be combined.
 */
export function toSlidingSuffix(unitSeconds: number): string {
  return `${unitSeconds}s`
}
