import type { CounterStore } from '../counters/counter-store.ts'
import type { Descriptor, RateLimitRequest } from '../protocol/message.ts'
import type { Match } from '../rules/rule.ts'
import type { Counter } from '../stats/registry.ts'
import type { HeaderNames } from './headers.ts'
import type { LocalCache } from './local-cache.ts'
import type { Tally } from './tally.ts'

/** The rules in force. Replaced as a whole: a decision holds on to the one it began with. */
export interface Rules {
  hasDomain(domain: string): boolean
  match(domain: string, descriptor: Descriptor): Match | undefined
}

export interface DecisionSettings {
  readonly cacheKeyPrefix: string
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

/** One request on its way: what each descriptor met, by the descriptor's index. */
export interface Decision {
  readonly request: RateLimitRequest
  readonly nowSeconds: number
  /** Undefined: no rule, or replaced by another one's. */
  readonly matches: (Match | undefined)[]
  /** Undefined: nothing to count. */
  readonly tallies: (Tally | undefined)[]
}
