import type { CounterStore } from '../counters/counter-store.ts'
import type { LocalCache } from '../hot/local-cache.ts'
import type { Descriptor, RateLimitRequest } from '../protocol/message.ts'
import type { Match } from '../rules/model/rule.ts'
import type { Counter, Statistics } from '../stats/registry.ts'
import type { KeySettings } from './counter-key.ts'
import type { HeaderNames } from './headers.ts'
import type { Tallies } from './tally.ts'

/** The rules in force. Replaced as a whole: a decision holds on to the one it began with. */
export interface Rules {
  hasDomain(domain: string): boolean
  match(domain: string, descriptor: Descriptor): Match | undefined
  /** Whether these rules have the very same match for such a descriptor every time. */
  isLasting(domain: string, descriptor: Descriptor): boolean
}

export interface DecisionSettings extends KeySettings {
  readonly nearLimitRatio: number
  readonly isShadowMode: boolean
  readonly isQuotaMode: boolean
  readonly stopsIncrementWhenOver: boolean
  /** Undefined: no headers. */
  readonly headerNames: HeaderNames | undefined
  readonly addsDynamicMetadata: boolean
}

export interface DecisionParts {
  readonly settings: DecisionSettings
  readonly rules: () => Rules | undefined
  readonly store: CounterStore
  readonly localCache: LocalCache | undefined
  readonly statistics: DecisionStatistics
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export interface DecisionStatistics {
  readonly storeErrors: Counter
  readonly serviceErrors: Counter
  readonly globalShadowMode: Counter
  unknownDomain(domain: string): Counter
}

/** Those of decisions that are made without the service, under short names. */
export function createDecisionStatistics(statistics: Statistics): DecisionStatistics {
  return {
    storeErrors: statistics.counter('redis_error'),
    serviceErrors: statistics.counter('service_error'),
    globalShadowMode: statistics.counter('global_shadow_mode'),
    unknownDomain: (domain) => statistics.unknownDomain(domain),
  }
}

/** One request on its way. */
export interface Decision {
  /** Undefined where it was known already and nobody needs it. */
  readonly request: RateLimitRequest | undefined
  readonly nowSeconds: number
  readonly tallies: Tallies
}
