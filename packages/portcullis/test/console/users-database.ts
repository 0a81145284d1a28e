import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestWorld } from '../support/world.ts'

export interface ManyUsers {
  /** Users are numbered from 1; the highest number is the newest user. */
  readonly count: number
  /** The domain of their email addresses. */
  readonly domain: string
}

/** Returns the email address of the user with that number. */
export function toSeededEmail(number: number, { domain }: Pick<ManyUsers, 'domain'>): string {
  return `person-${String(number).padStart(6, '0')}@${domain}`
}

/**
 * Inserts users directly into the database of the auth server, which is about a thousand times faster than its
 * API. They are a year older than all other users, and a second apart.
 */
export async function addManyUsers(world: TestWorld, { count, domain }: ManyUsers): Promise<void> {
  await using database = await openDatabase(world)
  await database.client.query(
    `with made as (
       insert into auth.users (id, aud, role, email, email_confirmed_at, raw_app_meta_data,
         raw_user_meta_data, created_at, updated_at)
       select gen_random_uuid(), 'authenticated', 'authenticated',
         'person-' || lpad(n::text, 6, '0') || '@' || $2, now(),
         '{"provider": "email", "providers": ["email"]}',
         jsonb_build_object('full_name', 'Person ' || n),
         now() - interval '365 days' + n * interval '1 second', now()
       from generate_series(1, $1::integer) n
       returning id, email, created_at
     )
     insert into auth.identities (id, user_id, provider, provider_id, identity_data, created_at,
       updated_at)
     select gen_random_uuid(), id, 'email', id::text,
       jsonb_build_object('sub', id, 'email', email), created_at, now() from made`,
    [count, domain],
  )
  await database.client.query('analyze auth.users')
}

/** Runs a statement on the tables of the auth server. */
export async function runSql(
  world: Pick<TestWorld, 'folder'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<void> {
  await using database = await openDatabase(world)
  await database.client.query(text, [...values])
}

export async function removeManyUsers(world: TestWorld, domain: string): Promise<void> {
  await using database = await openDatabase(world)
  await database.client.query('delete from auth.users where email like $1', [`%@${domain}`])
}

export async function openDatabase({ folder }: Pick<TestWorld, 'folder'>) {
  // The fifth line contains the folder of the socket.
  const file = readFileSync(join(folder, 'database/data/postmaster.pid'), 'utf8')
  const [, , , , host] = file.split('\n')
  const client = new Client({ host, user: 'postgres', database: 'postgres' })
  await client.connect()
  return {
    client,
    [Symbol.asyncDispose]: () => client.end(),
  }
}

/** Stores that a user has granted access to an OAuth client, without the pages on which users decide. */
export async function grantAccess(
  world: Pick<TestWorld, 'folder'>,
  userId: string,
  clientId: string,
): Promise<void> {
  await runSql(
    world,
    `insert into auth.oauth_consents (user_id, client_id, resource, scopes, granted_at)
     values ($1, $2, '', '["email", "profile"]', now())`,
    [userId, clientId],
  )
}
