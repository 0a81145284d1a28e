export {
  type ForwardedAddressOptions,
  forwardedAddress,
} from './client-keys/forwarded-address.ts'
export { type IpKeyOptions, ipKey } from './client-keys/ip-key.ts'
export { type SecretKeyOptions, secretKey } from './client-keys/secret-key.ts'
export { type CounterStore, type Increment, StoreError } from './counters/counter-store.ts'
export {
  type MemoryStore,
  type MemoryStoreSettings,
  openMemoryStore,
} from './counters/memory/memory-store.ts'
export { ServiceError } from './decide/decision.ts'
export type { HeaderNames } from './decide/headers.ts'
export type { DescriptorInput, DetailedDescriptor, LimitRequest } from './limiter/limit-request.ts'
export type { AppliedLimit, LimitResult, LimitStatus } from './limiter/limit-result.ts'
export type { KeyedRateLimiter, LimitOptions, RateLimiter } from './limiter/limiter-interface.ts'
export type { Logger } from './limiter/limiter-log.ts'
export type {
  KeyedLimiterOptions,
  RateLimiterOptions,
  SharedOptions,
} from './limiter/options.ts'
export { createRateLimiter } from './limiter/rate-limiter.ts'
export type {
  KeyValues,
  LimitDefinition,
  LimitKeys,
  LimitObject,
  Limits,
  LimitText,
  LimitUnit,
} from './limiter/rules/limits.ts'
export {
  type RulesDirectory,
  RulesError,
  type RulesInput,
  type RulesText,
} from './limiter/rules/rules-input.ts'
export { UnmatchedError, type UnmatchedMode } from './limiter/rules/unmatched.ts'
export type { BreakerSettings } from './limiter/store/breaker.ts'
