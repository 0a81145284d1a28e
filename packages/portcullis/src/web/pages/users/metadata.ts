import type { Metadata } from '../../../console/routes/users-upstream.ts'

/**
 * Returns the change that turns `before` into `after`. The auth server merges the keys, and removes those that
 * are null. Undefined if nothing differs.
 */
export function toMetadataChange(before: Metadata, after: Metadata): Metadata | undefined {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const put = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(before[key]) !== JSON.stringify(value),
  )
  if (removed.length === 0 && put.length === 0) return undefined
  return Object.fromEntries([...removed.map((key) => [key, null] as const), ...put])
}
