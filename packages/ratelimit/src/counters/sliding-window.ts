/**
 * What the window before still counts for while `overlapMs` of it are left. Rounded down, so that who
 * never stops is let in as often as the limit says, not once less. Every store computes it like this,
 * in doubles.
 */
export function toShare(previous: number, overlapMs: number, unitSeconds: number): number {
  return Math.floor((previous * overlapMs) / (unitSeconds * 1000))
}
