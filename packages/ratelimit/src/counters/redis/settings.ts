import type { Log } from '@portcullis/service-kit/log/log'
import type { TlsFiles } from '../network/client-tls.ts'
import type { RedisAddress } from './address.ts'

export interface RedisSettings {
  /** The servers, from `parseRedisAddress`. */
  readonly address: RedisAddress
  /** `password` or `user:password`; overrides the credentials in the URL. */
  readonly auth?: string | undefined
  /** The same for the sentinels, which have separate credentials. */
  readonly sentinelAuth?: string | undefined
  /** TLS settings for servers and sentinels; omit them for unencrypted connections. */
  readonly tls?: TlsFiles | undefined
  /**
   * The maximum number of connections per node. One is used as long as it keeps up, because commands that
   * share a write cost least; another one is opened when the others have many outstanding replies.
   */
  readonly poolSize?: number
  /**
   * How long commands are collected before they are written. 0, and every value below a millisecond, means
   * one turn of the event loop: commands of the same turn are sent together.
   */
  readonly pipelineWindowMs?: number
  /** The maximum number of commands in one write; 0 for no limit. */
  readonly pipelineLimit?: number
  /** Accepted for compatibility with envoyproxy/ratelimit: here all nodes are always queried in parallel. */
  readonly clusterParallelism?: number
  /** The timeout for the connection and its handshake together; 0 for the default. */
  readonly connectTimeoutMs?: number
  /** The timeout of a call, unless its own deadline is earlier. `Infinity` for no limit. */
  readonly commandTimeoutMs?: number
  /** The TTL is the unit plus a random part below this. 0 or less for none. */
  readonly expirationJitterMaxSeconds?: number
  /** How to retry while Redis cannot be reached at startup. */
  readonly startup?: StartupSettings
  readonly counters?: ConnectionCounters
  /** Called with true when the first connection is established, and with false when the last one is lost. */
  readonly onActive?: (isActive: boolean) => void
  /** Called after each failed attempt to reach Redis at startup. */
  readonly onFailedStart?: (error: unknown) => void
  /** Whether the process may exit while the store is open, which libraries must allow. Default: false. */
  readonly isBackground?: boolean
  readonly log: Pick<Log, 'error' | 'warning' | 'info' | 'debug'>
}

export interface StartupSettings {
  readonly initialIntervalMs: number
  readonly maxIntervalMs: number
  /** When to give up; 0 for never. */
  readonly maxElapsedMs: number
}

/** The statistics of a pool: `cx_active` is a gauge, the others are counters. */
export class ConnectionCounters {
  active = 0
  readonly total: { value: number }
  readonly localClose: { value: number }

  /** @param counter - returns the counter of a name; the names are those of envoyproxy/ratelimit */
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
