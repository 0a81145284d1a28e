import type { Client } from 'pg'
import { quote } from '../../db/statement.ts'
import { ImportError } from '../import-error.ts'
import type { HasColumn } from '../statements/import-table.ts'
import { findSource, listVersions } from '../statements/source.ts'
import type { SourceUrl } from './source-url.ts'

/** The last migrations of the releases that the import knows. */
const oldest = { migration: '20240314092811', release: '2.150' } as const
const newest = { migration: '20260625000000', release: '2.196' } as const

export interface SourceSchema {
  /** The last migration. */
  readonly version: string
  readonly has: HasColumn
  readonly hasTable: (name: string) => boolean
  /** Replaces `{source}` by the schema. */
  readonly text: (statement: string) => string
}

interface ReadSchemaOptions {
  /** Whether a release is accepted that is later than the known ones. */
  readonly acceptsNewer: boolean
}

/** @throws {ImportError} if it is not the schema of a known release of Supabase Auth. */
export async function readSourceSchema(
  client: Client,
  { schema, label }: SourceUrl,
  { acceptsNewer }: ReadSchemaOptions,
): Promise<SourceSchema> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(findSource, [schema])
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
  const text = (statement: string) => statement.replaceAll('{source}', quote(schema))
  const { rows: versions } = await client.query<{ version: string }>(text(listVersions))
  // The first migration of the source is called 00.
  const version = versions.at(-1)?.version ?? ''
  if (version < oldest.migration) {
    throw new ImportError(
      `The tables (${label}) belong to a release of Supabase Auth before ${oldest.release} (last migration: ` +
        `${version || 'none'}). Upgrade Supabase Auth to ${newest.release} first: its migrations run when it starts.`,
    )
  }
  if (version > newest.migration && !acceptsNewer) {
    throw new ImportError(
      `The tables (${label}) belong to a release of Supabase Auth after ${newest.release} (last migration: ` +
        `${version}), which this release has not been tested with. Upgrade this server, or try with --dry-run --accept-newer.`,
    )
  }
  return {
    version,
    text,
    has: (table, column) => tables.get(table)?.has(column) ?? false,
    hasTable: (name) => tables.has(name),
  }
}
