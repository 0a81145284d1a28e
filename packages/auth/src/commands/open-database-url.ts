import { resolve } from 'node:path'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/database.ts'

interface DatabaseUrl extends AsyncDisposable {
  /** `postgres://…` */
  readonly url: string
  /** The connection limit of the embedded server, if it was started here. */
  readonly maxConnections?: number
}

interface OpenDatabaseUrlOptions {
  /**
   * Whether to connect to the PostgreSQL of a server that is running on the folder. Otherwise, such
   * a server is an error.
   */
  readonly joinsRunning?: boolean
}

/** Starts an embedded PostgreSQL if the URL requests one. */
export async function openDatabaseUrl(
  url: string,
  log: Log,
  { joinsRunning = false }: OpenDatabaseUrlOptions = {},
): Promise<DatabaseUrl> {
  const folder = parseEmbeddedUrl(url)
  if (folder === undefined) return { url, async [Symbol.asyncDispose]() {} }
  if (joinsRunning) {
    const { findRunningServer } = await import('../db/embedded/open-embedded-postgres.ts')
    const running = await findRunningServer(folder)
    if (running !== undefined) return { url: running, async [Symbol.asyncDispose]() {} }
  }
  const { openEmbeddedPostgres } = await import('../db/embedded/open-embedded-postgres.ts')
  return openEmbeddedPostgres({ folder, log })
}

interface CommandDatabase extends AsyncDisposable {
  readonly db: Database
}

/**
 * Opens one connection for a command. Servers may be running, including one with an embedded
 * PostgreSQL.
 */
export async function openCommandDatabase(
  { database, observability }: Config,
  log: Log,
): Promise<CommandDatabase> {
  // Loaded here, so that a command with invalid arguments ends quickly.
  const { openDatabase } = await import('../db/database.ts')
  const running = await openDatabaseUrl(database.url, log, { joinsRunning: true })
  const db = openDatabase({
    url: running.url,
    schema: database.namespace,
    maxPoolSize: 1,
    preparedStatements: database.preparedStatements,
    idleTimeoutMs: database.idleTimeoutMs,
    log,
    // The command prints what it does, so its audit entries are not logged as well.
    ...(!observability.hasAuditTable && { audit: { isStored: false, onWritten() {} } }),
  })
  return {
    db,
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]()
      await running[Symbol.asyncDispose]()
    },
  }
}

const scheme = 'embedded://'

/** Returns the absolute path of DIR in `embedded://DIR`; undefined for any other URL. */
export function parseEmbeddedUrl(url: string): string | undefined {
  if (!url.startsWith(scheme)) return undefined
  const folder = url.slice(scheme.length)
  return folder === '' ? undefined : resolve(folder)
}
