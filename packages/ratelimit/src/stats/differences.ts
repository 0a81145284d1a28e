import { Counter, toShownCount } from '@portcullis/service-kit/metrics/instruments'
import { RuleCounters } from './rule-counters.ts'
import { ruleStatistics } from './rule-statistics.ts'

/**
 * Computes how much counters have grown since the previous call. The previous values are kept in weak maps
 * beside the counters, so decisions do no extra work, and a dropped counter takes its previous value with it.
 */
export class Differences {
  readonly #counters = new WeakMap<Counter, Counter>()
  readonly #rules = new WeakMap<RuleCounters, RuleCounters>()

  take(counter: Counter): number {
    let last = this.#counters.get(counter)
    if (last === undefined) {
      if (counter.value === 0) return 0
      last = new Counter()
      this.#counters.set(counter, last)
    }
    const value = toShownCount(counter.value)
    const difference = value - last.value
    last.value = value
    return difference
  }

  /** Adds the growth of every statistic of the rule that has changed since the previous call. */
  takeRule(counters: RuleCounters, sum: RuleSum): void {
    let last = this.#rules.get(counters) ?? untouched
    // Most rules of a large configuration are not hit between two flushes, or ever.
    if (isSame(counters, last)) return
    if (last === untouched) {
      last = new RuleCounters()
      this.#rules.set(counters, last)
    }
    for (const [statistic, [, field]] of ruleStatistics.entries()) {
      const difference = toShownCount(counters[field]) - last[field]
      if (difference === 0) continue
      last[field] += difference
      sum.add(statistic, difference)
    }
  }
}

export interface RuleSum {
  /** @param statistic - its index in `ruleStatistics` */
  add(statistic: number, by: number): void
}

const untouched = new RuleCounters()

/** The fields are listed one by one, because a loop over their names takes ten times as long. */
function isSame(a: RuleCounters, b: RuleCounters): boolean {
  return (
    a.totalHits === b.totalHits &&
    a.overLimit === b.overLimit &&
    a.nearLimit === b.nearLimit &&
    a.withinLimit === b.withinLimit &&
    a.shadowMode === b.shadowMode &&
    a.overLimitWithLocalCache === b.overLimitWithLocalCache
  )
}
