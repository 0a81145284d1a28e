import type { Target } from '@portcullis/bench-kit/server-process'
import type { RequestPlan } from '../requests.ts'

/** One stretch of load on one server. */
export interface LoadOrder {
  readonly target: Target
  readonly requests: RequestPlan
  readonly hasChangingHeaders: boolean
  /** Where unique values start to count. */
  readonly firstUnique: number
  readonly connections: number
  readonly pace: Pace
}

export type Pace =
  /** As fast as the server answers, with so many calls in flight on each connection. */
  | { readonly kind: 'closed'; readonly streams: number; readonly seconds: number }
  /** The same for an exact number of calls. */
  | { readonly kind: 'count'; readonly streams: number; readonly calls: number }
  /** One by one, each at its moment. */
  | { readonly kind: 'open'; readonly perSecond: number; readonly seconds: number }
  /** At a high rate, several at a time. */
  | { readonly kind: 'batched'; readonly perSecond: number; readonly seconds: number }

export interface LoadOutcome {
  readonly calls: number
  readonly ok: number
  readonly overLimit: number
  readonly errors: number
  readonly seconds: number
  /** CPU time of the load generator itself. */
  readonly loadCpuSeconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
}
