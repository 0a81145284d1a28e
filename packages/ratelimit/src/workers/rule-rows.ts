import type { Differences, RuleSum } from '../stats/differences.ts'
import type { RuleCounters } from '../stats/rule-counters.ts'
import { ruleStatistics } from '../stats/rule-statistics.ts'

export const rowLength = ruleStatistics.length

/** The maximum number of rows in a message: less than a millisecond of work for either side. */
const mostRows = 1_000

/** The growth of the counters of rules, with a row for each rule that has changed. */
export class RuleRows implements RuleSum {
  readonly #growth = new Float64Array(mostRows * rowLength)
  #count = 0
  #isTouched = false

  /** Adds a row if the counters of the rule have changed, and returns whether they have. */
  take(counters: RuleCounters, differences: Differences): boolean {
    this.#isTouched = false
    differences.takeRule(counters, this)
    if (this.#isTouched) this.#count += 1
    return this.#isTouched
  }

  add(statistic: number, by: number): void {
    this.#growth[this.#count * rowLength + statistic] = by
    this.#isTouched = true
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  get isFull(): boolean {
    return this.#count === mostRows
  }

  /** Returns the rows and removes them. */
  flush(): Float64Array {
    const rows = this.#growth.slice(0, this.#count * rowLength)
    this.#growth.fill(0, 0, rows.length)
    this.#count = 0
    return rows
  }
}
