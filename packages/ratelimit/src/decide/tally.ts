import type { Increment } from '../counters/counter-store.ts'
import type { Limit, Match } from '../rules/rule.ts'
import type { Unit } from '../rules/units.ts'
import type { RuleCounters } from '../stats/rule-counters.ts'

/** One descriptor on its way through a decision: what is asked of the store, and what came back. */
export class Tally implements Increment {
  readonly key: string
  readonly window: number
  readonly unitSeconds: number
  readonly limit: Limit
  readonly unit: Unit
  readonly counters: RuleCounters
  /** What the caller charges; for a refund what it gives back. */
  readonly charge: number
  readonly isRefund: boolean
  /** Being over is no verdict by itself: only all quotas of a request together refuse it. */
  readonly isQuota: boolean
  /** What the store adds: the charge, its negative, or nothing when the counter is spared. */
  hits: number
  after = 0
  /** The local cache knew it to be over its limit: the store was not asked. */
  isKnownOver = false

  constructor(
    { limit, counters }: Match,
    unit: Unit,
    key: string,
    window: number,
    charge: number,
    isRefund: boolean,
    isQuota: boolean,
  ) {
    this.key = key
    this.window = window
    this.unitSeconds = unit.seconds
    this.limit = limit
    this.unit = unit
    this.counters = counters
    this.charge = charge
    this.isRefund = isRefund
    this.isQuota = isQuota
    this.hits = isRefund && charge > 0 ? -charge : charge
  }
}
