import type { Client } from 'pg'
import { withSchema } from '../statement.ts'
import { leaseTable } from './lease.ts'

/** What a schema says of itself. */
export interface SchemaState {
  readonly hasSchema: boolean
  /** Whether the tables of the runner are there, as this version needs them. */
  readonly isPrepared: boolean
  /** By version. */
  readonly applied: ReadonlyMap<string, AppliedMigration>
}

export interface AppliedMigration {
  readonly version: string
  /** Null where an earlier release applied it. */
  readonly checksum: string | null
  /** The last migration that a server must know to serve on this one; null: nobody said. */
  readonly servesFrom: string | null
}

const nothing: ReadonlyMap<string, AppliedMigration> = new Map()

/** The catalog, because it may be read without any right on the schema. */
const findTables = `
  select n.nspname as schema,
    (select array_agg(a.attname::text) from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = n.oid and c.relname = 'schema_migrations' and a.attnum > 0
       and not a.attisdropped) as columns,
    exists (select from pg_class c where c.relnamespace = n.oid and c.relname = 'migration_lease')
      as "hasLease"
  from pg_namespace n where n.nspname = $1`

/** @throws {Error} where the schema holds the tables of another server. */
export async function readSchemaState(client: Client, schema: string): Promise<SchemaState> {
  const { rows } = await client.query<{ columns: string[] | null; hasLease: boolean }>(findTables, [
    schema,
  ])
  const [found] = rows
  if (found === undefined) return { hasSchema: false, isPrepared: false, applied: nothing }
  const { columns, hasLease } = found
  if (columns === null) return { hasSchema: true, isPrepared: false, applied: nothing }
  if (!columns.includes('applied_at')) throw new Error(toForeignText(schema))
  const isCurrent = columns.includes('checksum') && columns.includes('serves_from')
  const extra = isCurrent ? 'checksum, serves_from' : 'null as checksum, null as serves_from'
  const { rows: applied } = await client.query<{
    version: string
    checksum: string | null
    serves_from: string | null
  }>(withSchema(`select version, ${extra} from {ns}.schema_migrations order by version`, schema))
  return {
    hasSchema: true,
    isPrepared: isCurrent && hasLease,
    applied: new Map(
      applied.map(({ version, checksum, serves_from }) => [
        version,
        { version, checksum, servesFrom: serves_from },
      ]),
    ),
  }
}

/** The tables of another server of this kind would be in the way, and ours in theirs. */
function toForeignText(schema: string): string {
  return (
    `The schema "${schema}" holds the tables of another server. Set AUTH_DB_NAMESPACE to a ` +
    'schema of our own; docs/auth.md tells how to bring users over.'
  )
}

/** One key for all schemas of a database: two processes make its tables one after the other. */
const lockKey = 7_236_481_930

/** The statements that make what the runner needs. A schema that is there needs no right to make one. */
export async function prepare(client: Client, schema: string): Promise<void> {
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    const { hasSchema, isPrepared } = await readSchemaState(client, schema)
    if (!hasSchema) await client.query(withSchema('create schema {ns}', schema))
    if (!isPrepared) {
      await client.query(
        withSchema(
          'create table if not exists {ns}.schema_migrations' +
            ' (version text primary key, applied_at timestamptz not null default now())',
          schema,
        ),
      )
      await client.query(
        withSchema(
          'alter table {ns}.schema_migrations add column if not exists checksum text,' +
            ' add column if not exists serves_from text',
          schema,
        ),
      )
      await client.query(withSchema(leaseTable, schema))
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}
