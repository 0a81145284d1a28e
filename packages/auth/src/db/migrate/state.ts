import { setTimeout as sleep } from 'node:timers/promises'
import { toCode } from '@portcullis/service-kit/text/reason'
import type { Client } from 'pg'
import { withSchema } from '../statement.ts'
import { runTransaction } from '../transaction.ts'
import { leaseTable } from './lease.ts'

/** The migration state of a schema. */
interface SchemaState {
  readonly hasSchema: boolean
  /** Whether the tables of the migration runner exist in their current form. */
  readonly isPrepared: boolean
  /** Applied migrations by version. */
  readonly applied: ReadonlyMap<string, AppliedMigration>
}

export interface AppliedMigration {
  readonly version: string
  /** Null if an earlier release applied it. */
  readonly checksum: string | null
  /**
   * The last migration that a release must contain to serve on tables with this one; null if it is
   * not recorded.
   */
  readonly servesFrom: string | null
}

const nothing: ReadonlyMap<string, AppliedMigration> = new Map()

/** Reads the catalog, which needs no privilege on the schema. */
const findTables = `
  select n.nspname as schema,
    (select array_agg(a.attname::text) from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = n.oid and c.relname = 'schema_migrations' and a.attnum > 0
       and not a.attisdropped) as columns,
    exists (select from pg_class c where c.relnamespace = n.oid and c.relname = 'migration_lease')
      as "hasLease",
    exists (select from pg_class c where c.relnamespace = n.oid and c.relname = 'users')
      as "hasUsers"
  from pg_namespace n where n.nspname = $1`

interface FoundSchema {
  /** The columns of the table of migrations; null if it does not exist. */
  readonly columns: readonly string[] | null
  readonly hasLease: boolean
  readonly hasUsers: boolean
}

/** @throws {Error} if the schema contains the tables of another server. */
export async function readSchemaState(client: Client, schema: string): Promise<SchemaState> {
  const { rows } = await client.query<FoundSchema>(findTables, [schema])
  const [found] = rows
  if (found === undefined) return { hasSchema: false, isPrepared: false, applied: nothing }
  const { columns, hasLease, hasUsers } = found
  if (columns === null && hasUsers) throw new Error(toForeignText(schema))
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

/** Two servers of this kind cannot share a schema because their tables have the same names. */
function toForeignText(schema: string): string {
  return (
    `The schema "${schema}" contains the tables of another server, such as Supabase Auth. Set ` +
    'AUTH_DB_NAMESPACE to a separate schema, run auth migrate, and copy the users of Supabase Auth with ' +
    `auth import --from postgres://…?schema=${schema}. docs/auth-migration.md describes the move.`
  )
}

/**
 * One key for all schemas of a database, so that two processes create the tables one after the
 * other. Earlier releases used another key, whose lock may remain in the connection of a pooler.
 */
const lockKey = 7_236_481_931

interface PrepareSettings {
  readonly schema: string
  readonly lockTimeoutMs: number
  readonly waitMs: number
  readonly onProgress: (message: string) => void
}

const pauseMs = 200

/**
 * Creates the tables of the migration runner. If the schema exists, the privilege to create one is
 * not needed.
 */
export async function prepare(client: Client, settings: PrepareSettings): Promise<void> {
  const { schema, waitMs, onProgress } = settings
  const startedAt = performance.now()
  for (let isReported = false; !(await tryToPrepare(client, settings)); isReported = true) {
    const what = `the table schema_migrations of the schema "${schema}"`
    if (performance.now() - startedAt > waitMs) {
      throw new Error(
        `Another connection has kept ${what} locked for ${Math.round(waitMs / 1000)} s. End the transaction that ` +
          'holds it, or raise AUTH_DB_MIGRATION_WAIT.',
      )
    }
    if (!isReported) onProgress(`Waiting for another connection that has locked ${what}`)
    await sleep(pauseMs)
  }
}

/** @returns false if another process holds the lock. */
async function tryToPrepare(
  client: Client,
  { schema, lockTimeoutMs }: PrepareSettings,
): Promise<boolean> {
  try {
    return await runTransaction(client, async () => {
      await client.query("select set_config('lock_timeout', $1, true)", [`${lockTimeoutMs}`])
      const { rows } = await client.query<{ isFree: boolean }>(
        'select pg_try_advisory_xact_lock($1) as "isFree"',
        [lockKey],
      )
      const isFree = rows[0]?.isFree ?? false
      if (isFree) await createRunnerTables(client, schema)
      return isFree
    })
  } catch (error) {
    if (toCode(error) === '55P03') return false
    throw error
  }
}

async function createRunnerTables(client: Client, schema: string): Promise<void> {
  const { hasSchema, isPrepared } = await readSchemaState(client, schema)
  if (!hasSchema) await client.query(withSchema('create schema {ns}', schema))
  if (isPrepared) return
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
