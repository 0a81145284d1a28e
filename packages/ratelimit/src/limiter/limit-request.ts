import type { Descriptor, RateLimitRequest } from '../protocol/message.ts'
import { unitByName } from '../rules/units.ts'

/** What is asked to be let through. */
export interface LimitRequest {
  readonly domain: string
  readonly descriptors: readonly DescriptorInput[]
  /** For every descriptor that names none of its own; 1 unless told. */
  readonly hits?: number
}

/**
 * `{ user: 'alice', path: '/login' }`: keys and values in the order of the rules. Names that are
 * whole numbers change that order in JavaScript; write the longer form for them.
 */
export type DescriptorInput = Readonly<Record<string, string>> | DetailedDescriptor

export interface DetailedDescriptor {
  readonly entries: readonly { readonly key: string; readonly value: string }[]
  /** 0 only asks how it stands; below 0 gives hits back. */
  readonly hits?: number
  /** Used in place of the rule's limit. */
  readonly limit?: { readonly requestsPerUnit: number; readonly unit: string }
}

/** @throws {TypeError} which says what is wrong with it. */
export function toRateLimitRequest({ domain, descriptors, hits }: LimitRequest): RateLimitRequest {
  if (hits !== undefined) checkHits(hits, 'hits')
  if (hits !== undefined && hits < 1) {
    throw new TypeError('hits of a request must be at least 1; a descriptor may have 0 or less')
  }
  return { domain, descriptors: descriptors.map(toDescriptor), hitsAddend: hits ?? 0 }
}

function toDescriptor(input: DescriptorInput): Descriptor {
  if (!isDetailed(input)) {
    const entries = Object.entries(input).map(([key, value]) => toEntry(key, value))
    return { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
  }
  const { entries, hits, limit } = input
  if (hits !== undefined) checkHits(hits, 'hits of a descriptor')
  return {
    entries: entries.map(({ key, value }) => toEntry(key, value)),
    limit: limit && toOverride(limit),
    hitsAddend: hits === undefined ? undefined : Math.abs(hits),
    isNegativeHits: hits !== undefined && hits < 0,
  }
}

function isDetailed(input: DescriptorInput): input is DetailedDescriptor {
  return Array.isArray(input.entries)
}

/** Types do not hold for callers in JavaScript: `undefined` would be counted under that very name. */
function toEntry(key: string, value: unknown) {
  if (typeof value !== 'string') {
    throw new TypeError(`the value of the descriptor's key '${key}' must be a string, not ${value}`)
  }
  return { key, value }
}

function toOverride({ requestsPerUnit, unit }: NonNullable<DetailedDescriptor['limit']>) {
  const known = unitByName(unit)
  if (known === undefined) throw new TypeError(`'${unit}' is no unit of a limit`)
  return { requestsPerUnit, unit: known.wire }
}

function checkHits(hits: number, name: string): void {
  if (!Number.isSafeInteger(hits))
    throw new TypeError(`${name} must be a whole number, not ${hits}`)
}
