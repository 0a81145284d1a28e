export {
  type ForwardedAddressOptions,
  forwardedAddress,
} from './client-keys/forwarded-address.ts'
export { type IpKeyOptions, ipKey } from './client-keys/ip-key.ts'
export { type SecretKeyOptions, secretKey } from './client-keys/secret-key.ts'
export { type CounterStore, type Increment, StoreError } from './counters/counter-store.ts'
export { type MemoryStore, type MemoryStoreSettings, openMemoryStore } from './counters/memory.ts'
export { ServiceError } from './decide/decided.ts'
export type { HeaderNames } from './decide/headers.ts'
export type { DescriptorInput, DetailedDescriptor, LimitRequest } from './limiter/limit-request.ts'
export type { LimitResult, LimitStatus } from './limiter/limit-result.ts'
export {
  createRateLimiter,
  type LimitOptions,
  type RateLimiter,
  type RateLimiterOptions,
} from './limiter/rate-limiter.ts'
export {
  type RulesDirectory,
  RulesError,
  type RulesInput,
  type RulesText,
} from './limiter/rules-input.ts'
