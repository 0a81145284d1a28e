import type { Client } from 'pg'

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

export interface SequenceState {
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
