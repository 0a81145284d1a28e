import { LargeMap } from '../hot/index.ts'
import { Generations } from './generations.ts'
import { RuleCounters, type RuleCountersByKey } from './rule-counters.ts'

/** What each statistic of a rule is called, in alphabetical order. */
export const ruleStatistics = [
  ['near_limit', 'nearLimit'],
  ['over_limit', 'overLimit'],
  ['over_limit_with_local_cache', 'overLimitWithLocalCache'],
  ['shadow_mode', 'shadowMode'],
  ['total_hits', 'totalHits'],
  ['within_limit', 'withinLimit'],
] as const satisfies readonly (readonly [string, keyof RuleCounters])[]

export type Dropped = (counters: ReadonlyMap<string, RuleCounters>) => void

/** The counters of all rules, by statistics key. */
export class RuleStatistics implements RuleCountersByKey {
  readonly #rules = new LargeMap<RuleCounters>()
  readonly #requests: Generations<RuleCounters>

  /**
   * @param maxRequestKeys how many keys made from requests are kept. Callers choose those, so
   * without a bound they would choose how much memory we use.
   * @param dropped is given the counters that are forgotten, to flush them.
   */
  constructor(maxRequestKeys: number, dropped: Dropped) {
    this.#requests = new Generations(maxRequestKeys, dropped)
  }

  forRule(key: string): RuleCounters {
    let counters = this.#rules.get(key)
    if (counters === undefined) {
      // A reload may turn a key made from requests into a rule: it goes on counting.
      counters = this.#requests.take(key) ?? new RuleCounters()
      this.#rules.add(key, counters)
    }
    return counters
  }

  forRequest(key: string): RuleCounters {
    // A request's values may spell the name of a rule: then both count in one place.
    let counters = this.#rules.get(key) ?? this.#requests.get(key)
    if (counters === undefined) {
      counters = new RuleCounters()
      this.#requests.set(key, counters)
    }
    return counters
  }

  get size(): number {
    return this.#rules.size + this.#requests.size
  }

  /** Those of the configuration: none is ever removed, and a new one comes after all others. */
  configured(): Generator<[string, RuleCounters]> {
    return this.#rules.entries()
  }

  /** Those made from requests. One that is used meanwhile may be met twice. */
  requested(): Generator<[string, RuleCounters]> {
    return this.#requests.entries()
  }

  /** Those of the configuration first. */
  *entries(): Generator<[string, RuleCounters]> {
    yield* this.#rules.entries()
    yield* this.#requests.entries()
  }
}
