import { createHash } from 'node:crypto'
import type { Increment } from '../counter-store.ts'
import { toSlidingSuffix } from '../sliding-window.ts'

/** The longest key that memcached allows, in bytes. */
const maxBytes = 250
const SPACE = 0x20
const DELETE = 0x7f
const LAST_ASCII = 0x7f

export const malformed = 'malformed: key is too long or contains invalid characters'

/**
 * `<key><window in decimal>`, the format of envoyproxy/ratelimit, or for one window of a sliding
 * counter `<key><seconds of a window>s@<window>`.
 * @param hashesLongNames - whether a name that is too long is replaced by one with a hash
 * @returns `undefined` when memcached does not allow the name: a space would end the name, and a line break
 * would end the command
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
  // A lone surrogate is replaced when it is encoded, and the reply would contain the replacement.
  const sent = name.toWellFormed()
  return Buffer.byteLength(sent) > maxBytes ? toOther(sent) : sent
}

const keptBytes = 180

/**
 * The beginning of the name, which people can read in the store, and a hash of the full name. No other name
 * ends in so many characters without a separator.
 */
function toHashed(name: string): string {
  const beginning = Buffer.from(name).toString('utf8', 0, keptBytes)
  return `${beginning}~${createHash('sha256').update(name).digest('hex')}`
}
