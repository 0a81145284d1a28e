import { toReason } from '@portcullis/service-kit/text/reason'
import type { Client } from 'pg'
import { openClient } from '../db/connection/open-client.ts'
import { ImportError } from './import-error.ts'
import { identifyDatabase } from './statements/repoint.ts'
import {
  canReadSystemIdentifier,
  readDatabaseName,
  readSystemIdentifier,
} from './statements/source.ts'
import type { SupabaseUrl } from './supabase/supabase-url.ts'

export interface BothClients {
  /** A connection to the database of Supabase Auth. */
  readonly supabase: Client
  /** A connection to the database of this server. */
  readonly own: Client
}

export const applicationName = 'portcullis-auth import'

/**
 * Connects to both databases, and disconnects at the end.
 * @throws {ImportError} if the database of Supabase Auth cannot be reached.
 */
export async function withBothDatabases<Result>(
  supabaseUrl: SupabaseUrl,
  ownUrl: string,
  use: (clients: BothClients) => Promise<Result>,
): Promise<Result> {
  const supabase = await openSupabase(supabaseUrl)
  try {
    const own = await openClient(ownUrl, applicationName)
    try {
      return await use({ supabase, own })
    } finally {
      await own.end()
    }
  } finally {
    await supabase.end()
  }
}

async function openSupabase({ url, label, option }: SupabaseUrl): Promise<Client> {
  try {
    return await openClient(url, applicationName)
  } catch (error) {
    throw new ImportError(
      `The database of Supabase Auth (${label}) cannot be reached (${toReason(error)}): check the URL in ${option}, and that ` +
        'PostgreSQL there accepts connections from this machine.',
      { cause: error },
    )
  }
}

export async function isSameDatabase({ supabase, own }: BothClients): Promise<boolean> {
  const [one, other] = await Promise.all(
    [supabase, own].map(async (client) => {
      const { rows } = await client.query<{ identity: string }>(identifyDatabase)
      return rows[0]?.identity
    }),
  )
  return one === other
}

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
