import type { Descriptor, RateLimitRequest } from '../protocol/message.ts'
import { type LimitUnit, parseUnit } from './limits.ts'
import { describe, isRecord } from './parse-limits.ts'

/** What a request counts as, where the rules are text or files. */
export interface LimitRequest {
  /** The domain of the rules. Default: `domain` of the limiter, or else the only one of its rules. */
  readonly domain?: string | undefined
  /** Each is checked against the rules by itself; one that is over its limit refuses the request. */
  readonly descriptors: readonly DescriptorInput[]
  /** How many hits every descriptor counts that does not say so itself, from 1. Default: 1. */
  readonly hits?: number | undefined
}

/**
 * `{ user: 'alice', path: '/login' }`: keys and values in the order of the rules. Keys whose value is
 * `undefined` or `null` are skipped. Names that are whole numbers change the order in JavaScript; write the
 * longer form for them.
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
  /** 0 counts nothing; a negative number gives hits back. Default: that of the request. */
  readonly hits?: number | undefined
  /** Used in place of the rule's limit. Default: none. */
  readonly limit?:
    | { readonly requestsPerUnit: number; readonly unit: LimitUnit | Uppercase<LimitUnit> }
    | undefined
}

/**
 * @param hits in place of those of the request.
 * @throws {TypeError} which says what is wrong with it.
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
    throw new TypeError(`domain must be a text, not ${describe(domain)}`)
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
 * The text that a value counts as; undefined for a key to skip. Types do not hold for callers in JavaScript:
 * an object would be counted as `[object Object]`, together with all others.
 * @throws {TypeError} where it has no text.
 */
export function toKeyText(key: string, value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`
  throw new TypeError(
    `the value of the key '${key}' must be a text or a number, not ${describe(value)}`,
  )
}

function toOverride({ requestsPerUnit, unit }: NonNullable<DetailedDescriptor['limit']>) {
  if (!Number.isInteger(requestsPerUnit) || requestsPerUnit < 0 || requestsPerUnit >= 2 ** 32) {
    const given = describe(requestsPerUnit)
    throw new TypeError(`requestsPerUnit of a limit must be a whole number from 0, not ${given}`)
  }
  return { requestsPerUnit, unit: parseUnit(unit).wire }
}

/** @throws {TypeError} where a request cannot count so many hits. */
export function checkCharge(hits: number): void {
  checkHits(hits, 'hits')
  if (hits >= 1) return
  throw new TypeError('hits must be at least 1; peek counts none, and refund gives hits back')
}

function checkHits(hits: unknown, name: string): void {
  if (!Number.isSafeInteger(hits)) {
    throw new TypeError(`${name} must be a whole number, not ${describe(hits)}`)
  }
}
