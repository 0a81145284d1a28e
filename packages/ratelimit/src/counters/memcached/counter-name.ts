import { createHash } from 'node:crypto'
import type { Increment } from '../counter-store.ts'
import { toSlidingSuffix } from '../sliding-window.ts'

/** What memcached allows, in bytes (specification, Limits). */
const maxBytes = 250
const SPACE = 0x20
const DELETE = 0x7f
const LAST_ASCII = 0x7f

export const malformed = 'malformed: key is too long or contains invalid characters'

/**
 * `<key><window in decimal>`, the format of envoyproxy/ratelimit, or for one window of a sliding
 * counter `<key><seconds of a window>s@<window>`.
 * @param hashesLongNames whether a name that is too long is replaced by one with a hash.
 * @returns `undefined` when memcached cannot have a counter of that name: a space in it would be the
 * end of the name, a line break the end of the command (specification, rule 12).
 */
export function toCounterName(
  { key, unitSeconds, overlapMs }: Increment,
  window: number,
  hashesLongNames: boolean,
): string | undefined {
  const name = overlapMs > 0 ? `${key}${toSlidingSuffix(unitSeconds)}@${window}` : `${key}${window}`
  const toOther = (text: string) => (hashesLongNames ? toHashed(text) : undefined)
  if (name.length > maxBytes && !hashesLongNames) return undefined
  let isAscii = true
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    if (unit <= SPACE || unit === DELETE) return undefined
    if (unit > LAST_ASCII) isAscii = false
  }
  if (isAscii) return name.length > maxBytes ? toOther(name) : name
  // Half a surrogate pair becomes another character on its way: the reply would name that one.
  const sent = name.toWellFormed()
  return Buffer.byteLength(sent) > maxBytes ? toOther(sent) : sent
}

const keptBytes = 180

/**
 * The beginning, for people who look into the store, and a hash of the whole. No other name ends in so
 * many characters without a separator.
 */
function toHashed(name: string): string {
  const beginning = Buffer.from(name).toString('utf8', 0, keptBytes)
  return `${beginning}~${createHash('sha256').update(name).digest('hex')}`
}
