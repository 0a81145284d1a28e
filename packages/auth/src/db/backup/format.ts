import type { Client } from 'pg'

/**
 * A backup is a gzip file of lines: a header; for each table a line with its columns, its rows in
 * the format of COPY and a line `\.`; and a trailer with the number of rows.
 */
export const formatName = 'portcullis auth backup'
export const formatVersion = 1

export interface BackupHeader {
  readonly format: typeof formatName
  readonly formatVersion: number
  readonly createdAt: string
  /** The version of the auth server that wrote the backup. */
  readonly serverVersion: string
  /** The version of PostgreSQL, such as `18.4`. */
  readonly postgresVersion: string
  /** The migrations that had been applied to the tables. */
  readonly migrations: readonly string[]
  readonly sequences: readonly SequenceState[]
}

export interface TableHeader {
  readonly table: StoredTable
}

export interface BackupEnd {
  /** The number of rows by table. */
  readonly rows: Readonly<Record<string, number>>
}

export const endOfRows = '\\.'

export function toLine(value: BackupHeader | TableHeader | BackupEnd): string {
  return `${JSON.stringify(value)}\n`
}

export interface StoredTable {
  readonly name: string
  /** Columns that store data, without generated columns. */
  readonly columns: readonly string[]
}

/** Tables of the migration runner; the target database has its own. */
const runnerTables = ['schema_migrations', 'migration_lease']

const findTables = `
  select c.relname as name,
    array_agg(a.attname::text order by a.attnum) filter (where a.attgenerated = '') as columns,
    coalesce((
      select array_agg(distinct f.relname::text) from pg_constraint k
      join pg_class f on f.oid = k.confrelid
      where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid
    ), '{}') as "refersTo"
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> all ($2)
  group by c.oid, c.relname order by c.relname`

/** Lists the tables of a schema, each after all tables that it references. */
export async function listTables(client: Client, schema: string): Promise<readonly StoredTable[]> {
  const { rows } = await client.query<StoredTable & { readonly refersTo: readonly string[] }>(
    findTables,
    [schema, runnerTables],
  )
  const sorted: StoredTable[] = []
  let left = rows
  while (left.length > 0) {
    const waiting = new Set(left.map(({ name }) => name))
    const next = left.filter(({ refersTo }) => refersTo.every((name) => !waiting.has(name)))
    if (next.length === 0) {
      throw new Error(`These tables have circular references: ${[...waiting].join(', ')}`)
    }
    sorted.push(...next.map(({ name, columns }) => ({ name, columns })))
    left = left.filter((table) => !next.includes(table))
  }
  return sorted
}

interface SequenceState {
  readonly name: string
  readonly value: string
}

/** Lists the sequences that have been used, with their last value. */
export async function listSequences(
  client: Client,
  schema: string,
): Promise<readonly SequenceState[]> {
  const { rows } = await client.query<SequenceState>(
    `select sequencename as name, last_value::text as value from pg_sequences
     where schemaname = $1 and last_value is not null order by 1`,
    [schema],
  )
  return rows
}

/**
 * Makes the format of values independent of the settings of both servers and lifts the limits that
 * are meant for requests. Applies until the end of the transaction.
 */
export const sessionForCopies = `
  select set_config(name, value, true) from (values
    ('DateStyle', 'ISO, YMD'), ('IntervalStyle', 'postgres'), ('TimeZone', 'UTC'),
    ('bytea_output', 'hex'), ('extra_float_digits', '1'), ('client_encoding', 'UTF8'),
    ('statement_timeout', '0'), ('idle_in_transaction_session_timeout', '0'),
    ('transaction_timeout', '0')
  ) as s (name, value)
  where exists (select from pg_settings p where p.name = s.name)`
