import type { Increment } from '../counters/counter-store.ts'
import type { JsonObject } from '../protocol/message.ts'
import type { RuleCounters } from '../stats/rule-counters.ts'

/** What a descriptor comes down to under the rules in force, whatever the time. */
export interface Charge {
  /** The name of the counter up to its window; empty where the limit is unlimited. */
  readonly key: string
  /** 0 where the limit is unlimited: nothing is counted then. */
  readonly unitSeconds: number
  /** The unit's number in the protocol. */
  readonly unit: number
  readonly requestsPerUnit: number
  /** The name of the limit. */
  readonly name: string
  /** What the caller charges; for a refund what it gives back. */
  readonly charge: number
  readonly isRefund: boolean
  /** Being over is no verdict by itself: only all quotas of a request together refuse it. */
  readonly isQuota: boolean
  readonly isShadowRule: boolean
  readonly isSliding: boolean
  readonly counters: RuleCounters
  readonly metadata: JsonObject | undefined
}

/**
 * One descriptor on its way through a decision: what is asked of the store, and what came back. It
 * has all that is needed of the rule, whose own objects are far apart where there are many.
 */
export class Tally implements Charge, Increment {
  readonly key: string
  /** The start of the window, set when the tally is opened. */
  window = 0
  readonly unitSeconds: number
  readonly unit: number
  readonly requestsPerUnit: number
  readonly name: string
  readonly charge: number
  readonly isRefund: boolean
  readonly isQuota: boolean
  readonly isShadowRule: boolean
  readonly isSliding: boolean
  readonly counters: RuleCounters
  readonly metadata: JsonObject | undefined
  /** Set when the tally is opened, where the window slides. */
  overlapMs = 0
  /** What the store adds: the charge, its negative, or nothing when the counter is spared. */
  hits: number
  after = 0
  previous = 0
  /** The local cache knew it to be over its limit: the store was not asked. */
  isKnownOver = false

  constructor(of: Charge) {
    this.key = of.key
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
    this.hits = of.isRefund && of.charge > 0 ? -of.charge : of.charge
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

/** By the descriptor's index. Undefined: no rule, or replaced by another one's. */
export type Tallies = readonly (Tally | undefined)[]
