import type { Client } from 'pg'
import {
  canReadSystemIdentifier,
  readDatabaseName,
  readSystemIdentifier,
} from './statements/source.ts'
import type { SupabaseUrl } from './supabase/supabase-url.ts'

/**
 * Identifies a schema of Supabase Auth, however its address is written: by the identifier that
 * PostgreSQL generates for a database cluster. If the role may not read it, the host and the port of the
 * URL are used instead.
 */
export async function readDatabaseIdentity(client: Client, from: SupabaseUrl): Promise<string> {
  const { rows: names } = await client.query<{ name: string }>(readDatabaseName)
  const { rows: allowed } = await client.query<{ isAllowed: boolean }>(canReadSystemIdentifier)
  const server = allowed[0]?.isAllowed === true ? await readServerIdentity(client) : from.server
  return JSON.stringify({ server, database: names[0]?.name, schema: from.schema })
}

async function readServerIdentity(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ identifier: string }>(readSystemIdentifier)
  return rows[0]?.identifier
}
