import type { Entry } from '../protocol/message.ts'
import type { RuleNode } from './tree.ts'

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

/** For a limit that the caller sent: no rule has a say. */
export function toOverridePath(domain: string, entries: readonly Entry[]): string {
  return `${domain}.${entries.map(({ key, value }) => toLevel(key, value)).join('.')}`
}

/**
 * For a rule whose statistics are told apart by the request's values: `detailed_metric` on the
 * rule itself names the values of all levels, `value_to_metric` names that of its own level.
 * @param entries as many as the rule is deep.
 */
export function toRequestPath(leaf: RuleNode, entries: readonly Entry[]): string {
  const { domain, detailedMetric } = leaf
  let path = ''
  let node: RuleNode | undefined = leaf
  for (let i = entries.length - 1; node !== undefined; i -= 1) {
    path = `.${toRequestLevel(node, entries[i]?.value ?? '', detailedMetric)}${path}`
    node = node.parent
  }
  return domain + path
}

function toRequestLevel(node: RuleNode, requested: string, isDetailed: boolean): string {
  const { key, value, valueToMetric } = node
  // A shared threshold has one counter, so its statistics have one name.
  if (node.isShared) return toLevel(key, value)
  if (isDetailed) return `${key}_${requested}`
  return toLevel(key, valueToMetric ? requested : value)
}
