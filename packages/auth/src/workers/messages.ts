import type { StopSignal } from '@portcullis/service-kit/lifecycle'
import type { Config } from '../config.ts'
import type { LimiterName } from '../core/request-limits.ts'

/** All that a worker has to know. */
export interface WorkerStart {
  /** Its place among the workers, from 1; whoever replaces it has the same. */
  readonly number: number
  /** How many workers there are. */
  readonly size: number
  readonly config: Config
  readonly version: string
  /** Of a PostgreSQL that runs, with its tables in place. */
  readonly databaseUrl: string
  /** What PostgreSQL allows this worker, where that is known. */
  readonly maxConnections: number | undefined
}

export type Admitted = readonly [limiter: LimiterName, key: string, count: number]

/** What the primary tells a worker. */
export type ToWorker =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  /** Comes with a socket. */
  | { readonly kind: 'connection' }
  /** Requests that other workers let pass. */
  | { readonly kind: 'admitted'; readonly counts: readonly Admitted[] }
  | { readonly kind: 'stop'; readonly signal: StopSignal }

/** What a worker tells the primary. */
export type FromWorker =
  | { readonly kind: 'ready' }
  /** It cannot start, and ends. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The last connection that was handed over has arrived. */
  | { readonly kind: 'adopted' }
  /** One of its connections has ended. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'admitted'; readonly counts: readonly Admitted[] }
