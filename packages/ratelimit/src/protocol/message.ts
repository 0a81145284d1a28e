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

// By hand, so that a server starts without the generated code and its library; tests compare them.

/** `envoy.service.ratelimit.v3.RateLimitResponse.Code`: the index is the number. */
export const codeNames: readonly string[] = ['UNKNOWN', 'OK', 'OVER_LIMIT']

/** `envoy.type.v3.RateLimitUnit`, which a caller sends. */
export const overrideUnitNames: readonly string[] = [
  'UNKNOWN',
  'SECOND',
  'MINUTE',
  'HOUR',
  'DAY',
  'MONTH',
  'YEAR',
]

/** `envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit`, which a caller gets. */
export const limitUnitNames: readonly string[] = [...overrideUnitNames, 'WEEK']

/** A limit sent by the caller in protobuf's text form: `requests_per_unit:5 unit:HOUR`. */
export function toOverrideText({ requestsPerUnit, unit }: LimitOverride): string {
  const fields: string[] = []
  if (requestsPerUnit !== 0) fields.push(`requests_per_unit:${requestsPerUnit}`)
  if (unit !== 0) fields.push(`unit:${overrideUnitNames[unit] ?? unit}`)
  return fields.join(' ')
}

/** The bytes are not a message of the expected type. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
}

/** What a protobuf `Struct` holds. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}
