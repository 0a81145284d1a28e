import type { Log } from '@portcullis/service-kit/log'
import { parseEmbeddedUrl } from '../db/embedded/embedded-url.ts'

export interface DatabaseUrl extends AsyncDisposable {
  /** `postgres://…` */
  readonly url: string
  /** What the server itself allows, where we know it. */
  readonly maxConnections?: number
}

export interface OpenDatabaseUrlOptions {
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
    const { findRunningServer } = await import('../db/embedded/running-server.ts')
    const running = await findRunningServer(folder)
    if (running !== undefined) return { url: running, async [Symbol.asyncDispose]() {} }
  }
  const { openEmbeddedPostgres } = await import('../db/embedded/open-embedded-postgres.ts')
  return openEmbeddedPostgres({ folder, log })
}
