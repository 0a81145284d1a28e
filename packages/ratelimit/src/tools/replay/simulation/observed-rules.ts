import { type Descriptor, RuleCounters, type Rules } from '../../../engine.ts'
import {
  compileRules,
  type Limit,
  type Match,
  type RuleSet,
  type RuleSnapshot,
  unitByWire,
} from '../../../rules/index.ts'
import type { Series, Timeline } from './timeline.ts'

interface ObservedMatch extends Match {
  readonly counters: ReplayedRule
}

/**
 * Rules whose matches refer to the rule itself: several rules may share a statistics key, or a key may contain
 * request values, but a report is about rules.
 */
export class ObservedRules implements Rules {
  readonly #snapshot: RuleSnapshot
  readonly #timeline: Timeline | undefined
  readonly #matches = new Map<Limit, ObservedMatch>()
  readonly #sent = new Map<string, ReplayedRule>()
  readonly #met: ReplayedRule[] = []
  /** The number of descriptors that matched a rule since it was set to 0. */
  matched = 0

  /** @param timeline - undefined if rules are not recorded over time */
  constructor(rules: RuleSet, timeline: Timeline | undefined) {
    const unused = new RuleCounters()
    this.#snapshot = compileRules(rules, { forRule: () => unused, forRequest: () => unused })
    this.#timeline = timeline
  }

  /** The rules that a request matched, in this order. */
  get met(): readonly ReplayedRule[] {
    return this.#met
  }

  /** The paths of all rules with a limit, in the order of the configuration. */
  paths(): string[] {
    return [...this.#snapshot.describe()].map((line) => line.slice(0, line.lastIndexOf(': unit=')))
  }

  hasDomain(domain: string): boolean {
    return this.#snapshot.hasDomain(domain)
  }

  isLasting(domain: string, descriptor: Descriptor): boolean {
    return this.#snapshot.isLasting(domain, descriptor)
  }

  match(domain: string, descriptor: Descriptor): Match | undefined {
    const found = this.#snapshot.match(domain, descriptor)
    if (found === undefined) return undefined
    this.matched += 1
    if (descriptor.limit !== undefined && unitByWire(descriptor.limit.unit) !== undefined) {
      const { limit, sharedValues } = found
      return { limit, sharedValues, counters: this.#sentRule(domain, descriptor, limit) }
    }
    const match = this.#matches.get(found.limit) ?? this.#observe(found)
    if (match.limit.unlimited) {
      // It never reaches the store, where all others are observed.
      match.counters.requests += 1
      match.counters.allowed += 1
    }
    return match
  }

  #observe({ limit, sharedValues }: Match): ObservedMatch {
    const match = { limit, sharedValues, counters: this.#createRule(limit.path, limit) }
    this.#matches.set(limit, match)
    return match
  }

  /** Limits from requests are distinguished only by keys, because the number of values is unbounded. */
  #sentRule(domain: string, { entries }: Descriptor, limit: Limit): ReplayedRule {
    const path = [domain, ...entries.map(({ key }) => key)].join('.')
    const known = this.#sent.get(path)
    if (known !== undefined) return known
    const rule = this.#createRule(`${path} (limit of the request)`, limit)
    this.#sent.set(path, rule)
    return rule
  }

  #createRule(path: string, limit: Limit): ReplayedRule {
    const rule = new ReplayedRule(path, limit, this.#timeline?.createSeries())
    this.#met.push(rule)
    return rule
  }
}

/**
 * The results of a log for one rule. The inherited counters are those of the service and count hits; the
 * others count requests.
 */
export class ReplayedRule extends RuleCounters {
  readonly path: string
  readonly limit: Limit
  readonly series: Series | undefined
  requests = 0
  allowed = 0
  /** Allowed requests that were near the limit. */
  near = 0
  refused = 0
  /** Requests over the limit that were allowed by shadow mode, or because other quotas had room. */
  shadowRefused = 0
  /** The time of the first refusal of either kind; NaN if there was none. */
  firstRefusalMs = Number.NaN
  lastRefusalMs = Number.NaN
  /** The highest number of hits of one key in one window. */
  peakHits = 0
  peakKey = ''
  peakMs = Number.NaN

  constructor(path: string, limit: Limit, series: Series | undefined) {
    super()
    this.path = path
    this.limit = limit
    this.series = series
  }

  noteRefusal(timeMs: number): void {
    if (Number.isNaN(this.firstRefusalMs)) this.firstRefusalMs = timeMs
    this.lastRefusalMs = timeMs
  }
}
