import type { Client } from 'pg'
import { quote } from '../../db/statement.ts'
import { ImportError } from '../import-error.ts'
import type { HasColumn } from '../statements/import-table.ts'
import { listSourceTables, listVersions } from '../statements/source.ts'
import type { SupabaseUrl } from './supabase-url.ts'

/** The oldest and the newest release that can be read, and the last migration of each. */
const oldest = { migration: '20240314092811', release: '2.150' } as const
const newest = { migration: '20260625000000', release: '2.196' } as const

export interface SupabaseSchema {
  /** The last migration that was applied. */
  readonly version: string
  readonly has: HasColumn
  readonly hasTable: (name: string) => boolean
  /** Replaces `{supabase}` in a statement by the quoted schema. */
  readonly toText: (statement: string) => string
}

interface ReadSchemaOptions {
  /**
   * Whether a release that is later than `newest` is accepted. Undefined: the command has no option
   * for that.
   */
  readonly acceptsNewer?: boolean
}

/** @throws {ImportError} if it is not the schema of a release of Supabase Auth that can be read. */
export async function readSupabaseSchema(
  client: Client,
  { schema, label }: SupabaseUrl,
  { acceptsNewer }: ReadSchemaOptions,
): Promise<SupabaseSchema> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(listSourceTables, [
    schema,
  ])
  const tables = new Map(rows.map(({ table, columns }) => [table, new Set(columns)]))
  if (tables.get('schema_migrations')?.has('applied_at')) {
    throw new ImportError(
      `The schema (${label}) contains the tables of this server, not those of Supabase Auth. To copy them, use ` +
        'auth backup and auth restore.',
    )
  }
  const missing = ['schema_migrations', 'users', 'identities', 'sessions', 'refresh_tokens'].filter(
    (name) => !tables.has(name),
  )
  if (missing.length > 0) {
    throw new ImportError(
      `The database (${label}) does not contain the tables of Supabase Auth (missing: ${missing.join(', ')}). ` +
        'Check the database name, and name the schema in the URL: ?schema=auth',
    )
  }
  const toText = (statement: string) => statement.replaceAll('{supabase}', quote(schema))
  const { rows: versions } = await client.query<{ version: string }>(toText(listVersions))
  // Versions are dates and times, so the last one in text order is the newest.
  const version = versions.at(-1)?.version ?? ''
  if (version < oldest.migration) {
    throw new ImportError(
      `The tables (${label}) belong to a release of Supabase Auth before ${oldest.release} (last migration: ` +
        `${version || 'none'}). Upgrade Supabase Auth to ${newest.release} first: its migrations run when it starts.`,
    )
  }
  if (version > newest.migration && !acceptsNewer) {
    const trial = acceptsNewer === undefined ? '' : ', or try with --dry-run --accept-newer'
    throw new ImportError(
      `The tables (${label}) belong to a release of Supabase Auth after ${newest.release} (last migration: ` +
        `${version}), which this server has not been tested with. Upgrade this server${trial}.`,
    )
  }
  return {
    version,
    toText,
    has: (table, column) => tables.get(table)?.has(column) ?? false,
    hasTable: (name) => tables.has(name),
  }
}
