import type { JsonObject } from '../rules/model/rule.ts'

/** `envoy.service.ratelimit.v3.RateLimitRequest`, decoded. */
export interface RateLimitRequest {
  readonly domain: string
  readonly descriptors: readonly Descriptor[]
  /** As sent; 0 where the caller sent nothing. */
  readonly hitsAddend: number
}

export interface Descriptor {
  readonly entries: readonly Entry[]
  /** A limit sent by the caller, to be used in place of the rule's. */
  readonly limit: LimitOverride | undefined
  /** Undefined where the caller sent nothing, which differs from 0. Above 2^53 it is rounded. */
  readonly hitsAddend: number | undefined
  readonly isNegativeHits: boolean
}

/** An entry of a descriptor. */
export interface Entry {
  /** What is described, such as `user`. */
  readonly key: string
  /** Its value, such as the id of the user. */
  readonly value: string
}

export interface LimitOverride {
  readonly requestsPerUnit: number
  /** The enum's number: what it means is not the decoder's business. */
  readonly unit: number
}

export const OK = 1
export const OVER_LIMIT = 2
export type Code = typeof OK | typeof OVER_LIMIT

/** `envoy.service.ratelimit.v3.RateLimitResponse`, to be encoded. */
export interface RateLimitResponse {
  readonly overallCode: Code
  /** One per descriptor of the request, in its order. */
  readonly statuses: readonly DescriptorStatus[]
  readonly responseHeadersToAdd: readonly HeaderValue[]
  readonly dynamicMetadata: JsonObject | undefined
}

export interface DescriptorStatus {
  readonly code: Code
  readonly currentLimit: CurrentLimit | undefined
  readonly limitRemaining: number
  /** Whole seconds from 1; undefined where there is no limit. */
  readonly resetSeconds: number | undefined
}

export interface CurrentLimit {
  readonly requestsPerUnit: number
  /** The enum's number. */
  readonly unit: number
  readonly name: string
}

export interface HeaderValue {
  readonly key: string
  readonly value: string
}
