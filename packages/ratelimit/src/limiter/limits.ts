import type { Algorithm } from '../rules/model/rule.ts'
import type { LimitText } from './limit-text.ts'

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

/** A limit: its text alone, or with more about it. */
export type LimitDefinition = LimitText | LimitObject

/** A limit with more about it than its text. It has a `limit`, `values`, `per`, or several of them. */
export interface LimitObject {
  /** For each value of the key that `values` does not name. Default: none. */
  readonly limit?: LimitText | undefined
  /**
   * `fixed_window` (the default) starts to count anew with each window; `sliding_window` also counts
   * the share of the window before that is still within one window's length.
   */
  readonly algorithm?: Algorithm | undefined
  /** Whether the limit is counted and never refuses. Default: false. */
  readonly shadowMode?: boolean | undefined
  /** Whether it refuses only together with all other limits in quota mode. Default: false. */
  readonly quotaMode?: boolean | undefined
  /** For `replaces` of others. Default: none. */
  readonly name?: string | undefined
  /** The names of limits that do not count where this one applies. Default: none. */
  readonly replaces?: readonly string[] | undefined
  /** Other limits for certain values of the key; `*` in a value stands for any text. Default: none. */
  readonly values?: { readonly [value: string]: LimitDefinition } | undefined
  /** Limits by a further key, counted for each pair of values. Default: none. */
  readonly per?: Limits | undefined
}

/** The keys of limits, with those that `per` names at any depth. */
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
 * What a request counts as: a value for each key that applies to it. Keys whose value is `undefined` or
 * `null` are skipped, and the order does not matter.
 */
export type KeyValues<Keys extends string = string> = {
  readonly [Key in Keys]?: string | number | bigint | undefined | null
}
