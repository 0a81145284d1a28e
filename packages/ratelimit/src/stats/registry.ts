import { setImmediate } from 'node:timers/promises'
import { Counter, Timer, toShownCount } from '@portcullis/service-kit/metrics/instruments'
import { sortInSlices } from '@portcullis/service-kit/metrics/slices'
import {
  mergeTags,
  type Tag,
  toNameSuffix,
  toTaggedName,
} from '@portcullis/service-kit/metrics/tags'
import { Generations } from './generations.ts'
import type { RuleCounters } from './rule-counters.ts'
import { type Dropped, RuleStatistics, ruleStatistics } from './rule-statistics.ts'
import { toStatisticsKey } from './statistics-key.ts'

export interface StatisticsSettings {
  /** The maximum number of statistics keys that are made from request values. */
  readonly maxRequestKeys: number
}

type RuleLine = readonly [key: string, counters: RuleCounters]

export type DroppedDomains = (counters: ReadonlyMap<string, Counter>) => void

/** About a millisecond of work. */
const sliceSize = 5_000
export const rulePrefix = 'ratelimit.service.rate_limit.'

/**
 * Every statistic of the process, by name. `/stats` prints it and the sinks read it. Code that counts holds the
 * counter itself and only adds to it, so nothing here can slow a decision.
 */
export class Statistics {
  readonly rules: RuleStatistics
  /** Set by a sink, to read the counters of rules once more after they were dropped. */
  dropped: Dropped | undefined
  /** The same for the counters of unknown domains, by domain. */
  droppedDomains: DroppedDomains | undefined
  /**
   * Set in a primary, whose statistics are the sums of its workers: fetches the latest values from the workers.
   * Called before statistics are read.
   */
  refresh: (() => Promise<void>) | undefined
  readonly #counters = new Map<string, Counter>()
  readonly #gauges = new Map<string, () => number>()
  readonly #timers = new Map<string, Timer>()
  readonly #unknownDomains: Generations<Counter>
  #attachTimer: ((name: string, timer: Timer) => void) | undefined

  constructor({ maxRequestKeys }: StatisticsSettings) {
    this.rules = new RuleStatistics(maxRequestKeys, (counters) => this.dropped?.(counters))
    this.#unknownDomains = new Generations(maxRequestKeys, (counters) =>
      this.droppedDomains?.(counters),
    )
  }

  counter(name: string): Counter {
    return getOrAdd(this.#counters, name, () => new Counter())
  }

  gauge(name: string, read: () => number): void {
    this.#gauges.set(name, read)
  }

  timer(name: string): Timer {
    return getOrAdd(this.#timers, name, () => {
      const timer = new Timer()
      this.#attachTimer?.(name, timer)
      return timer
    })
  }

  /** Calls back for every timer, including those that are created later. */
  eachTimer(attach: (name: string, timer: Timer) => void): void {
    this.#attachTimer = attach
    for (const [name, timer] of this.#timers) attach(name, timer)
  }

  get counters(): ReadonlyMap<string, Counter> {
    return this.#counters
  }

  get gauges(): ReadonlyMap<string, () => number> {
    return this.#gauges
  }

  get timers(): ReadonlyMap<string, Timer> {
    return this.#timers
  }

  /** The counters by domain. A counter that is used during the iteration may be returned twice. */
  unknownDomains(): Generator<[string, Counter]> {
    return this.#unknownDomains.entries()
  }

  /** The counter `domain_not_found` of a domain that requests name but no rule has. */
  unknownDomain(domain: string): Counter {
    const key = toStatisticsKey(domain)
    let counter = this.#unknownDomains.get(key)
    if (counter === undefined) {
      counter = new Counter()
      this.#unknownDomains.set(key, counter)
    }
    return counter
  }

  /**
   * Returns names and values in alphabetical order; the statistics of one rule stay together. It works in
   * slices, so that listing a hundred thousand rules does not block decisions.
   * @param extraTags - become part of all names, as in statsd: `total_hits.__env=live`
   */
  async *lines(
    extraTags: readonly Tag[] = [],
  ): AsyncGenerator<readonly [name: string, value: number]> {
    await this.refresh?.()
    const suffix = toNameSuffix(mergeTags(extraTags))
    const single = this.#singleLines(extraTags)
    const rules = await this.#listRules()

    for (const line of single) if (line[0] < rulePrefix) yield line
    let previous: string | undefined
    for (const [key, counters] of rules) {
      // A key that was used during the iteration may have been found in both generations.
      if (key === previous) continue
      previous = key
      for (const [name, field] of ruleStatistics) {
        yield [`${rulePrefix}${key}.${name}${suffix}`, toShownCount(counters[field])]
      }
    }
    for (const line of single) if (line[0] >= rulePrefix) yield line
  }

  async #listRules(): Promise<RuleLine[]> {
    const rules: RuleLine[] = []
    for (const entry of this.rules.entries()) {
      rules.push(entry)
      if (rules.length % sliceSize === 0) await setImmediate()
    }
    await sortInSlices(rules, ([a], [b]) => compare(a, b))
    return rules
  }

  #singleLines(extraTags: readonly Tag[]): (readonly [string, number])[] {
    const lines: [string, number][] = []
    const add = (name: string, value: number) => lines.push([toTaggedName(name, extraTags), value])
    for (const [name, { value }] of this.#counters) add(name, toShownCount(value))
    for (const [name, read] of this.#gauges) add(name, read())
    for (const [name, timer] of this.#timers) {
      add(`${name}.count`, timer.count)
      add(`${name}.max_ms`, timer.maxMs)
      add(`${name}.sum_ms`, timer.sumMs)
    }
    const suffix = toNameSuffix(mergeTags(extraTags))
    for (const [domain, { value }] of this.#unknownDomains.entries()) {
      lines.push([toUnknownDomainName(domain) + suffix, toShownCount(value)])
    }
    return lines.sort(([a], [b]) => compare(a, b))
  }
}

export function toUnknownDomainName(domain: string): string {
  return `${rulePrefix}${domain}.domain_not_found`
}

function getOrAdd<Value>(map: Map<string, Value>, name: string, create: () => Value): Value {
  const known = map.get(name)
  if (known !== undefined) return known
  const value = create()
  map.set(name, value)
  return value
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
