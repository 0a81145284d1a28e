import type { JsonObject } from '../protocol/message.ts'
import type { RuleRecord } from '../rules/model/rule.ts'
import type { HashSlots } from '../structures/hash-slots.ts'

/*
 * Measured with 100,000 rules (bench/hot.bench.ts, CPU time on an overloaded machine with 2 cores, seven runs): as
 * objects they take 29 MiB, and the main thread spends 380 to 840 ms on receiving them from the parser's thread;
 * packed they take 8 MiB, and transferring the buffers takes 0.1 to 0.3 ms. A match of two levels takes 0.7 to 0.9 µs
 * packed and 2.0 to 3.3 µs in nested maps.
 */

/**
 * All rules of a load in a few buffers. As objects they would be numerous and long-lived, and the garbage
 * collector would pause decisions to copy them. Buffers are not copied, another thread can build them, and
 * the parts of a rule that a decision reads are adjacent.
 */
export interface PackedRules {
  readonly domainCount: number
  /** First the domains, then the rules in the order of the configuration: see `rowWords`. */
  readonly rows: Int32Array<ArrayBuffer>
  readonly texts: Int32Array<ArrayBuffer>
  /** Refers to texts instead of rows: every key, and the names of the domains. */
  readonly keys: HashSlots
  /**
   * The first rule of each key by its parent row and the text of the key, unless the parent has the flag
   * `hasOnlyOpenChild`. Domains have the parent `noRow`.
   */
  readonly byKey: HashSlots
  /** Rules by the first rule of their key and their value. */
  readonly byValue: HashSlots
  /**
   * Refers to positions in `lists` instead of rows: patterns by the first rule of their key and their prefix,
   * the text before the first star.
   */
  readonly byPrefix: HashSlots
  /**
   * Lists of patterns with the same prefix, and lists of prefix lengths. Each list starts with its length.
   */
  readonly lists: Int32Array<ArrayBuffer>
}

/** The buffers to transfer to another thread instead of copying them. */
export function buffersOf(packed: PackedRules): ArrayBuffer[] {
  const { rows, texts, keys, byKey, byValue, byPrefix, lists } = packed
  return [rows, texts, keys, byKey, byValue, byPrefix, lists].map(({ buffer }) => buffer)
}

/** The number of 32-bit words in a row; a power of two. */
export const rowWords = 16
export const rowShift = 4

/** The words of a row. Key, value, name, detail and file refer to texts. */
export const word = {
  /** The row of the parent rule or of the domain; `noRow` for a domain. */
  parent: 0,
  flags: 1,
  /** The name, for a domain. */
  key: 2,
  /** Empty for any value. */
  value: 3,
  /** The first child; `noRow` if there is none. */
  firstChild: 4,
  /** The next sibling. */
  nextSibling: 5,
  /** In the first rule of a key: the rule with that key and without a value. */
  any: 6,
  /** In the first rule of a key that has patterns: the position of the list of prefix lengths, or -1. */
  prefixes: 7,
  requestsPerUnit: 8,
  /** Its number in the protocol; 0 if the limit is unlimited. */
  unit: 9,
  unitMultiplier: 10,
  name: 11,
  /** The properties that few rules have, as JSON: see `RuleDetail`. */
  detail: 12,
  file: 13,
  line: 14,
  column: 15,
} as const

export const noRow = -1

export const flag = {
  hasLimit: 1,
  isUnlimited: 2,
  shadowMode: 4,
  quotaMode: 8,
  detailedMetric: 16,
  valueToMetric: 32,
  /** All values of the pattern share one counter. */
  isShared: 64,
  /** This level or one above takes any value. */
  hasOpenLevel: 128,
  /** This level or one above takes any value and adds it to the names of statistics. */
  hasMetricLevel: 256,
  /** This level or one above shares a counter. */
  hasSharedLevel: 512,
  /**
   * The rule has a single child, which takes any value. This is the most common case, and needs no table.
   */
  hasOnlyOpenChild: 1_024,
  /** In the first rule of a key: a rule of that key has a value. */
  hasValues: 2_048,
} as const

/** The bits above all flags are the index of the limit's algorithm in `algorithms`. */
export const algorithmShift = 16

/** The properties that few rules have. */
export interface RuleDetail {
  readonly replaces: readonly string[]
  readonly metadata: JsonObject | undefined
}

const none: RuleDetail = { replaces: [], metadata: undefined }

/** Returns undefined if the rule has none of these properties. */
export function toDetailText({ limit, metadata }: RuleRecord): string | undefined {
  const replaces = limit?.replaces ?? []
  if (replaces.length === 0 && metadata === undefined) return undefined
  return JSON.stringify({ replaces, metadata })
}

/** @param text - the result of `toDetailText`, or an empty text */
export function readDetail(text: string): RuleDetail {
  if (text === '') return none
  const { replaces, metadata }: Partial<RuleDetail> = JSON.parse(text)
  return { replaces: replaces ?? [], metadata }
}
