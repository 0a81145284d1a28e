import type { Counter } from '@portcullis/service-kit/metrics/instruments'
import type { CounterStore, StoreError } from '../counters/counter-store.ts'
import type {
  DecodeError,
  Descriptor,
  RateLimitRequest,
  RateLimitResponse,
} from '../protocol/message.ts'
import type { Match } from '../rules/model/rule.ts'
import type { AnyKey } from '../structures/key-bytes.ts'
import type { KeySettings } from './counter-key.ts'
import type { HeaderNames } from './headers.ts'
import type { Tallies } from './tally.ts'

/** The rules in force. They are replaced as a whole; a decision keeps using the ones it started with. */
export interface Rules {
  hasDomain(domain: string): boolean
  match(domain: string, descriptor: Descriptor): Match | undefined
  /** Whether these rules return the same match object for such a descriptor every time. */
  isLasting(domain: string, descriptor: Descriptor): boolean
}

export interface DecisionSettings extends KeySettings {
  readonly nearLimitRatio: number
  readonly isShadowMode: boolean
  readonly isQuotaMode: boolean
  readonly stopsIncrementWhenOver: boolean
  /** No headers are returned when undefined. */
  readonly headerNames: HeaderNames | undefined
  readonly addsDynamicMetadata: boolean
}

export interface DecisionParts {
  readonly settings: DecisionSettings
  readonly rules: () => Rules | undefined
  readonly store: CounterStore
  readonly localCache: OverLimitCache | undefined
  readonly statistics: DecisionStatistics
  /** Undefined if `/top` is disabled. */
  readonly traffic?: TrafficSample | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Counts a sample of the requests, to list the keys with the most hits. See stats/top/top-keys.ts. */
export interface TrafficSample {
  /** Returns how many requests this one stands for; 0 if it is not part of the sample. */
  next(nowMs: number, descriptors: number): number
  /** Adds a descriptor of the sample, with the hits that it stands for. */
  record(
    key: string,
    domain: string,
    descriptor: Descriptor,
    hits: number,
    limited: number,
    nowMs: number,
  ): void
}

/** A request of the sample, decoded. */
export interface SampledRequest {
  readonly request: RateLimitRequest
  /** How many requests it stands for. */
  readonly weight: number
}

/** Counters that are over their limits, which the store need not count again. See hot/local-cache.ts. */
export interface OverLimitCache {
  isOver(key: AnyKey, window: number, limit: number, nowSeconds: number): boolean
  add(key: AnyKey, window: number, unitSeconds: number, limit: number, nowSeconds: number): void
  delete(key: AnyKey, window: number): void
}

/**
 * Handles encoded requests, whose format decisions do not know. See hot/request-cache.ts, which decodes them
 * and caches their tallies.
 */
export interface EncodedRequests {
  /** Throws a `DecodeError`. */
  decode(buffer: Buffer, start: number, end: number): RateLimitRequest
  /** Returns the cached tallies of a request with the same bytes under the same rules, if there are any. */
  find(rules: Rules, buffer: Buffer, start: number, end: number): Tallies | undefined
  /** The tallies that `find` returned are no longer used, so that it can return the same objects again. */
  release(tallies: Tallies): void
  /** Caches the tallies of the request that `find` did not find. Must be called before the next `find`. */
  keep(request: RateLimitRequest, tallies: Tallies): void
}

export interface DecisionStatistics {
  readonly storeErrors: Counter
  readonly serviceErrors: Counter
  readonly globalShadowMode: Counter
  unknownDomain(domain: string): Counter
}

/** The same statistics under short names, for decisions without the service. */
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

/** One request while it is being decided. */
export interface Decision {
  /** Undefined if the tallies were cached; the response then needs nothing else of the request. */
  readonly request: RateLimitRequest | undefined
  readonly nowSeconds: number
  readonly tallies: Tallies
  /** Undefined if the request is not part of the sample. */
  readonly sampled: SampledRequest | undefined
}

/** The request is invalid, or there are no rules. The message is sent to the client. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
}

/** The request is larger than allowed. */
export class ExcessError extends ServiceError {}

/** Too many requests are in progress. */
export class OverloadError extends ServiceError {}

export type Decided = (
  error: ServiceError | StoreError | DecodeError | undefined,
  response: RateLimitResponse | undefined,
) => void
