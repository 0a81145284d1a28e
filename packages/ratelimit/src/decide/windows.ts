import type { Descriptor } from '../protocol/message.ts'

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

/**
 * The name of a counter up to its window, byte for byte that of envoyproxy/ratelimit, so that old
 * and new servers can share a store during a migration.
 */
export function toCounterKey(
  prefix: string,
  domain: string,
  { entries }: Descriptor,
  sharedValues: readonly (string | undefined)[] | undefined,
): string {
  let key = `${prefix}${domain}_`
  for (let i = 0; i < entries.length; i += 1) {
    const entry = entries[i]
    if (entry === undefined) continue
    const value = sharedValues === undefined ? entry.value : (sharedValues[i] ?? entry.value)
    key += `${entry.key}_${value}_`
  }
  return key
}
