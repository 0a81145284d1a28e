import type { Counter } from '@portcullis/service-kit/metrics/instruments'
import type { CounterStore, StoreError } from '../counters/counter-store.ts'
import type {
  DecodeError,
  Descriptor,
  RateLimitRequest,
  RateLimitResponse,
} from '../protocol/message.ts'
import type { Match } from '../rules/model/rule.ts'
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
  readonly localCache: OverLimitCache | undefined
  readonly statistics: DecisionStatistics
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Counters that were found over their limit: the store is not asked about them again. See hot/local-cache.ts. */
export interface OverLimitCache {
  isOver(key: string, window: number, limit: number, nowSeconds: number): boolean
  add(key: string, window: number, unitSeconds: number, limit: number, nowSeconds: number): void
  delete(key: string, window: number): void
}

/**
 * Requests as bytes, of which a decision knows nothing else. See hot/request-cache.ts, which decodes them and
 * remembers what they came down to.
 */
export interface EncodedRequests {
  /** Throws a `DecodeError`. */
  decode(buffer: Buffer, start: number, end: number): RateLimitRequest
  /** What a request with these very bytes came down to under the same rules, where that is known. */
  find(rules: Rules, buffer: Buffer, start: number, end: number): Tallies | undefined
  /** What the request that `find` did not find comes down to. Called before the next `find`. */
  keep(request: RateLimitRequest, tallies: Tallies): void
}

export interface DecisionStatistics {
  readonly storeErrors: Counter
  readonly serviceErrors: Counter
  readonly globalShadowMode: Counter
  unknownDomain(domain: string): Counter
}

/** For decisions that are made without the service: the same statistics under short names. */
export function createDecisionStatistics(statistics: {
  counter(name: string): Counter
  unknownDomain(domain: string): Counter
}): DecisionStatistics {
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

/** The request makes no sense, or there is nothing to judge it by. The message is for the caller. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
}

/** The request is larger than allowed. */
export class ExcessError extends ServiceError {}

/** Too much is under way already. */
export class OverloadError extends ServiceError {}

export type Decided = (
  error: ServiceError | StoreError | DecodeError | undefined,
  response: RateLimitResponse | undefined,
) => void
