import { findSimilarName } from '@portcullis/service-kit/text/similar-names'
import {
  type Algorithm,
  longestWindowSeconds,
  type Unit,
  unitByName,
  units,
} from '../../rules/model/rule.ts'

/**
 * Limits by the key they are counted by.
 *
 * @example
 * ```ts
 * import type { Limits } from '@portcullis/ratelimit'
 *
 * const limits = {
 *   ip: '100/minute',
 *   apiKey: { limit: '1000/hour', algorithm: 'sliding_window', values: { internal: 'unlimited' } },
 *   plan: { values: { free: { per: { user: '10/minute' } }, pro: { per: { user: '500/minute' } } } },
 * } satisfies Limits
 * ```
 */
export interface Limits {
  /** The limit for each value of the key. */
  readonly [key: string]: LimitDefinition
}

/** A limit as text, or as an object with more options. */
export type LimitDefinition = LimitText | LimitObject

/** A limit with options. It has a `limit`, `values`, `per`, or several of them. */
export interface LimitObject {
  /** The limit for each value of the key that `values` does not list. Default: none. */
  readonly limit?: LimitText | undefined
  /**
   * `fixed_window` (the default) starts at 0 with each window; `sliding_window` also counts the share of the
   * previous window that is still within one window's length.
   */
  readonly algorithm?: Algorithm | undefined
  /** Whether the limit only counts and never refuses. Default: false. */
  readonly shadowMode?: boolean | undefined
  /** Whether the limit refuses only together with all other limits in quota mode. Default: false. */
  readonly quotaMode?: boolean | undefined
  /** A name that other limits can list in `replaces`. Default: none. */
  readonly name?: string | undefined
  /** The names of limits that are not counted when this one applies. Default: none. */
  readonly replaces?: readonly string[] | undefined
  /** Different limits for certain values of the key; `*` in a value matches any text. Default: none. */
  readonly values?: { readonly [value: string]: LimitDefinition } | undefined
  /** Limits by a further key, counted for each pair of values. Default: none. */
  readonly per?: Limits | undefined
}

/** The keys of limits, including those in `per` at any depth. */
export type LimitKeys<Given> = Given extends Limits
  ? { [Key in keyof Given & string]: Key | KeysWithin<Given[Key]> }[keyof Given & string]
  : never

type KeysWithin<Definition> = Definition extends string
  ? never
  : KeysOfPer<Definition> | KeysOfValues<Definition>

type KeysOfPer<Definition> = Definition extends { readonly per: infer Per } ? LimitKeys<Per> : never

type KeysOfValues<Definition> = Definition extends { readonly values: infer Values }
  ? { [Value in keyof Values]: KeysWithin<Values[Value]> }[keyof Values]
  : never

/**
 * Describes a request: a value for each key that applies to it. Keys whose value is `undefined` or `null` are
 * skipped. The order does not matter.
 */
export type KeyValues<Keys extends string = string> = {
  readonly [Key in Keys]?: string | number | bigint | undefined | null
}

/** A unit of time. Windows of months have 30 days, those of years 365. */
export type LimitUnit = Lowercase<Unit['name']>

/**
 * The number of requests that are allowed in a time: `'100/minute'`, `'5/10 minutes'`, or `'unlimited'`.
 */
export type LimitText = 'unlimited' | `${number}/${LimitUnit}` | `${number}/${number} ${LimitUnit}s`

export interface ParsedLimit {
  readonly requestsPerUnit: number
  /** Undefined if the limit is unlimited. */
  readonly unit: Unit | undefined
  readonly unitMultiplier: number
}

const pattern = /^(?<requests>[\d_]+)\s*(?:\/|\sper\s)\s*(?:(?<count>\d+)\s+)?(?<unit>[a-z]+)$/i

/** @throws TypeError whose message says what to write instead */
export function parseLimitText(text: string): ParsedLimit {
  const written = text.trim()
  if (written === 'unlimited') return { requestsPerUnit: 0, unit: undefined, unitMultiplier: 1 }
  const groups = pattern.exec(written)?.groups
  if (groups === undefined) {
    const suggestion = findSimilarName(written, ['unlimited']) ? " Did you mean 'unlimited'?" : ''
    throw new TypeError(
      `'${text}' is not a limit: write '100/minute' or '5/10 minutes'.${suggestion}`,
    )
  }
  const requestsPerUnit = Number(groups['requests']?.replaceAll('_', ''))
  if (!(requestsPerUnit < 2 ** 32)) {
    throw new TypeError(`'${text}' is not a limit: it can be at most 4294967295 requests`)
  }
  const name = groups['unit'] ?? ''
  const unit = unitByName(name) ?? unitByName(name.replace(/s$/i, ''))
  if (unit === undefined) throw new TypeError(`'${text}' is not a limit: ${describeUnit(name)}`)
  const unitMultiplier = Number(groups['count'] ?? 1)
  const windowSeconds = unit.seconds * unitMultiplier
  if (unitMultiplier < 1 || windowSeconds > longestWindowSeconds) {
    throw new TypeError(`'${text}' is not a limit: a window lasts from 1 second to 10 years`)
  }
  return { requestsPerUnit, unit, unitMultiplier }
}

/** @throws TypeError when the name is not a unit */
export function parseUnit(name: unknown): Unit {
  const unit = typeof name === 'string' ? unitByName(name) : undefined
  if (unit === undefined) throw new TypeError(describeUnit(String(name)))
  return unit
}

const unitNames = units.map(({ name }) => name.toLowerCase())

function describeUnit(name: string): string {
  const meant = findSimilarName(name.toLowerCase(), unitNames)
  const suggestion = meant === undefined ? '' : ` Did you mean '${meant}'?`
  return `'${name}' is not a unit; units are ${unitNames.join(', ')}.${suggestion}`
}
