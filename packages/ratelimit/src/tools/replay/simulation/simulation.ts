import {
  type Counted,
  Counter,
  type CounterStore,
  createDecider,
  type Decider,
  type DecisionSettings,
  type Increment,
  type MemoryStore,
  nearLimitFrom,
  OVER_LIMIT,
  openMemoryStore,
  type RateLimitResponse,
  type ServiceError,
  type StoreError,
  Tally,
} from '../../../engine.ts'
import type { RuleSet } from '../../../rules/index.ts'
import type { RecordedRequest } from '../recorded-request.ts'
import { ObservedRules, ReplayedRule } from './observed-rules.ts'
import { RefusedKeys } from './refused-keys.ts'
import { type Series, Timeline } from './timeline.ts'

export interface SimulationSettings {
  readonly decisions: DecisionSettings
  /** The most memory that counters may take. */
  readonly maxBytes: number
  /** Whether each rule is recorded over time, for a chart. */
  readonly hasRuleSeries: boolean
}

const mostUnknownDomains = 1000
const otherDomains = '(other domains)'

/**
 * Applies a set of rules to recorded requests at the times they were made. Decisions, counters and statistics
 * are those of the service; only the clock is simulated.
 */
export class Simulation implements AsyncDisposable {
  readonly rules: ObservedRules
  readonly refusedKeys = new RefusedKeys()
  /** Requests by domain. */
  readonly unknownDomains = new Map<string, Counter>()
  readonly timeline = new Timeline()
  readonly series: Series
  requests = 0
  refused = 0
  /** Requests that would have been refused without shadow mode or quotas. */
  shadowRefused = 0
  withoutRule = 0
  withUnknownDomain = 0
  /** The number of requests that could not be decided, followed by the reason of the last one. */
  failed = 0
  failure = ''
  readonly #settings: SimulationSettings
  readonly #memory: MemoryStore
  readonly #store: WatchedStore
  readonly #decider: Decider
  #nowMs = 0

  constructor(rules: RuleSet, settings: SimulationSettings) {
    this.#settings = settings
    this.series = this.timeline.createSeries()
    this.rules = new ObservedRules(rules, settings.hasRuleSeries ? this.timeline : undefined)
    const now = () => this.#nowMs
    this.#memory = openMemoryStore({ now, maxBytes: settings.maxBytes, whenFull: 'refuse' })
    this.#store = new WatchedStore(this.#memory)
    const unused = new Counter()
    this.#decider = createDecider({
      settings: settings.decisions,
      rules: () => this.rules,
      store: this.#store,
      localCache: undefined,
      statistics: {
        storeErrors: unused,
        serviceErrors: unused,
        globalShadowMode: unused,
        unknownDomain: () => unused,
      },
      now,
    })
  }

  /** The number of counters, including expired ones that were not dropped yet. */
  get counters(): number {
    return this.#memory.size
  }

  /** @param nowMs - the simulated time, which never goes back */
  run(request: RecordedRequest, nowMs: number): void {
    this.#nowMs = nowMs
    this.#store.counted = none
    this.rules.matched = 0
    this.requests += 1
    this.#decider.decide(request, Number.POSITIVE_INFINITY, this.#decided)
    if (this.rules.matched > 0) return
    if (this.rules.hasDomain(request.domain)) this.withoutRule += 1
    else this.#noteUnknownDomain(request.domain)
  }

  // One function for all requests is enough, because the store answers synchronously.
  readonly #decided = (
    error: ServiceError | StoreError | undefined,
    response: RateLimitResponse | undefined,
  ): void => {
    if (response === undefined) {
      this.failed += 1
      this.failure = error?.message ?? ''
      return
    }
    const isRefused = response.overallCode === OVER_LIMIT
    const bucket = this.timeline.bucketOf(this.#nowMs)
    this.series.add(bucket, isRefused)
    if (isRefused) this.refused += 1
    let isOver = false
    for (const increment of this.#store.counted) {
      if (increment instanceof Tally) isOver = this.#note(increment, isRefused, bucket) || isOver
    }
    if (isOver && !isRefused) this.shadowRefused += 1
  }

  /** Records a tally and returns whether its limit is exceeded. */
  #note(tally: Tally, isRefused: boolean, bucket: number): boolean {
    const { counters: rule, after, requestsPerUnit: most } = tally
    if (!(rule instanceof ReplayedRule)) return false
    const nowMs = this.#nowMs
    rule.requests += 1
    if (after > rule.peakHits) {
      rule.peakHits = after
      rule.peakKey = tally.key
      rule.peakMs = nowMs
    }
    const isOver = after > most && !tally.isRefund
    rule.series?.add(bucket, isOver)
    if (!isOver) {
      rule.allowed += 1
      if (after > nearLimitFrom(most, this.#settings.decisions.nearLimitRatio)) rule.near += 1
      return false
    }
    if (isRefused && !tally.isShadowRule) {
      rule.refused += 1
      this.refusedKeys.add(tally.key, rule, nowMs)
    } else {
      rule.shadowRefused += 1
    }
    rule.noteRefusal(nowMs)
    return true
  }

  #noteUnknownDomain(domain: string): void {
    this.withUnknownDomain += 1
    const { unknownDomains } = this
    const isNew = !unknownDomains.has(domain)
    const name = isNew && unknownDomains.size >= mostUnknownDomains ? otherDomains : domain
    const counter = unknownDomains.get(name) ?? new Counter()
    counter.value += 1
    unknownDomains.set(name, counter)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}

const none: readonly Increment[] = []

/** Remembers the last increments, because the response does not contain its counters. */
class WatchedStore implements CounterStore {
  readonly #store: CounterStore
  counted: readonly Increment[] = none

  constructor(store: CounterStore) {
    this.#store = store
  }

  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.counted = increments
    this.#store.add(increments, deadlineMs, counted)
  }

  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.counted = increments
    this.#store.addSparing(increments, deadlineMs, counted)
  }

  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#store.read(increments, deadlineMs, counted)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}
