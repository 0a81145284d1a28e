import type { Log } from '@portcullis/service-kit/log'
import type { TlsFiles } from '../network/client-tls.ts'
import type { RedisAddress } from './address.ts'

export interface RedisSettings {
  /** Which server or servers, from `parseRedisAddress`. */
  readonly address: RedisAddress
  /** `password` or `user:password`; wins over what the URL says. */
  readonly auth?: string | undefined
  /** The same for the sentinels, which have credentials of their own. */
  readonly sentinelAuth?: string | undefined
  /** TLS to the servers and to the sentinels; left out for plain connections. */
  readonly tls?: TlsFiles | undefined
  /**
   * The most connections per node. One is used as long as it keeps up, because commands that share
   * a write cost least; each further one is opened when the others have many replies outstanding.
   */
  readonly poolSize?: number
  /**
   * How long commands are collected before they are written. 0, and all below a millisecond, stand
   * for the turn of the event loop: what arrives together leaves together.
   */
  readonly pipelineWindowMs?: number
  /** The most commands in one write; 0 for no limit. */
  readonly pipelineLimit?: number
  /** Accepted for the sake of envoyproxy/ratelimit: here all nodes are always asked at once. */
  readonly clusterParallelism?: number
  /** For the connection and its handshake together; 0 for the default. */
  readonly connectTimeoutMs?: number
  /** The longest a call waits for Redis; its own deadline may be earlier. `Infinity` for no limit. */
  readonly commandTimeoutMs?: number
  /** TTL = unit + a random part below this. 0 or less for none. */
  readonly expirationJitterMaxSeconds?: number
  /** How to try again while Redis cannot be reached at the start. */
  readonly startup?: StartupSettings
  readonly counters?: ConnectionCounters
  /** Called with true when the first connection stands, and with false when the last one is gone. */
  readonly onActive?: (isActive: boolean) => void
  /** Called after each attempt to reach Redis at the start that failed. */
  readonly onFailedStart?: (error: unknown) => void
  /** Whether the process may end while the store is open, as that of a library should. Default: false. */
  readonly isBackground?: boolean
  readonly log: Pick<Log, 'error' | 'warning' | 'info' | 'debug'>
}

export interface StartupSettings {
  readonly initialIntervalMs: number
  readonly maxIntervalMs: number
  /** When to give up; 0 for never. */
  readonly maxElapsedMs: number
}

/** The statistics of a pool: `cx_active` is what there is now, the others only ever grow. */
export class ConnectionCounters {
  active = 0
  readonly total: { value: number }
  readonly localClose: { value: number }

  /** @param counter gives the counter of a name; the names are those of envoyproxy/ratelimit. */
  constructor(counter: (name: string) => { value: number } = () => ({ value: 0 })) {
    this.total = counter('cx_total')
    this.localClose = counter('cx_local_close')
  }
}

export const redisDefaults = {
  poolSize: 10,
  pipelineWindowMs: 0,
  pipelineLimit: 0,
  connectTimeoutMs: 10_000,
  commandTimeoutMs: 1_000,
  expirationJitterMaxSeconds: 300,
  isBackground: false,
  startup: { initialIntervalMs: 1_000, maxIntervalMs: 30_000, maxElapsedMs: 0 },
} satisfies Partial<RedisSettings>
