import { create, toBinary } from '@bufbuild/protobuf'
import { RateLimitRequestSchema } from '../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'

export const domain = 'bench'

/** The values in the calls, which determine the number of counters and their lifetime. */
export type Values = keyof typeof valuesKinds

interface ValuesKind {
  /** The keys of the two entries; the rule files have rules for each pair. */
  readonly keys: readonly [string, string]
  /** The number of different requests. */
  readonly count: number
  /** Whether every call contains a new value. */
  readonly isUnique: boolean
}

export const valuesKinds = {
  /** Requests that are repeated. */
  few: { keys: ['tenant', 'path'], count: 100, isUnique: false },
  many: { keys: ['tenant', 'path'], count: 10_000, isUnique: false },
  /** Every value is new, and its counter expires after a second. */
  unique: { keys: ['guest', 'each-second'], count: 100, isUnique: true },
  /** Like `unique`, with counters that expire at the end of the minute or the hour. */
  'unique-minute': { keys: ['guest', 'each-minute'], count: 100, isUnique: true },
  'unique-hour': { keys: ['guest', 'each-hour'], count: 100, isUnique: true },
  /** Limits that are exceeded after one hit. */
  exhausted: { keys: ['guest', 'exhausted'], count: 100, isUnique: false },
} as const satisfies Readonly<Record<string, ValuesKind>>

export interface RequestPlan {
  readonly values: Values
  readonly descriptors: number
  /** The number of tenants with rules. */
  readonly rules: number
}

export interface RequestMessage {
  readonly bytes: Uint8Array
  /** The positions of the ten digits of each descriptor that make its value unique. */
  readonly digitsAt: readonly number[]
}

export const uniqueDigits = 10
const marker = '#'.repeat(uniqueDigits)

/** Creates all requests of a plan. Changing their digits makes values unique. */
export function createRequests(plan: RequestPlan): RequestMessage[] {
  return Array.from({ length: valuesKinds[plan.values].count }, (_, call) =>
    createRequest(plan, call),
  )
}

export function createRequest(
  { values, descriptors, rules }: RequestPlan,
  call: number,
): RequestMessage {
  const { keys, count, isUnique } = valuesKinds[values]
  const lists = Array.from({ length: descriptors }, (_, index) => {
    const number = call * descriptors + index
    const digits = isUnique ? marker : String(number).padStart(uniqueDigits, '0')
    return [
      [keys[0], toTenant(Math.floor((number * rules) / (count * descriptors)))],
      [keys[1], `/v1/${index}/${digits}`],
    ] as const
  })
  const bytes = toRequestMessage(lists)
  return { bytes, digitsAt: isUnique ? findMarkers(bytes) : [] }
}

export function toTenant(index: number): string {
  return `tenant-${String(index).padStart(6, '0')}`
}

type Entries = readonly (readonly [key: string, value: string])[]

export function toRequestMessage(descriptors: readonly Entries[]): Buffer {
  const request = create(RateLimitRequestSchema, {
    domain,
    descriptors: descriptors.map((entries) => ({
      entries: entries.map(([key, value]) => ({ key, value })),
    })),
  })
  return Buffer.from(toBinary(RateLimitRequestSchema, request))
}

function findMarkers(bytes: Buffer): readonly number[] {
  const found: number[] = []
  for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 1)) found.push(at)
  return found
}
