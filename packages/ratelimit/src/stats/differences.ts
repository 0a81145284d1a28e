import { Counter, toShownCount } from '@portcullis/service-kit/metrics/instruments'
import { RuleCounters } from './rule-counters.ts'
import { ruleStatistics } from './rule-statistics.ts'

/**
 * What counters have grown by since they were last asked about. Decisions know nothing of it: the
 * values of the last time lie beside the counters, and go with them when those are forgotten.
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

  /** Adds up every statistic of a rule that is another one than last time. */
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
  /** @param statistic is its place in `ruleStatistics`. */
  add(statistic: number, by: number): void
}

const untouched = new RuleCounters()

/** Written out: a loop over the names of the fields takes ten times as long. */
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
