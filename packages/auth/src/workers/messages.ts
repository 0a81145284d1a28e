import type { Config } from '../config/config.ts'
import type { LimiterName } from '../limits/request-limits.ts'

/** What clients connect to; there is no other. */
export const listener = 'http'

/** All that a worker has to know. */
export interface WorkerStart {
  /** Its place among the workers, from 1; whoever replaces it has the same. */
  readonly number: number
  /** How many workers there are. */
  readonly size: number
  readonly config: Config
  readonly version: string
  /** When the primary started, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Of a PostgreSQL that runs, with its tables in place. */
  readonly databaseUrl: string
  /** What PostgreSQL allows this worker, where that is known. */
  readonly maxConnections: number | undefined
}

export type Admitted = readonly [limiter: LimiterName, key: string, count: number]

/** Requests that were let pass: a worker tells of its own, and is told of all others'. */
export interface AdmittedMessage {
  readonly kind: 'admitted'
  readonly counts: readonly Admitted[]
}

/** What a worker tells the primary, besides what every worker does. */
export type FromWorker =
  | AdmittedMessage
  /** One of its connections has ended. */
  | { readonly kind: 'closed' }
  /** For the log, unless another worker has sent one about the same topic. */
  | { readonly kind: 'warning'; readonly topic: string; readonly message: string }
