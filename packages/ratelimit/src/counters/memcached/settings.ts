import type { Log } from '@portcullis/service-kit/log/log'
import type { TlsFiles } from '../network/client-tls.ts'
import type { MemcachedStatistics } from './statistics.ts'

export interface MemcachedSettings {
  readonly nodes: MemcachedNodes
  /**
   * The maximum number of connections per node. One is used as long as it keeps up, because commands that
   * share a write cost least; another one is opened when the others have many outstanding replies, and
   * stays open. 0 is the same as 1.
   */
  readonly maxIdleConnections?: number
  /** TLS settings; omit them for unencrypted connections. */
  readonly tls?: TlsFiles | undefined
  /**
   * The timeout of a call to a node, and of an attempt to connect. After it, no call waits for the node
   * until it answers again.
   */
  readonly timeoutMs?: number
  /** The TTL is the unit plus a random part of at least 1 and less than this. */
  readonly expirationJitterMaxSeconds?: number
  /**
   * Whether a name that is too long for memcached is replaced by one with a hash. Otherwise it is refused,
   * as in envoyproxy/ratelimit.
   */
  readonly hashesLongNames?: boolean
  /**
   * Whether a call fails when a node cannot be read. Default: false, which treats its counts as 0, as in
   * envoyproxy/ratelimit.
   */
  readonly failsUnread?: boolean
  /** Whether the process may exit while the store is open, which libraries must allow. Default: false. */
  readonly isBackground?: boolean
  readonly statistics?: MemcachedStatistics
  readonly log: Pick<Log, 'error' | 'warning' | 'info' | 'debug'>
  /** Milliseconds since the epoch: TTLs above 30 days are sent as a time. */
  readonly now?: () => number
  readonly resolveSrv?: ResolveSrv
}

export type MemcachedNodes =
  /** `host:port` or the path of a Unix socket. The order determines which node has which counter. */
  | { readonly kind: 'list'; readonly hosts: readonly string[] }
  /** With `refreshMs` 0 the record is looked up only once. */
  | { readonly kind: 'srv'; readonly record: string; readonly refreshMs: number }

/** Like `resolveSrv` of `node:dns/promises`. */
export type ResolveSrv = (record: string) => Promise<readonly SrvTarget[]>

export interface SrvTarget {
  /** The name without the trailing dot. */
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
