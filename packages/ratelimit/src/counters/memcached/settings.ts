import type { Log } from '@portcullis/service-kit/log'
import type { TlsFiles } from '../network/client-tls.ts'
import type { MemcachedStatistics } from './statistics.ts'

export interface MemcachedSettings {
  readonly nodes: MemcachedNodes
  /**
   * The most connections per node. One is used as long as it keeps up, because commands that share a
   * write cost least; each further one is opened when the others have many replies outstanding, and
   * is kept. So there is none to close after use. 0 stands for 1.
   */
  readonly maxIdleConnections?: number
  /** TLS to the nodes; left out for plain connections. */
  readonly tls?: TlsFiles | undefined
  /**
   * The longest a call waits for a node, and the longest an attempt to connect lasts. A node that is
   * silent for so long is not asked again before it answers.
   */
  readonly timeoutMs?: number
  /** TTL = unit + a random part of at least 1 and below this. */
  readonly expirationJitterMaxSeconds?: number
  /**
   * Whether a counter whose name is too long for memcached gets another one, with a hash. Otherwise it
   * is refused, as envoyproxy/ratelimit does.
   */
  readonly hashesLongNames?: boolean
  /**
   * Whether a call fails when a node cannot be read. Default: false, which takes its counts for 0, as
   * envoyproxy/ratelimit does.
   */
  readonly failsUnread?: boolean
  /** Whether the process may end while the store is open, as that of a library should. Default: false. */
  readonly isBackground?: boolean
  readonly statistics?: MemcachedStatistics
  readonly log: Pick<Log, 'error' | 'warning' | 'info' | 'debug'>
  /** Milliseconds since the epoch: TTLs above 30 days are sent as a time. */
  readonly now?: () => number
  readonly resolveSrv?: ResolveSrv
}

export type MemcachedNodes =
  /** `host:port` or the path of a unix socket. The order decides which node has which counter. */
  | { readonly kind: 'list'; readonly hosts: readonly string[] }
  /** `refreshMs` 0: never again. */
  | { readonly kind: 'srv'; readonly record: string; readonly refreshMs: number }

/** Like `resolveSrv` of `node:dns/promises`. */
export type ResolveSrv = (record: string) => Promise<readonly SrvTarget[]>

export interface SrvTarget {
  /** Without the last dot. */
  readonly name: string
  readonly port: number
}

export const memcachedDefaults = {
  maxIdleConnections: 2,
  timeoutMs: 500,
  expirationJitterMaxSeconds: 300,
  hashesLongNames: true,
  failsUnread: false,
  isBackground: false,
} satisfies Partial<MemcachedSettings>
