import type { Resource } from '@opentelemetry/resources'
import type { EventLog } from '@portcullis/service-kit/log'
import type { Config } from '../config/config.ts'
import type { PoolState, StatementEnded } from '../db/database.ts'
import type { CleanupRound } from '../features/server/cleanup.ts'
import type { OutboxState } from '../features/server/readiness.ts'
import type { HashQueueState } from '../passwords/passwords.ts'
import type { CallWatch } from './watched-call.ts'

/**
 * Traces and metrics (reference 16). Those parts of the server that have something to tell do not
 * know who listens; `app.ts` connects them.
 */
export interface Telemetry extends AsyncDisposable {
  readonly calls: readonly CallWatch[]
  /** Undefined: nobody wants to know. */
  readonly watchStatement: ((name: string) => StatementEnded) | undefined
  watchPool(read: () => PoolState): void
  /** How long a statement waited for a connection. Undefined if metrics are off. */
  readonly countPoolWait: ((waitMs: number) => void) | undefined
  watchHashQueue(queue: HashQueueState): void
  watchOutbox(read: () => Promise<OutboxState | undefined>): void
  /** A message that will never be sent. */
  countGivenUp(channel: string, kind: string): void
  /** One of `password hash` and `password comparison`; called again when it is done. */
  countHashing(kind: Hashing, stage: 'submitted' | 'completed'): void
  /** An attempt to send a message. */
  countMessage(channel: string, kind: string, isFailed: boolean): void
  countCleanup(round: CleanupRound): void
  /** A sign-in that succeeded, or the reason why it failed. */
  countSignIn(outcome: string): void
  /** Sends what waits, for as long as a stop may take, or until told to give up. */
  flush(giveUp: AbortSignal): Promise<void>
}

export type Hashing = 'hash_password' | 'compare_hash_and_password'

const nothing = () => {}

/** AUTH_TRACING_ENABLED=false and AUTH_METRICS_ENABLED=false. */
export const noTelemetry: Telemetry = {
  calls: [],
  watchStatement: undefined,
  watchPool: nothing,
  countPoolWait: undefined,
  watchHashQueue: nothing,
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
  /** Our place among the processes of this server, from 1. */
  readonly workerNumber: number
}

/** What traces and metrics are opened with. */
export interface SdkSettings extends TelemetrySettings {
  readonly resource: Resource
}
