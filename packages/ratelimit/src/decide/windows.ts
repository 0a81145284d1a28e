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
