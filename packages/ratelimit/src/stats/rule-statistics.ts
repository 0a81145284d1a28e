import { LargeMap } from '../structures/large-map.ts'
import { Generations } from './generations.ts'
import { RuleCounters, type RuleCountersByKey } from './rule-counters.ts'

/** The name of each statistic of a rule and its field, in alphabetical order. */
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
   * @param maxRequestKeys - the maximum number of keys that are made from request values. Clients choose these
   * values, so without a limit they could exhaust the memory.
   * @param dropped - called with the counters that are dropped, so that they can be flushed
   */
  constructor(maxRequestKeys: number, dropped: Dropped) {
    this.#requests = new Generations(maxRequestKeys, dropped)
  }

  forRule(key: string): RuleCounters {
    let counters = this.#rules.get(key)
    if (counters === undefined) {
      // After a reload, a key that was made from request values may be that of a rule: its counters are kept.
      counters = this.#requests.take(key) ?? new RuleCounters()
      this.#rules.add(key, counters)
    }
    return counters
  }

  forRequest(key: string): RuleCounters {
    // A key that is made from request values may equal that of a rule: both then share the counters.
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

  /** The counters of configured rules. None is ever removed, and new ones are added at the end. */
  configured(): Generator<[string, RuleCounters]> {
    return this.#rules.entries()
  }

  /** The counters of keys from request values. A counter that is used during the iteration may be returned twice. */
  requested(): Generator<[string, RuleCounters]> {
    return this.#requests.entries()
  }

  /** All counters; those of configured rules come first. */
  *entries(): Generator<[string, RuleCounters]> {
    yield* this.#rules.entries()
    yield* this.#requests.entries()
  }
}
