import type { Log } from '@portcullis/service-kit/log'
import { parseEmbeddedUrl } from '../db/embedded/embedded-url.ts'

export interface DatabaseUrl extends AsyncDisposable {
  /** `postgres://…` */
  readonly url: string
  /** What the server itself allows, where we know it. */
  readonly maxConnections?: number
}

/** Starts a PostgreSQL of our own where the URL asks for one. */
export async function openDatabaseUrl(url: string, log: Log): Promise<DatabaseUrl> {
  const folder = parseEmbeddedUrl(url)
  if (folder === undefined) return { url, async [Symbol.asyncDispose]() {} }
  const { openEmbeddedPostgres } = await import('../db/embedded/open-embedded-postgres.ts')
  return openEmbeddedPostgres({ folder, log })
}
