import type { Descriptor } from '../protocol/message.ts'

/** Fixed windows, aligned to the Unix epoch. */
export function windowStart(nowSeconds: number, unitSeconds: number): number {
  return nowSeconds - (nowSeconds % unitSeconds)
}

/** From 1 to the whole unit: at the very start of a window all of it is left. */
export function secondsUntilReset(nowSeconds: number, unitSeconds: number): number {
  return unitSeconds - (nowSeconds % unitSeconds)
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
