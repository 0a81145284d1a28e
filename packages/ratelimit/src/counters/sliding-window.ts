/**
 * What the window before still counts for while `overlapMs` of it are left. Rounded down, so that who
 * never stops is let in as often as the limit says, not once less. Every store computes it like this,
 * in doubles.
 */
export function toShare(previous: number, overlapMs: number, unitSeconds: number): number {
  return Math.floor((previous * overlapMs) / (unitSeconds * 1000))
}

/**
 * What stands behind the key where the windows of a sliding counter are kept, in place of the window
 * of a fixed one. The name of a fixed one ends in an underscore and digits, so none is like it. A
 * rule that gets another unit starts anew: windows of different lengths cannot be added up.
 */
export function toSlidingSuffix(unitSeconds: number): string {
  return `${unitSeconds}s`
}
