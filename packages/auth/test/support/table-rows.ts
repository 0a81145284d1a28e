import type { Client } from 'pg'

export type Columns = ReadonlyMap<string, readonly string[]>

/** The columns of each table, except those of the migration runner. */
export async function readColumns(client: Client, schema: string): Promise<Columns> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.table_name as name, array_agg(c.column_name::text order by c.column_name) as columns
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = $1 and table_type = 'BASE TABLE' and table_name !~ 'migration'
     group by 1 order by 1`,
    [schema],
  )
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}

/** All rows as JSON, in an order that depends only on their content. */
export async function readRows(client: Client, schema: string, columns: Columns) {
  const all = new Map<string, readonly string[]>()
  for (const [table, names] of columns) {
    const list = names.map((name) => `"${name}"`).join(', ')
    const { rows } = await client.query<{ row: string }>(
      `select to_jsonb(r)::text as row from (select ${list} from "${schema}"."${table}") r order by 1`,
    )
    all.set(
      table,
      rows.map(({ row }) => row),
    )
  }
  return all
}
