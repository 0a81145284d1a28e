import type { Increment } from '../../counter-store.ts'
import type { Credentials } from '../address.ts'
import type { Connection, ConnectionSettings } from '../connection/connection.ts'
import type { LinkSettings } from '../connection/link.ts'
import type { ReplyError } from '../connection/resp-reader.ts'
import type { RedisSettings } from '../settings.ts'

/**
 * Finds the server of a counter. This is the only difference between a single server, sentinels and a
 * cluster.
 */
export interface Topology {
  /** Queries the servers for their roles. It makes one attempt; the store retries. */
  discover(): Promise<void>
  /** Connects to the discovered servers, and follows changes from now on. */
  start(): void
  /** Returns `undefined` when no server has this counter now. */
  connectionFor(increment: Increment): Connection | undefined
  /** Whether one command can access all these counters. */
  hasInOnePlace(increments: readonly Increment[]): boolean
  /** The target of a MOVED or ASK redirection; `undefined` outside a cluster. */
  redirect(error: ReplyError): Connection | undefined
  close(reason: string): void
}

/** The dependencies of every topology, to create its nodes. */
export interface TopologyContext {
  readonly link: Omit<LinkSettings, 'endpoint'>
  readonly connection: Omit<ConnectionSettings, 'name' | 'locate'>
  readonly poolSize: number
  readonly sentinelCredentials: Credentials | undefined
  readonly log: RedisSettings['log']
}
