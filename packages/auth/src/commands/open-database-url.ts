import { resolve } from 'node:path'
import type { Log } from '@portcullis/service-kit/log'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/database.ts'

interface DatabaseUrl extends AsyncDisposable {
  /** `postgres://…` */
  readonly url: string
  /** What the server itself allows, where we know it. */
  readonly maxConnections?: number
}

interface OpenDatabaseUrlOptions {
  /** Uses the PostgreSQL of a server that runs on the folder; otherwise that is an error. */
  readonly joinsRunning?: boolean
}

/** Starts a PostgreSQL of our own where the URL asks for one. */
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

/** One connection for a command, beside servers that may be running, an embedded one included. */
export async function openCommandDatabase(
  { database, observability }: Config,
  log: Log,
): Promise<CommandDatabase> {
  // Loaded late, so that a command with wrong arguments ends at once.
  const { openDatabase } = await import('../db/database.ts')
  const running = await openDatabaseUrl(database.url, log, { joinsRunning: true })
  const db = openDatabase({
    url: running.url,
    schema: database.namespace,
    maxPoolSize: 1,
    preparedStatements: database.preparedStatements,
    idleTimeoutMs: database.idleTimeoutMs,
    log,
    // The operator sees what the command does, so its audit entries need no line in the log.
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

/** The folder of `embedded://FOLDER`, as it is written there; undefined for any other URL. */
export function parseEmbeddedUrl(url: string): string | undefined {
  if (!url.startsWith(scheme)) return undefined
  const folder = url.slice(scheme.length)
  return folder === '' ? undefined : resolve(folder)
}
