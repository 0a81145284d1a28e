/* The part of `envoy.service.ratelimit.v3` that is needed here. */

import { findBytes, findNumber, readFields, toField, toNumber, toText } from '../../wire-format.ts'

export interface Descriptor {
  readonly entries: readonly (readonly [key: string, value: string])[]
  /** Overrides the rules of the service. */
  readonly limit: { readonly requestsPerUnit: number; readonly unit: number } | undefined
}

/** Encodes a `RateLimitRequest`. */
export function encodeRequest(domain: string, { entries, limit }: Descriptor): Buffer {
  const parts = entries.map(([key, value]) => toField(1, [toText(1, key), toText(2, value)]))
  if (limit) {
    parts.push(toField(2, [toNumber(1, limit.requestsPerUnit), toNumber(2, limit.unit)]))
  }
  return Buffer.concat([toText(1, domain), toField(2, parts)])
}

export interface Decision {
  readonly isOver: boolean
  /** Whether a limit was applied: a service without the domain or a rule allows everything. */
  readonly hasLimit: boolean
  /** Seconds until further requests are allowed, if the service reports it. */
  readonly resetSeconds: number | undefined
}

const overLimit = 2

/** Decodes the `RateLimitResponse` to a request with one descriptor. */
export function decodeResponse(message: Buffer): Decision {
  const response = readFields(message)
  const status = readFields(findBytes(response, 2))
  return {
    isOver: findNumber(response, 1) === overLimit,
    hasLimit: status.has(2),
    resetSeconds: findNumber(readFields(findBytes(status, 4)), 1),
  }
}
