import type { EncodedIncrement } from '../counters/counter-store.ts'
import type { JsonObject } from '../protocol/message.ts'
import type { RuleCounters } from '../stats/rule-counters.ts'
import type { EncodedKey } from '../structures/key-bytes.ts'

/** The limit that applies to a descriptor, and the hits to count. It does not depend on the time. */
export interface Charge {
  /** The name of the counter up to its window; empty if the limit is unlimited. */
  readonly key: string | TextKey
  /** 0 if the limit is unlimited, which is not counted. */
  readonly unitSeconds: number
  /** The unit's number in the protocol. */
  readonly unit: number
  readonly requestsPerUnit: number
  /** The name of the limit. */
  readonly name: string
  /** The number of hits that the request adds or, for a refund, subtracts. */
  readonly charge: number
  readonly isRefund: boolean
  /** A limit in quota mode does not refuse on its own: only all quotas of a request together do. */
  readonly isQuota: boolean
  readonly isShadowRule: boolean
  readonly isSliding: boolean
  readonly counters: RuleCounters
  readonly metadata: JsonObject | undefined
}

/** An encoded key whose text is created only if it is needed. */
export interface TextKey extends EncodedKey {
  toText(): string
}

/**
 * One descriptor during a decision: the change for the store, and its result. It contains everything that
 * is needed of the rule, whose own objects are scattered in memory if there are many rules.
 */
export class Tally implements Charge, EncodedIncrement {
  encodedKey: TextKey | undefined = undefined
  #key: string | undefined = undefined
  /** The start of the window, set when the tally is opened. */
  window = 0
  unitSeconds = 0
  unit = 0
  requestsPerUnit = 0
  name = ''
  charge = 0
  isRefund = false
  isQuota = false
  isShadowRule = false
  isSliding = false
  counters: RuleCounters
  metadata: JsonObject | undefined = undefined
  /** Set when the tally is opened, for a sliding window. */
  overlapMs = 0
  /** The hits that the store adds: the charge, its negative for a refund, or 0 when the counter stays unchanged. */
  hits = 0
  after = 0
  previous = 0
  /** Whether the local cache knew that it is over its limit, so that the store did not count it. */
  isKnownOver = false

  constructor(of: Charge) {
    this.counters = of.counters
    this.reuseFor(of)
  }

  /** Makes it the same as a new tally, so that the request cache can use the object for another decision. */
  reuseFor(of: Charge): void {
    this.encodedKey = typeof of.key === 'string' ? undefined : of.key
    this.#key = typeof of.key === 'string' ? of.key : undefined
    this.window = 0
    this.unitSeconds = of.unitSeconds
    this.unit = of.unit
    this.requestsPerUnit = of.requestsPerUnit
    this.name = of.name
    this.charge = of.charge
    this.isRefund = of.isRefund
    this.isQuota = of.isQuota
    this.isShadowRule = of.isShadowRule
    this.isSliding = of.isSliding
    this.counters = of.counters
    this.metadata = of.metadata
    this.overlapMs = 0
    this.hits = of.isRefund && of.charge > 0 ? -of.charge : of.charge
    this.after = 0
    this.previous = 0
    this.isKnownOver = false
  }

  get key(): string {
    this.#key ??= this.encodedKey?.toText() ?? ''
    return this.#key
  }

  get most(): number {
    return this.requestsPerUnit
  }

  get isStrict(): boolean {
    return !this.isRefund && !this.isQuota && !this.isShadowRule
  }

  get isUnlimited(): boolean {
    return this.unitSeconds === 0
  }
}

/** The remaining hits that an unlimited rule reports: so many that it is never the tightest limit. */
export const unlimitedRemaining = 4_294_967_295

/** By the index of the descriptor. Undefined if no rule matches, or if its limit is replaced by another. */
export type Tallies = readonly (Tally | undefined)[]
