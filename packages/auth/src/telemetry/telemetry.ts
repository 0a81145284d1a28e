import type { Resource } from '@opentelemetry/resources'
import type { EventLog } from '@portcullis/service-kit/log/log'
import type { Config } from '../config/config.ts'
import type { PoolState, StatementEnded } from '../db/database.ts'
import type { FeedState } from '../features/revocations/feed.ts'
import type { CleanupRound } from '../features/server/cleanup.ts'
import type { OutboxState } from '../features/server/readiness.ts'
import type { HashQueueState } from '../passwords/passwords.ts'
import type { CallWatch } from './watched-call.ts'

/**
 * Traces and metrics. The parts of the server that report events do not depend on this interface;
 * `app.ts` connects them.
 */
export interface Telemetry extends AsyncDisposable {
  readonly calls: readonly CallWatch[]
  /** Undefined if telemetry is disabled. */
  readonly watchStatement: ((name: string) => StatementEnded) | undefined
  watchPool(read: () => PoolState): void
  /** How long a statement waited for a connection. Undefined if metrics are off. */
  readonly countPoolWait: ((waitMs: number) => void) | undefined
  watchHashQueue(queue: HashQueueState): void
  watchRevocations(read: () => FeedState): void
  watchOutbox(read: () => Promise<OutboxState | undefined>): void
  /** Counts a message that failed permanently. */
  countGivenUp(channel: string, kind: string): void
  /** Called when hashing or checking a password is submitted, and again when it is completed. */
  countHashing(kind: Hashing, stage: 'submitted' | 'completed'): void
  /** Counts an attempt to send a message. */
  countMessage(channel: string, kind: string, isFailed: boolean): void
  countCleanup(round: CleanupRound): void
  /** Counts a sign-in. @param outcome `succeeded`, or the reason of the failure. */
  countSignIn(outcome: string): void
  /** Sends pending data within the time limit for shutdown, or until `giveUp` fires. */
  flush(giveUp: AbortSignal): Promise<void>
}

export type Hashing = 'hash_password' | 'compare_hash_and_password'

const nothing = () => {}

/** Used with AUTH_TRACING_ENABLED=false and AUTH_METRICS_ENABLED=false. */
export const noTelemetry: Telemetry = {
  calls: [],
  watchStatement: undefined,
  watchPool: nothing,
  countPoolWait: undefined,
  watchHashQueue: nothing,
  watchRevocations: nothing,
  watchOutbox: nothing,
  countGivenUp: nothing,
  countHashing: nothing,
  countMessage: nothing,
  countCleanup: nothing,
  countSignIn: nothing,
  flush: async () => {},
  [Symbol.asyncDispose]: async () => {},
}

export interface TelemetrySettings {
  readonly config: Pick<Config, 'observability' | 'openTelemetry'>
  readonly version: string
  readonly log: EventLog
  /** The number of this worker, starting at 1. */
  readonly workerNumber: number
}

/** Settings for traces and metrics. */
export interface SdkSettings extends TelemetrySettings {
  readonly resource: Resource
}
