import { Client } from 'pg'
import { audience } from './environment.ts'

/** The time between the creation of two users, starting a year ago. */
export const creationIntervalMs = 10_000

/** Values of the user with number `n`; some columns exist in only one of the two schemas. */
const userColumns: Readonly<Record<string, string>> = {
  id: 'gen_random_uuid()',
  instance_id: "'00000000-0000-0000-0000-000000000000'",
  aud: `'${audience}'`,
  role: "'authenticated'",
  email: "substr(md5(n::text), 1, 12) || '@bench.example'",
  encrypted_password: "''",
  email_confirmed_at: 'now()',
  raw_app_meta_data: `'{"provider": "email", "providers": ["email"]}'`,
  raw_user_meta_data: "jsonb_build_object('full_name', 'Person ' || substr(md5('x' || n), 1, 8))",
  created_at: `now() - interval '365 days' + n * interval '${creationIntervalMs} milliseconds'`,
  updated_at: 'now()',
}

/** If a user row holds tokens, the server expects empty strings and not nulls. */
const emptyWithTokens = [
  'confirmation_token',
  'recovery_token',
  'email_change_token_new',
  'email_change',
]

const identityColumns: Readonly<Record<string, string>> = {
  id: 'gen_random_uuid()',
  user_id: 'u.id',
  provider: "'email'",
  provider_id: 'u.id::text',
  identity_data: "jsonb_build_object('sub', u.id, 'email', u.email, 'email_verified', true)",
  last_sign_in_at: 'now()',
  created_at: 'u.created_at',
  updated_at: 'now()',
}

/**
 * Inserts users with the numbers `from` to `to` into the tables of either server. Indexes that are
 * not unique are built afterwards, which takes a fraction of the time.
 */
export async function growUsers(databaseUrl: string, from: number, to: number): Promise<void> {
  if (from >= to) return
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const users = await findColumns(client, 'users', {
      ...userColumns,
      ...((await hasColumn(client, 'users', 'confirmation_token')) &&
        Object.fromEntries(emptyWithTokens.map((name) => [name, "''"]))),
    })
    const identities = await findColumns(client, 'identities', identityColumns)
    await client.query('begin')
    await client.query("set local work_mem = '512MB'")
    // Foreign keys are not checked, because that would take long for a million rows.
    await client.query('alter table auth.identities disable trigger all')
    const indexes = await dropIndexes(client)
    await client.query(`with made as (
       insert into auth.users (${Object.keys(users).join(', ')})
       select ${Object.values(users).join(', ')} from generate_series(${from + 1}, ${to}) n
       returning id, email, created_at
     )
     insert into auth.identities (${Object.keys(identities).join(', ')})
     select ${Object.values(identities).join(', ')} from made u`)
    await client.query('alter table auth.identities enable trigger all')
    for (const definition of indexes) await client.query(definition)
    await client.query('commit')
    await client.query('vacuum analyze auth.users, auth.identities')
  } finally {
    await client.end()
  }
}

/** The columns of a table for which there are values. */
async function findColumns(
  client: Client,
  table: string,
  known: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = 'auth' and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  )
  if (rows.length === 0) throw new Error(`The table auth.${table} does not exist`)
  const names = new Set(rows.map(({ name }) => name))
  return Object.fromEntries(Object.entries(known).filter(([name]) => names.has(name)))
}

async function hasColumn(client: Client, table: string, column: string): Promise<boolean> {
  return column in (await findColumns(client, table, { [column]: '' }))
}

/** Returns the statements that create the indexes again. */
async function dropIndexes(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i
     where i.indrelid in ('auth.users'::regclass, 'auth.identities'::regclass) and not i.indisunique`,
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  return rows.map(({ definition }) => definition)
}
