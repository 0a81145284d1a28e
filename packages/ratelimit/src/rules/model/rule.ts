import type { JsonObject } from '../../protocol/message.ts'
import type { RuleCounters } from '../../stats/rule-counters.ts'

/**
 * One rule as read from a source: plain data, before it is packed.
 * A set of rules is a flat list in depth-first order, in which `parent` refers to an index.
 */
export interface RuleRecord {
  /** The index of the parent rule; -1 at the top level of a domain. */
  readonly parent: number
  readonly domain: string
  readonly key: string
  /** Empty for any value. */
  readonly value: string
  readonly limit: LimitRecord | undefined
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly detailedMetric: boolean
  readonly valueToMetric: boolean
  readonly shareThreshold: boolean
  readonly metadata: JsonObject | undefined
  /** The place in the file, for messages. */
  readonly place: Place
}

/** How hits are counted over time. The names are those in rule files. */
export const algorithms = ['fixed_window', 'sliding_window'] as const
export type Algorithm = (typeof algorithms)[number]

export interface LimitRecord {
  readonly requestsPerUnit: number
  /** The name of a unit; undefined exactly when the limit is unlimited. */
  readonly unit: Unit['name'] | undefined
  /** The length of a window in units; default: 1. */
  readonly unitMultiplier: number
  readonly algorithm: Algorithm
  readonly unlimited: boolean
  readonly name: string
  readonly replaces: readonly string[]
}

/** A place in a file. */
export interface Place {
  /** The name of the file. */
  readonly file: string
  /** Starts at 1. */
  readonly line: number
  /** Starts at 1. */
  readonly column: number
}

/** The result of one load. */
export interface RuleSet {
  /** In the order of the files, including domains without rules. */
  readonly domains: readonly string[]
  /** All rules, each after its parent. */
  readonly rules: readonly RuleRecord[]
}

/** A limit for decisions, from a rule or from a request. */
export interface Limit {
  readonly requestsPerUnit: number
  /** Undefined exactly when the limit is unlimited. */
  readonly unit: Unit | undefined
  /** The length of a window: one unit or several. 0 when the limit is unlimited. */
  readonly windowSeconds: number
  readonly algorithm: Algorithm
  readonly unlimited: boolean
  readonly name: string
  readonly replaces: readonly string[]
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly metadata: JsonObject | undefined
  /**
   * `domain.key[_value].key[_value]…`, for messages; special characters are not replaced as in statistics.
   */
  readonly path: string
}

/** The match of one descriptor of a request. */
export interface Match {
  readonly limit: Limit
  readonly counters: RuleCounters
  /**
   * The text that replaces the value of the request in the cache key, by level: the pattern if the level has
   * `share_threshold`. Undefined if no level has it.
   */
  readonly sharedValues: readonly (string | undefined)[] | undefined
}

/** A unit of time for windows, which are aligned to the Unix epoch. */
export interface Unit {
  /** The name in rule files, in upper case. */
  readonly name: 'SECOND' | 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR'
  /** The number in `envoy.type.v3.RateLimitUnit` and in `RateLimitResponse.RateLimit.Unit`. */
  readonly wire: number
  /** The length of the unit in seconds. */
  readonly seconds: number
}

/** Ordered by length. Week, month and year are extensions of envoyproxy/ratelimit. */
export const units: readonly Unit[] = [
  { name: 'SECOND', wire: 1, seconds: 1 },
  { name: 'MINUTE', wire: 2, seconds: 60 },
  { name: 'HOUR', wire: 3, seconds: 3_600 },
  { name: 'DAY', wire: 4, seconds: 86_400 },
  { name: 'WEEK', wire: 7, seconds: 604_800 },
  { name: 'MONTH', wire: 5, seconds: 2_592_000 },
  { name: 'YEAR', wire: 6, seconds: 31_536_000 },
]

/** Ten years. */
export const longestWindowSeconds = 315_360_000

const byName = new Map(units.map((unit) => [unit.name as string, unit]))
const byWire: (Unit | undefined)[] = []
for (const unit of units) byWire[unit.wire] = unit

/** Finds a unit by its name in any case. */
export function unitByName(name: string): Unit | undefined {
  return byName.get(name.toUpperCase())
}

export function unitByWire(wire: number): Unit | undefined {
  return byWire[wire]
}

/** Formats a limit as `5 per minute`, `5 every 10 minutes` or `unlimited`. */
export function toLimitText(
  limit: Pick<Limit, 'requestsPerUnit' | 'unit' | 'windowSeconds'>,
): string {
  const { requestsPerUnit, unit, windowSeconds } = limit
  if (unit === undefined) return 'unlimited'
  const count = windowSeconds / unit.seconds
  const name = toUnitText(unit)
  return count === 1
    ? `${requestsPerUnit} per ${name}`
    : `${requestsPerUnit} every ${count} ${name}s`
}

/** The name in rule files. */
function toUnitText({ name }: Unit): string {
  return name.toLowerCase()
}
