import type { Increment } from '../counter-store.ts'
import type { Credentials } from './address.ts'
import type { Connection, ConnectionSettings } from './connection.ts'
import type { LinkSettings } from './link.ts'
import type { ReplyError } from './resp-reader.ts'
import type { RedisSettings } from './settings.ts'

/** Which server holds a counter: all that tells single server, sentinels and cluster apart. */
export interface Topology {
  /** Asks the servers who they are. One attempt: whoever starts the store tries again. */
  discover(): Promise<void>
  /** Connects to what was discovered, and follows its changes from now on. */
  start(): void
  /** `undefined` when no server has this counter now. */
  connectionFor(increment: Increment): Connection | undefined
  /** Whether one command can concern all these counters. */
  hasInOnePlace(increments: readonly Increment[]): boolean
  /** Where a MOVED or ASK sends a command. `undefined` where there is no cluster to follow. */
  redirect(error: ReplyError): Connection | undefined
  close(reason: string): void
}

/** What every topology is given to make its nodes with. */
export interface Surroundings {
  readonly link: Omit<LinkSettings, 'endpoint'>
  readonly connection: Omit<ConnectionSettings, 'name' | 'locate'>
  readonly poolSize: number
  readonly sentinelCredentials: Credentials | undefined
  readonly log: RedisSettings['log']
}
