import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { openClient } from '../connection/open-client.ts'
import { readSchemaState } from '../migrate/state.ts'
import { quote } from '../statement.ts'
import { beginSnapshot, commit } from '../transaction.ts'
import {
  endOfRows,
  formatName,
  formatVersion,
  listSequences,
  listTables,
  sessionForCopies,
  toLine,
} from './format.ts'
import { writePrivateFile } from './private-file.ts'

export interface WriteBackupSettings {
  readonly url: string
  readonly schema: string
  readonly file: string
  /** The version of the auth server. */
  readonly serverVersion: string
}

/**
 * Writes a consistent snapshot of all rows while other clients continue to write.
 * @returns the number of rows of each table.
 */
export async function writeBackup(
  settings: WriteBackupSettings,
): Promise<Readonly<Record<string, number>>> {
  const { url, file } = settings
  const client = await openClient(url, 'portcullis-auth backup')
  const rows: Record<string, number> = {}
  try {
    await client.query(beginSnapshot)
    await client.query(sessionForCopies)
    // Private, because it contains password hashes and keys.
    await writePrivateFile(file, async (output) => {
      await pipeline(writeLines(client, settings, rows), createGzip(), output)
      await client.query(commit)
    })
    return rows
  } finally {
    await client.end()
  }
}

async function* writeLines(
  client: Client,
  { schema, serverVersion }: WriteBackupSettings,
  rows: Record<string, number>,
): AsyncGenerator<string | Buffer> {
  const { applied } = await readSchemaState(client, schema)
  if (applied.size === 0) {
    throw new Error(
      `The schema "${schema}" contains no tables of this server, so there is nothing to back up: check ` +
        'AUTH_DB_DATABASE_URL and AUTH_DB_NAMESPACE.',
    )
  }
  const { rows: versions } = await client.query<{ version: string }>(
    "select current_setting('server_version') as version",
  )
  yield toLine({
    format: formatName,
    formatVersion,
    createdAt: new Date().toISOString(),
    serverVersion,
    postgresVersion: versions[0]?.version ?? '',
    migrations: [...applied.keys()].sort(),
    sequences: await listSequences(client, schema),
  })
  for (const table of await listTables(client, schema)) {
    yield toLine({ table })
    // A query, because COPY cannot read partitioned tables directly.
    const columns = table.columns.map((name) => quote(name)).join(', ')
    const stream = client.query(
      copyTo(`copy (select ${columns} from ${quote(schema, table.name)}) to stdout`),
    )
    for await (const chunk of stream) yield chunk
    yield `${endOfRows}\n`
    rows[table.name] = stream.rowCount
  }
  yield toLine({ rows })
}
