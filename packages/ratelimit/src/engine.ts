import type { CounterStore } from './counters/counter-store.ts'
import { createDecisions, type Decider } from './decide/decide.ts'
import {
  createDecisionStatistics,
  type DecisionParts,
  type DecisionSettings,
} from './decide/decision.ts'
import { createEncodedRequests } from './hot/index.ts'
import { compileRules, type RuleSnapshot } from './rules/match/snapshot.ts'
import type { RuleSet } from './rules/model/rule.ts'
import { Statistics } from './stats/registry.ts'

// The tools simulate and explain decisions. This is the only file of the decision code that they may import.
export { Counter } from '@portcullis/service-kit/metrics/instruments'
export {
  type Counted,
  type CounterStore,
  type Increment,
  StoreError,
} from './counters/counter-store.ts'
export { type MemoryStore, openMemoryStore } from './counters/memory/memory-store.ts'
export { type KeySettings, toCounterKey } from './decide/counter-key.ts'
export type { Decider } from './decide/decide.ts'
export { type DecisionSettings, type Rules, ServiceError } from './decide/decision.ts'
export { Tally } from './decide/tally.ts'
export { nearLimitFrom } from './decide/verdict.ts'
export { secondsUntilReset, windowStart } from './decide/windows.ts'
export { parseRequestJson, RequestSyntaxError } from './protocol/json.ts'
export {
  type Code,
  type Descriptor,
  type DescriptorStatus,
  type Entry,
  OK,
  OVER_LIMIT,
  type RateLimitRequest,
  type RateLimitResponse,
} from './protocol/message.ts'
export { RuleCounters } from './stats/rule-counters.ts'

interface EngineParts {
  /** Every decision fails until rules are loaded. */
  readonly rules?: RuleSet | undefined
  readonly store: CounterStore
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly settings?: Partial<DecisionSettings>
}

/** Makes decisions without listeners, files or signals, for other programs, tests and simulations. */
export interface Engine extends Decider {
  readonly statistics: Statistics
  readonly rules: RuleSnapshot | undefined
  /** Replaces the rules and keeps counters and statistics. */
  load(rules: RuleSet): void
  /** Like `load`, for rules that are already compiled with the counters of `statistics.rules`. */
  use(rules: RuleSnapshot): void
}

const defaults: DecisionSettings = {
  cacheKeyPrefix: '',
  keyFormat: 'exact',
  nearLimitRatio: 0.8,
  isShadowMode: false,
  isQuotaMode: false,
  stopsIncrementWhenOver: false,
  headerNames: undefined,
  addsDynamicMetadata: false,
}

const maxRequestKeys = 10_000

/** Decides decoded and encoded requests, with a cache of repeated requests. */
export function createDecider(parts: DecisionParts): Decider {
  return createDecisions(parts, createEncodedRequests(parts.settings))
}

export function createEngine({ rules, store, now, settings }: EngineParts): Engine {
  const statistics = new Statistics({ maxRequestKeys })
  let snapshot = rules && compileRules(rules, statistics.rules)
  const decider = createDecider({
    settings: { ...defaults, ...settings },
    rules: () => snapshot,
    store,
    localCache: undefined,
    statistics: createDecisionStatistics(statistics),
    now,
  })
  return {
    ...decider,
    statistics,
    get rules() {
      return snapshot
    },
    load(next) {
      snapshot = compileRules(next, statistics.rules)
    },
    use(next) {
      snapshot = next
    },
  }
}
