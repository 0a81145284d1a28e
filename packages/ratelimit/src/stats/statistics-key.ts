import type { Entry } from '../protocol/message.ts'

const suspicious = /[:|\p{Cc}]|\d\.\d/u
const ipv4 = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/g

/** Limits the memory that names take, because clients choose the values in them. */
const longestKey = 1_024

/**
 * Replaces the characters of a path that have a meaning in statsd: `:`, `|` and line breaks, and the dots in
 * IP addresses, which would look like levels. Long paths are truncated.
 */
export function toStatisticsKey(whole: string): string {
  const path = whole.length > longestKey ? cutText(whole, longestKey) : whole
  if (!suspicious.test(path)) return path
  return path
    .replaceAll(/[:|\p{Cc}]/gu, '_')
    .replaceAll(ipv4, (address) => address.replaceAll('.', '_'))
}

/** Returns a copy, because a substring keeps the whole string in memory. */
export function cutText(text: string, length: number): string {
  return Buffer.from(text.slice(0, length)).toString()
}

/** One level of a path: `key` or `key_value`. */
export function toLevel(key: string, value: string): string {
  return value === '' ? key : `${key}_${value}`
}

/**
 * The path of a limit in a request, which is independent of the rules. As in envoyproxy/ratelimit, entries
 * before the first one that has a key or a value do not add a level.
 */
export function toOverridePath(domain: string, entries: readonly Entry[]): string {
  let path = ''
  for (const { key, value } of entries) {
    const level = toLevel(key, value)
    path = path === '' ? level : `${path}.${level}`
  }
  return `${domain}.${path}`
}
