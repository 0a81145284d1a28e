import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { openClient } from '../connection/open-client.ts'
import { readMigrations } from '../migrate/files.ts'
import { type MigrationSettings, migrate } from '../migrate/migrate.ts'
import { readSchemaState } from '../migrate/state.ts'
import { quote } from '../statement.ts'
import { listTables, sessionForCopies } from './format.ts'
import { type Backup, readBackup } from './read-backup.ts'

export interface RestoreBackupSettings
  extends Pick<
    MigrationSettings,
    'url' | 'schema' | 'waitMs' | 'lockTimeoutMs' | 'onApplied' | 'onProgress'
  > {
  readonly file: string
  /** Called when all rows are stored. The tables are migrated afterwards. */
  readonly onLoaded?: () => void
}

/**
 * Restores the rows of a backup into an empty schema: the tables are created with the migrations of
 * the backup, filled in one transaction, and then migrated.
 * @returns the number of rows of each table.
 */
export async function restoreBackup(
  settings: RestoreBackupSettings,
): Promise<Readonly<Record<string, number>>> {
  const { url, schema, file } = settings
  const backup = await readBackup(file)
  try {
    const own = await readMigrations()
    const { migrations: versions, serverVersion } = backup.header
    const known = new Set(own.map(({ version }) => version))
    const unknown = versions.filter((version) => !known.has(version))
    if (unknown.length > 0) {
      throw new Error(
        `${file} was written by a later release (${serverVersion}, with the migrations ` +
          `${unknown.join(', ')}): restore it with that release.`,
      )
    }
    await refuseData(settings, versions)
    await migrate({
      ...settings,
      migrations: own.filter(({ version }) => versions.includes(version)),
    })
    await load(backup, settings)
    settings.onLoaded?.()
    await migrate(settings)
    await run(url, async (client) => {
      for (const { name } of await listTables(client, schema)) {
        await client.query(`analyze ${quote(schema, name)}`)
      }
    })
    return backup.end().rows
  } finally {
    backup.close()
  }
}

async function run<Result>(url: string, use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await openClient(url, 'portcullis-auth restore')
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

/** @throws {Error} if the schema contains rows, or migrations that the backup does not have. */
async function refuseData(
  { url, schema }: RestoreBackupSettings,
  versions: readonly string[],
): Promise<void> {
  await run(url, async (client) => {
    const { applied } = await readSchemaState(client, schema)
    const tables = applied.size === 0 ? [] : await listTables(client, schema)
    const filled: string[] = []
    for (const { name } of tables) {
      const { rowCount } = await client.query(`select from ${quote(schema, name)} limit 1`)
      if (rowCount !== 0) filled.push(name)
    }
    const later = [...applied.keys()].filter((version) => !versions.includes(version))
    if (filled.length === 0 && later.length === 0) return
    const what =
      filled.length > 0 ? `rows (in ${filled.join(', ')})` : 'the tables of a later release'
    throw new Error(
      `The schema "${schema}" contains ${what}, and a backup can only be restored into an empty schema. Set ` +
        'AUTH_DB_DATABASE_URL to another folder or database, or rename the schema first: alter schema … rename to …',
    )
  })
}

/** Loads all tables in one transaction. */
async function load(backup: Backup, { url, schema, file }: RestoreBackupSettings): Promise<void> {
  await run(url, async (client) => {
    await client.query('begin')
    await client.query(sessionForCopies)
    const known = new Set((await listTables(client, schema)).map(({ name }) => name))
    // The triggers already ran when the rows were first written.
    for (const name of known) {
      await client.query(`alter table ${quote(schema, name)} disable trigger user`)
    }
    const loaded: Record<string, number> = {}
    for await (const { table, rows } of backup.tables()) {
      if (!known.has(table.name)) {
        throw new Error(
          `${file} is damaged: it contains the table ${table.name}, which no migration creates. Use another backup.`,
        )
      }
      const columns = table.columns.map((name) => quote(name)).join(', ')
      const stream = client.query(
        copyFrom(`copy ${quote(schema, table.name)} (${columns}) from stdin`),
      )
      await pipeline(Readable.from(inBatches(rows)), stream)
      loaded[table.name] = stream.rowCount
    }
    const { rows: expected } = backup.end()
    for (const [name, count] of Object.entries(expected)) {
      if (loaded[name] !== count) {
        throw new Error(
          `${file} is damaged: it contains ${loaded[name] ?? 0} of ${count} rows of ${name}. Use another backup.`,
        )
      }
    }
    await advanceSequences(client, schema, backup)
    for (const name of known) {
      await client.query(`alter table ${quote(schema, name)} enable trigger user`)
    }
    await client.query('commit')
  })
}

/**
 * Sequences continue where they were. A role without access to sequences writes a backup without
 * them; then they continue after the highest value in use.
 */
async function advanceSequences(client: Client, schema: string, { header }: Backup): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(
    `select c.relname as table, a.attname as column, s.relname as sequence
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
     join pg_class s on s.oid =
       pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname)::regclass
     where n.nspname = $1`,
    [schema],
  )
  for (const { table, column, sequence } of rows) {
    const last = header.sequences.find(({ name }) => name === sequence)?.value ?? null
    await client.query(
      `select setval($1::regclass, highest) from (
         select greatest(max(${quote(column)}), $2::bigint) as highest from ${quote(schema, table)}
       ) h where highest is not null`,
      [quote(schema, sequence), last],
    )
  }
}

const batchBytes = 64 * 1024

/** Without batches, each row would be a separate message to PostgreSQL. */
async function* inBatches(rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let batch: Buffer[] = []
  let size = 0
  for await (const row of rows) {
    batch.push(row)
    size += row.length
    if (size < batchBytes) continue
    yield Buffer.concat(batch)
    batch = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(batch)
}
