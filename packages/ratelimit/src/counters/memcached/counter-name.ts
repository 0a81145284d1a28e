import type { Increment } from '../counter-store.ts'
import { toSlidingSuffix } from '../network/sliding-name.ts'

/** What memcached allows, in bytes (specification, Limits). */
const maxBytes = 250
const SPACE = 0x20
const DELETE = 0x7f
const LAST_ASCII = 0x7f

export const malformed = 'malformed: key is too long or contains invalid characters'

/**
 * `<key><window in decimal>`, the format of envoyproxy/ratelimit, or for one window of a sliding
 * counter `<key><seconds of a window>s@<window>`.
 * @returns `undefined` when memcached cannot have a counter of that name: a space in it would be the
 * end of the name, a line break the end of the command (specification, rule 12).
 */
export function toCounterName(
  { key, unitSeconds, overlapMs }: Increment,
  window: number,
): string | undefined {
  const name = overlapMs > 0 ? `${key}${toSlidingSuffix(unitSeconds)}@${window}` : `${key}${window}`
  if (name.length > maxBytes) return undefined
  let isAscii = true
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    if (unit <= SPACE || unit === DELETE) return undefined
    if (unit > LAST_ASCII) isAscii = false
  }
  if (isAscii) return name
  // Half a surrogate pair becomes another character on its way: the reply would name that one.
  const sent = name.toWellFormed()
  return Buffer.byteLength(sent) > maxBytes ? undefined : sent
}
