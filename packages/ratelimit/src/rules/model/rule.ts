import type { JsonObject } from '../../protocol/message.ts'
import type { RuleCounters } from '../../stats/rule-counters.ts'

/**
 * One rule as a source wrote it: plain data, on its way to being packed.
 * A set of rules is a flat list in depth-first order; `parent` ties it together.
 */
export interface RuleRecord {
  /** The index of the rule this one is nested in; -1 at the top of its domain. */
  readonly parent: number
  readonly domain: string
  readonly key: string
  /** Empty: any value. */
  readonly value: string
  readonly limit: LimitRecord | undefined
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly detailedMetric: boolean
  readonly valueToMetric: boolean
  readonly shareThreshold: boolean
  readonly metadata: JsonObject | undefined
  /** Where it stands, for people. */
  readonly place: Place
}

/** How hits are counted over time. A registry rather than a flag: each has a name in the files. */
export const algorithms = ['fixed_window', 'sliding_window'] as const
export type Algorithm = (typeof algorithms)[number]

export interface LimitRecord {
  readonly requestsPerUnit: number
  /** The name of a unit; undefined exactly when the limit is unlimited. */
  readonly unit: Unit['name'] | undefined
  /** How many units a window lasts; 1 unless the file says otherwise. */
  readonly unitMultiplier: number
  readonly algorithm: Algorithm
  readonly unlimited: boolean
  readonly name: string
  readonly replaces: readonly string[]
}

/** Where something is written. */
export interface Place {
  /** The name of the file. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
}

/** Everything one load found. */
export interface RuleSet {
  /** In the order of the files; a domain without rules is a domain too. */
  readonly domains: readonly string[]
  /** All rules, each after the one it is nested in. */
  readonly rules: readonly RuleRecord[]
}

/** A limit as decisions use it: of a rule, or sent by the caller. */
export interface Limit {
  readonly requestsPerUnit: number
  /** Undefined exactly when the limit is unlimited. */
  readonly unit: Unit | undefined
  /** How long a window lasts: the unit, or several of them. 0 when the limit is unlimited. */
  readonly windowSeconds: number
  readonly algorithm: Algorithm
  readonly unlimited: boolean
  readonly name: string
  readonly replaces: readonly string[]
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly metadata: JsonObject | undefined
  /** `domain.key[_value].key[_value]…`, for people: not cleaned for statistics. */
  readonly path: string
}

/** What one descriptor of a request met. */
export interface Match {
  readonly limit: Limit
  readonly counters: RuleCounters
  /**
   * Text that stands in the cache key in place of the request's value, by level: the pattern where
   * the level was matched through `share_threshold`. Undefined where no level was.
   */
  readonly sharedValues: readonly (string | undefined)[] | undefined
}

/** A unit of time a limit counts in. Windows are aligned to the Unix epoch. */
export interface Unit {
  /** As in rule files, in capitals. */
  readonly name: 'SECOND' | 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR'
  /** The number in `envoy.type.v3.RateLimitUnit` and in `RateLimitResponse.RateLimit.Unit`. */
  readonly wire: number
  /** How long the unit lasts. */
  readonly seconds: number
}

/** In the order of their length. Week, month and year are extensions of the four specified ones. */
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

/** Any letter case, as in the YAML files. */
export function unitByName(name: string): Unit | undefined {
  return byName.get(name.toUpperCase())
}

export function unitByWire(wire: number): Unit | undefined {
  return byWire[wire]
}

/** `5 per minute`, `5 every 10 minutes` or `unlimited`, for people. */
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

/** As it is written in rule files. */
function toUnitText({ name }: Unit): string {
  return name.toLowerCase()
}
