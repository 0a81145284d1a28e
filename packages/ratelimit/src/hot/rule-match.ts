import type { Limit, Match } from '../rules/model/rule.ts'
import type { RuleCounters } from '../stats/rule-counters.ts'
import { RuleLimit } from './rule-limit.ts'
import type { RuleTable } from './rule-table.ts'

/** A rule that was met, with its limit in one object: each object costs a miss of the caches. */
export class RuleMatch extends RuleLimit implements Match {
  readonly counters: RuleCounters

  constructor(table: RuleTable, row: number, counters: RuleCounters) {
    super(table, row)
    this.counters = counters
  }

  get limit(): Limit {
    return this
  }
}
