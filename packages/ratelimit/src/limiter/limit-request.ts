import type { Descriptor, RateLimitRequest } from '../protocol/message.ts'
import { type LimitUnit, parseUnit } from './rules/limits.ts'
import { describe, isRecord } from './rules/parse-limits.ts'

/** Describes a request for rules that are text or files. */
export interface LimitRequest {
  /** The domain of the rules. Default: `domain` of the limiter, or else the only one of its rules. */
  readonly domain?: string | undefined
  /** Each descriptor is checked against the rules separately. If one is over its limit, the request is refused. */
  readonly descriptors: readonly DescriptorInput[]
  /** The number of hits of each descriptor without its own `hits`, at least 1. Default: 1. */
  readonly hits?: number | undefined
}

/**
 * `{ user: 'alice', path: '/login' }`: keys and values in the order of the rules. Keys whose value is
 * `undefined` or `null` are skipped. JavaScript moves keys that are whole numbers to the front; use
 * `DetailedDescriptor` for them.
 */
export type DescriptorInput =
  | Readonly<Record<string, string | number | bigint | undefined | null>>
  | DetailedDescriptor

/** A descriptor with its own number of hits or its own limit. */
export interface DetailedDescriptor {
  /** In the order of the rules. */
  readonly entries: readonly {
    readonly key: string
    readonly value: string | number | bigint | undefined | null
  }[]
  /** 0 counts nothing; a negative number refunds hits. Default: `hits` of the request. */
  readonly hits?: number | undefined
  /** Overrides the limit of the rule. Default: none. */
  readonly limit?:
    | { readonly requestsPerUnit: number; readonly unit: LimitUnit | Uppercase<LimitUnit> }
    | undefined
}

/**
 * @param hits - overrides the hits of the request
 * @throws TypeError when the request is invalid
 */
export function toRateLimitRequest(
  request: LimitRequest,
  defaultDomain: string,
  hits: number | undefined,
): RateLimitRequest {
  if (!isRecord(request)) {
    throw new TypeError(
      `limit() takes an object such as { descriptors: [{ user: 'alice' }] }, not ${describe(request)}`,
    )
  }
  const { domain = defaultDomain, descriptors } = request
  if (typeof domain !== 'string') {
    throw new TypeError(`domain must be a string, not ${describe(domain)}`)
  }
  if (!Array.isArray(descriptors)) {
    const given = describe(descriptors)
    throw new TypeError(`descriptors must be an array such as [{ user: 'alice' }], not ${given}`)
  }
  const charged = hits ?? request.hits
  if (charged !== undefined) checkCharge(charged)
  return { domain, descriptors: descriptors.map(toDescriptor), hitsAddend: charged ?? 0 }
}

function toDescriptor(input: DescriptorInput): Descriptor {
  if (!isRecord(input)) {
    const example = "an object such as { user: 'alice' }"
    throw new TypeError(`a descriptor must be ${example}, not ${describe(input)}`)
  }
  const entries: { key: string; value: string }[] = []
  if (!isDetailed(input)) {
    for (const key of Object.keys(input)) addEntry(entries, key, input[key])
    return { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
  }
  const { hits, limit } = input
  for (const { key, value } of input.entries) addEntry(entries, key, value)
  if (hits !== undefined) checkHits(hits, 'hits of a descriptor')
  return {
    entries,
    limit: limit && toOverride(limit),
    hitsAddend: hits === undefined ? undefined : Math.abs(hits),
    isNegativeHits: hits !== undefined && hits < 0,
  }
}

function isDetailed(input: DescriptorInput): input is DetailedDescriptor {
  return Array.isArray(input['entries'])
}

function addEntry(entries: { key: string; value: string }[], key: string, value: unknown): void {
  const text = toKeyText(key, value)
  if (text !== undefined) entries.push({ key, value: text })
}

/**
 * Converts a value to text; undefined means that the key is skipped. Other types are refused, because JavaScript
 * callers can pass anything: all objects would share the counter of `[object Object]`.
 * @throws TypeError when the value cannot be converted
 */
export function toKeyText(key: string, value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`
  throw new TypeError(
    `the value of the key '${key}' must be a string or a number, not ${describe(value)}`,
  )
}

function toOverride({ requestsPerUnit, unit }: NonNullable<DetailedDescriptor['limit']>) {
  if (!Number.isInteger(requestsPerUnit) || requestsPerUnit < 0 || requestsPerUnit >= 2 ** 32) {
    const given = describe(requestsPerUnit)
    throw new TypeError(
      `requestsPerUnit of a limit must be a whole number of at least 0, not ${given}`,
    )
  }
  return { requestsPerUnit, unit: parseUnit(unit).wire }
}

/** @throws TypeError when a request cannot count this number of hits */
export function checkCharge(hits: number): void {
  checkHits(hits, 'hits')
  if (hits >= 1) return
  throw new TypeError(
    'hits must be at least 1; use peek to count nothing, and refund to give hits back',
  )
}

function checkHits(hits: unknown, name: string): void {
  if (!Number.isSafeInteger(hits)) {
    throw new TypeError(`${name} must be a whole number, not ${describe(hits)}`)
  }
}
