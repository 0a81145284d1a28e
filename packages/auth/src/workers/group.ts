import type { Socket } from 'node:net'
import type { Lifecycle } from '@portcullis/service-kit/process/lifecycle'
import { type Channel, PrimaryLink } from '@portcullis/service-kit/workers/primary-link'
import type { Config } from '../config/config.ts'
import type { BucketPeers } from '../limits/buckets.ts'
import type { LimiterName } from '../limits/request-limits.ts'
import type { PreparedMessage, ReloadMessage } from './reload-messages.ts'
import { createWorkerReload, type WorkerReload } from './worker-reload.ts'

/** The worker processes that share one port, as seen by one of them. */
export interface Group {
  /** The number of this worker, starting at 1. */
  readonly number: number
  /** The number of workers. */
  readonly size: number
  /** Receives connections from the primary, which owns the port. */
  receive(adopt: (socket: Socket) => void): void
  /** Reports that a received connection was closed. */
  reportClosed(): void
  /** Receives connections to the listener for ext_authz. */
  receiveChecks(adopt: (socket: Socket) => void): void
  /** Reports the number of these connections. */
  reportChecks(count: number): void
  readonly peers: BucketPeers
  /** Logs only the first warning about a topic among all processes. */
  warnOnce(topic: string, message: string): void
}

/** The names of the listeners. */
export const listener = 'http'
export const checksListener = 'ext_authz'

/** The settings of a worker. */
export interface WorkerStart {
  /** The number of the worker, starting at 1; its replacement gets the same number. */
  readonly number: number
  /** The number of workers. */
  readonly size: number
  readonly config: Config
  readonly version: string
  /** When the primary started, in milliseconds since the epoch. */
  readonly startedAt: number
  /** The URL of a running PostgreSQL with up-to-date tables. */
  readonly databaseUrl: string
  /** The connection limit of this worker, if it is known. */
  readonly maxConnections: number | undefined
}

type Admitted = readonly [limiter: LimiterName, key: string, count: number]

/** Allowed requests: a worker reports its own, and receives those of all others. */
export interface AdmittedMessage {
  readonly kind: 'admitted'
  readonly counts: readonly Admitted[]
}

/** Messages from the primary to a worker, in addition to those of every primary. */
export type ToWorker = AdmittedMessage | ReloadMessage

/** Messages from a worker to the primary, in addition to those of every worker. */
export type FromWorker =
  | AdmittedMessage
  | PreparedMessage
  /** Logged unless another worker has sent a warning about the same topic. */
  | { readonly kind: 'warning'; readonly topic: string; readonly message: string }

/**
 * The delay before other workers learn of a request that was allowed here. A message per request
 * would cost as much as the request itself, so counts are sent in batches.
 */
const reportDelayMs = 100

/** The worker's side of the connection to its primary. */
export class AuthLink extends PrimaryLink<ToWorker, FromWorker> implements Group {
  readonly number: number
  readonly size: number
  readonly peers: BucketPeers
  readonly reload: WorkerReload
  #taken: Parameters<BucketPeers['onReport']>[0] = () => {}
  #unreported = new Map<string, Admitted>()
  #connections = 0

  constructor(
    channel: Channel<FromWorker>,
    place: Pick<WorkerStart, 'number' | 'size'>,
    onStop: Lifecycle['stop'],
    onReloadFailure: (error: Error) => void = () => {},
  ) {
    super(channel, onStop)
    this.number = place.number
    this.size = place.size
    this.reload = createWorkerReload({
      send: (message) => this.send(message),
      onFailure: onReloadFailure,
    })
    this.peers = {
      report: (limiter, key, count) => this.#count(limiter, key, count),
      onReport: (taken) => {
        this.#taken = taken
      },
    }
  }

  receive(adopt: (socket: Socket) => void): void {
    this.serve(listener, (socket) => {
      this.#countConnections(1)
      adopt(socket)
    })
  }

  reportClosed(): void {
    this.#countConnections(-1)
  }

  receiveChecks(adopt: (socket: Socket) => void): void {
    this.serve(checksListener, adopt)
  }

  reportChecks(count: number): void {
    this.reportConnections(checksListener, count)
  }

  warnOnce(topic: string, message: string): void {
    void this.send({ kind: 'warning', topic, message })
  }

  protected handleMessage(message: ToWorker): void {
    if (message.kind !== 'admitted') {
      this.reload.take(message)
      return
    }
    for (const [limiter, key, count] of message.counts) this.#taken(limiter, key, count)
  }

  #countConnections(by: 1 | -1): void {
    this.#connections += by
    this.reportConnections(listener, this.#connections)
  }

  #count(limiter: LimiterName, key: string, count: number): void {
    if (this.#unreported.size === 0) setTimeout(() => this.#reportCounts(), reportDelayMs).unref()
    const id = `${limiter}\0${key}`
    this.#unreported.set(id, [limiter, key, (this.#unreported.get(id)?.[2] ?? 0) + count])
  }

  #reportCounts(): void {
    const counts = [...this.#unreported.values()]
    this.#unreported = new Map()
    void this.send({ kind: 'admitted', counts })
  }
}
