import type { Log } from '@portcullis/service-kit/log'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/database.ts'
import { openDatabaseUrl } from './open-database-url.ts'

export interface CommandDatabase extends AsyncDisposable {
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
