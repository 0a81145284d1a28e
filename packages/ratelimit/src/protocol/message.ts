/** `envoy.service.ratelimit.v3.RateLimitRequest`, decoded. */
export interface RateLimitRequest {
  readonly domain: string
  readonly descriptors: readonly Descriptor[]
  /** 0 if the client did not send it. */
  readonly hitsAddend: number
}

export interface Descriptor {
  readonly entries: readonly Entry[]
  /** A limit in the request, which overrides the limit of the rule. */
  readonly limit: LimitOverride | undefined
  /** Undefined if the client did not send it, which differs from 0. Values above 2^53 are rounded. */
  readonly hitsAddend: number | undefined
  readonly isNegativeHits: boolean
}

/** An entry of a descriptor. */
export interface Entry {
  /** The name of the property, such as `user`. */
  readonly key: string
  /** Its value, such as the id of the user. */
  readonly value: string
}

export interface LimitOverride {
  readonly requestsPerUnit: number
  /** The number of the enum value, which the decoder does not check. */
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
  /** Whole seconds, at least 1; undefined if there is no limit. */
  readonly resetSeconds: number | undefined
}

export interface CurrentLimit {
  readonly requestsPerUnit: number
  /** The number of the enum value. */
  readonly unit: number
  readonly name: string
}

export interface HeaderValue {
  readonly key: string
  readonly value: string
}

// Written by hand, so that a server starts without the generated code and its library. Tests compare
// both.

/** `envoy.service.ratelimit.v3.RateLimitResponse.Code`: the index is the number. */
export const codeNames: readonly string[] = ['UNKNOWN', 'OK', 'OVER_LIMIT']

/** `envoy.type.v3.RateLimitUnit`, which is used in requests. */
export const overrideUnitNames: readonly string[] = [
  'UNKNOWN',
  'SECOND',
  'MINUTE',
  'HOUR',
  'DAY',
  'MONTH',
  'YEAR',
]

/** `envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit`, which is used in responses. */
export const limitUnitNames: readonly string[] = [...overrideUnitNames, 'WEEK']

/** A limit from a request in protobuf's text format: `requests_per_unit:5 unit:HOUR`. */
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

/** The content of a protobuf `Struct`. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}
