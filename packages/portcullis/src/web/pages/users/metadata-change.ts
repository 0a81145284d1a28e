import type { Metadata } from '../../../console/routes/users-records.ts'

/**
 * What to send so that `after` results: the auth server puts in the keys that it is sent, keeps the
 * others, and takes out those that are null. Undefined: nothing is different.
 */
export function toMetadataChange(before: Metadata, after: Metadata): Metadata | undefined {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  const put = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(before[key]) !== JSON.stringify(value),
  )
  if (removed.length === 0 && put.length === 0) return undefined
  return Object.fromEntries([...removed.map((key) => [key, null] as const), ...put])
}
