import type { Client } from 'pg'

/**
 * A backup is a gzip file of lines: a header, then for each table a line with its columns, its rows as
 * COPY writes them and a line `\.`, then an end that says how many rows there are.
 */
export const formatName = 'portcullis auth backup'
export const formatVersion = 1

export interface BackupHeader {
  readonly format: typeof formatName
  readonly formatVersion: number
  readonly createdAt: string
  /** Of the auth server that wrote it. */
  readonly serverVersion: string
  /** Of PostgreSQL: `18.4`. */
  readonly postgresVersion: string
  /** The migrations that the tables had. */
  readonly migrations: readonly string[]
  readonly sequences: readonly SequenceState[]
}

export interface TableHeader {
  readonly table: StoredTable
}

export interface BackupEnd {
  /** By table. */
  readonly rows: Readonly<Record<string, number>>
}

export const endOfRows = '\\.'

export function toLine(value: BackupHeader | TableHeader | BackupEnd): string {
  return `${JSON.stringify(value)}\n`
}

export interface StoredTable {
  readonly name: string
  /** Those that hold data; PostgreSQL computes the others. */
  readonly columns: readonly string[]
}

/** Tables of the migration runner: the target database has its own. */
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

/** The tables of a schema, each after all that it refers to. */
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
      throw new Error(`These tables refer to each other in a circle: ${[...waiting].join(', ')}`)
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

/** Those that have given out a number, with the last one. */
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
 * Values are written and read the same way whatever the settings of the two servers are, and limits
 * that suit requests do not count. Until the end of the transaction.
 */
export const sessionForCopies = `
  select set_config(name, value, true) from (values
    ('DateStyle', 'ISO, YMD'), ('IntervalStyle', 'postgres'), ('TimeZone', 'UTC'),
    ('bytea_output', 'hex'), ('extra_float_digits', '1'), ('client_encoding', 'UTF8'),
    ('statement_timeout', '0'), ('idle_in_transaction_session_timeout', '0'),
    ('transaction_timeout', '0')
  ) as s (name, value)
  where exists (select from pg_settings p where p.name = s.name)`
