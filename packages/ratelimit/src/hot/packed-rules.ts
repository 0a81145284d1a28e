import type { JsonObject } from '../protocol/message.ts'
import type { RuleRecord } from '../rules/model/rule.ts'
import type { HashSlots } from './hash-slots.ts'

/*
 * Measured with 100,000 rules (bench/hot.bench.ts, CPU time on an overloaded machine with 2 cores, seven runs): as
 * objects they take 29 MiB, and the thread of decisions spends 380 to 840 ms on receiving them from the parser's thread;
 * packed they take 8 MiB, and handing the buffers over takes 0.1 to 0.3 ms. A match of two levels takes 0.7 to 0.9 µs
 * packed and 2.0 to 3.3 µs in nested maps.
 */

/**
 * All rules of a load in a few buffers. As objects they would be many, all of them would outlive
 * the load, and the garbage collector would hold up decisions to copy them. Buffers it leaves
 * alone, another thread can make them, and what a decision reads of a rule lies in one place.
 */
export interface PackedRules {
  readonly domainCount: number
  /** First the domains, then the rules in the order of the configuration: see `rowWords`. */
  readonly rows: Int32Array<ArrayBuffer>
  readonly texts: Int32Array<ArrayBuffer>
  /** Not rows but texts: every key, and the names of the domains. */
  readonly keys: HashSlots
  /**
   * The first rule of each key by the row it is nested in and the text of the key, unless that row
   * is `hasOnlyOpenChild`. And the domains, below `noRow`.
   */
  readonly byKey: HashSlots
  /** Rules by the first one of their key and their value. */
  readonly byValue: HashSlots
  /**
   * Not rows but places in `lists`: patterns by the first rule of their key and their prefix, the
   * text before the first star.
   */
  readonly byPrefix: HashSlots
  /** Lists of patterns with one prefix and of the lengths of prefixes, each after its length. */
  readonly lists: Int32Array<ArrayBuffer>
}

/** To hand rules over to another thread instead of copying them. */
export function buffersOf(packed: PackedRules): ArrayBuffer[] {
  const { rows, texts, keys, byKey, byValue, byPrefix, lists } = packed
  return [rows, texts, keys, byKey, byValue, byPrefix, lists].map(({ buffer }) => buffer)
}

/** A row is so many words of 32 bits; a power of two. */
export const rowWords = 16
export const rowShift = 4

/** The words of a row. Those of a rule's key, value, name, detail and file stand for texts. */
export const word = {
  /** The row of the rule this one is nested in, or of its domain; `noRow` for a domain. */
  parent: 0,
  flags: 1,
  /** The name, for a domain. */
  key: 2,
  /** Empty: any. */
  value: 3,
  /** The first rule nested in this one; `noRow` where there is none. */
  firstChild: 4,
  /** The next rule beside this one. */
  nextSibling: 5,
  /** In the first rule of a key: the rule with that key and without a value. */
  any: 6,
  /** In the first rule of a key that has patterns: the place of the list of lengths, or -1. */
  prefixes: 7,
  requestsPerUnit: 8,
  /** Its number in the protocol; 0 where the limit is unlimited. */
  unit: 9,
  unitMultiplier: 10,
  name: 11,
  /** What few rules have, as JSON: see `RuleDetail`. */
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
  /** All values of the pattern count in one counter. */
  isShared: 64,
  /** This level or one above leaves the value to the request. */
  hasOpenLevel: 128,
  /** This level or one above is open and puts the value into the statistics key. */
  hasMetricLevel: 256,
  /** This level or one above is shared. */
  hasSharedLevel: 512,
  /**
   * The rule nested in this one is the only one, and takes any value. Most are like that; it is
   * found without a table.
   */
  hasOnlyOpenChild: 1_024,
  /** In the first rule of a key: one of that key has a value. */
  hasValues: 2_048,
} as const

/** Above all flags: the place of the limit's algorithm in `algorithms`. */
export const algorithmShift = 16

/** What few rules have. */
export interface RuleDetail {
  readonly replaces: readonly string[]
  readonly metadata: JsonObject | undefined
}

const none: RuleDetail = { replaces: [], metadata: undefined }

/** Undefined where there is nothing to write. */
export function toDetailText({ limit, metadata }: RuleRecord): string | undefined {
  const replaces = limit?.replaces ?? []
  if (replaces.length === 0 && metadata === undefined) return undefined
  return JSON.stringify({ replaces, metadata })
}

/** @param text that of `toDetailText`; empty where that had nothing to write. */
export function readDetail(text: string): RuleDetail {
  if (text === '') return none
  const { replaces, metadata }: Partial<RuleDetail> = JSON.parse(text)
  return { replaces: replaces ?? [], metadata }
}
