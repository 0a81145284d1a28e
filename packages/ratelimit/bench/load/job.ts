import type { Target } from '@portcullis/bench-kit/server-process'
import type { RequestPlan } from '../requests.ts'

/** One phase of load on one server. */
export interface LoadJob {
  readonly target: Target
  readonly requests: RequestPlan
  readonly hasChangingHeaders: boolean
  /** The first unique value. */
  readonly firstUnique: number
  readonly connections: number
  readonly pace: Pace
}

export type Pace =
  /** As fast as the server responds, with this many concurrent calls on each connection. */
  | { readonly kind: 'closed'; readonly streams: number; readonly seconds: number }
  /** Like `closed`, for an exact number of calls. */
  | { readonly kind: 'count'; readonly streams: number; readonly calls: number }
  /** Single calls, each at its scheduled time. */
  | { readonly kind: 'open'; readonly perSecond: number; readonly seconds: number }
  /** Several calls at a time, at a high rate. */
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
