import type { Socket } from 'node:net'
import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import { type Channel, PrimaryLink } from '@portcullis/service-kit/workers/primary-link'
import type { Config } from '../config/config.ts'
import type { BucketPeers } from '../limits/buckets.ts'
import type { LimiterName } from '../limits/request-limits.ts'

/** The processes that share the work of one port, as one of them sees it. */
export interface Group {
  /** Our place in it, from 1. */
  readonly number: number
  /** How many we are. */
  readonly size: number
  /** Connections come from here: the port is another process's. */
  receive(adopt: (socket: Socket) => void): void
  /** One of those has ended. */
  tellClosed(): void
  readonly peers: BucketPeers
  /** Of all warnings about one topic, from whichever process, the first is logged. */
  warnOnce(topic: string, message: string): void
}

/** What clients connect to; there is no other. */
export const listener = 'http'

/** All that a worker has to know. */
export interface WorkerStart {
  /** Its place among the workers, from 1; its replacement gets the same. */
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

type Admitted = readonly [limiter: LimiterName, key: string, count: number]

/** Requests that were allowed: a worker reports its own, and gets those of all others. */
export interface AdmittedMessage {
  readonly kind: 'admitted'
  readonly counts: readonly Admitted[]
}

/** What a worker sends the primary, besides what every worker does. */
export type FromWorker =
  | AdmittedMessage
  /** For the log, unless another worker has sent one about the same topic. */
  | { readonly kind: 'warning'; readonly topic: string; readonly message: string }

/**
 * How long others may not know of a request that was allowed here. A message for each would cost as
 * much as the request; one now and then costs nothing.
 */
const tellAfterMs = 100

/** A worker's side of what it has with its primary. */
export class AuthLink extends PrimaryLink<AdmittedMessage, FromWorker> implements Group {
  readonly number: number
  readonly size: number
  readonly peers: BucketPeers
  #taken: Parameters<BucketPeers['hear']>[0] = () => {}
  #untold = new Map<string, Admitted>()
  #connections = 0

  constructor(
    channel: Channel<FromWorker>,
    place: Pick<WorkerStart, 'number' | 'size'>,
    onStop: Lifecycle['stop'],
  ) {
    super(channel, onStop)
    this.number = place.number
    this.size = place.size
    this.peers = {
      tell: (limiter, key, count) => this.#count(limiter, key, count),
      hear: (taken) => {
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

  tellClosed(): void {
    this.#countConnections(-1)
  }

  warnOnce(topic: string, message: string): void {
    void this.send({ kind: 'warning', topic, message })
  }

  protected handleMessage({ counts }: AdmittedMessage): void {
    for (const [limiter, key, count] of counts) this.#taken(limiter, key, count)
  }

  #countConnections(by: 1 | -1): void {
    this.#connections += by
    this.reportConnections(listener, this.#connections)
  }

  #count(limiter: LimiterName, key: string, count: number): void {
    if (this.#untold.size === 0) setTimeout(() => this.#tellCounts(), tellAfterMs).unref()
    const id = `${limiter}\0${key}`
    this.#untold.set(id, [limiter, key, (this.#untold.get(id)?.[2] ?? 0) + count])
  }

  #tellCounts(): void {
    const counts = [...this.#untold.values()]
    this.#untold = new Map()
    void this.send({ kind: 'admitted', counts })
  }
}
