import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { withSchema } from './statement.ts'

export interface MigrationSettings {
  readonly url: string
  readonly schema: string
  /** Told of each that is applied. */
  readonly onApplied?: (version: string) => void
}

/** One lock for all processes of a database, whatever their schema. */
const lockId = 7_236_481_930

/**
 * Applies what is missing, each file in a transaction of its own. Several processes may start
 * together: one applies, the others wait and find nothing left to do.
 * @returns the versions applied.
 */
export async function migrate(settings: MigrationSettings): Promise<readonly string[]> {
  const { url, schema, onApplied } = settings
  const client = new Client({ connectionString: url, application_name: 'portcullis-auth migrate' })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [lockId])
    await client.query(withSchema('create schema if not exists {ns}', schema))
    await refuseForeignSchema(client, schema)
    await client.query(
      withSchema(
        'create table if not exists {ns}.schema_migrations' +
          ' (version text primary key, applied_at timestamptz not null default now())',
        schema,
      ),
    )
    const { rows } = await client.query<{ version: string }>(
      withSchema('select version from {ns}.schema_migrations', schema),
    )
    const known = new Set(rows.map(({ version }) => version))
    const applied: string[] = []
    for (const { version, text } of await readMigrations()) {
      if (known.has(version)) continue
      await client.query('begin')
      await client.query(withSchema(text, schema))
      await client.query(
        withSchema('insert into {ns}.schema_migrations (version) values ($1)', schema),
        [version],
      )
      await client.query('commit')
      applied.push(version)
      onApplied?.(version)
    }
    return applied
  } finally {
    // Ends the lock, and a transaction that failed, as well.
    await client.end()
  }
}

interface Migration {
  readonly version: string
  readonly text: string
}

export async function readMigrations(): Promise<readonly Migration[]> {
  const folder = join(import.meta.dirname, 'migrations')
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return await Promise.all(
    files.map(async (name) => ({
      version: name.replace(/\.sql$/, ''),
      text: await readFile(join(folder, name), 'utf8'),
    })),
  )
}

/** The tables of another server of this kind would be in the way, and ours in theirs. */
async function refuseForeignSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ column_name: string }>(
    `select column_name from information_schema.columns
      where table_schema = $1 and table_name = 'schema_migrations'`,
    [schema],
  )
  if (rows.length > 0 && !rows.some(({ column_name }) => column_name === 'applied_at')) {
    throw new Error(
      `The schema "${schema}" holds the tables of another server. Set AUTH_DB_NAMESPACE to a ` +
        'schema of our own; docs/auth.md tells how to bring users over.',
    )
  }
}
