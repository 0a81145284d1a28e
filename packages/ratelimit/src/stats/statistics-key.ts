import type { Entry } from '../protocol/message.ts'

const suspicious = /[:|\p{Cc}]|\d\.\d/u
const ipv4 = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/g

/** Callers choose values, and so how much memory their names would take. */
const longestKey = 1_024

/**
 * Frees a path from what means something in statsd: `:`, `|` and line ends, and the dots of
 * addresses, which would look like levels. What is very long is cut.
 */
export function toStatisticsKey(whole: string): string {
  const path = whole.length > longestKey ? cut(whole) : whole
  if (!suspicious.test(path)) return path
  return path
    .replaceAll(/[:|\p{Cc}]/gu, '_')
    .replaceAll(ipv4, (address) => address.replaceAll('.', '_'))
}

/** A copy: a part of a string keeps the whole of it alive. */
function cut(path: string): string {
  return Buffer.from(path.slice(0, longestKey)).toString()
}

/** One level of a path: `key` or `key_value`. */
export function toLevel(key: string, value: string): string {
  return value === '' ? key : `${key}_${value}`
}

/**
 * For a limit that the caller sent: no rule has a say. As in envoyproxy/ratelimit, entries before the
 * first one that has a key or a value make no level.
 */
export function toOverridePath(domain: string, entries: readonly Entry[]): string {
  let path = ''
  for (const { key, value } of entries) {
    const level = toLevel(key, value)
    path = path === '' ? level : `${path}.${level}`
  }
  return `${domain}.${path}`
}
