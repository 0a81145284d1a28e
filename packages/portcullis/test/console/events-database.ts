import type { TestWorld } from '../support/world.ts'
import { openDatabase } from './users-database.ts'

/**
 * Inserts audit entries directly into the database of the auth server: one per second, from a year ago on, all
 * from one address.
 */
export async function addManyEvents(
  world: TestWorld,
  { count, address }: { readonly count: number; readonly address: string },
): Promise<void> {
  await using database = await openDatabase(world)
  await database.client.query(
    `insert into auth.audit_log_entries (id, payload, ip_address, created_at)
     select gen_random_uuid(), jsonb_build_object('action', 'login', 'log_type', 'account',
       'actor_id', gen_random_uuid(), 'actor_username', 'person-' || n || '@example.com',
       'traits', jsonb_build_object('provider', 'email')), $2,
       now() - interval '365 days' + n * interval '1 second'
     from generate_series(1, $1::integer) n`,
    [count, address],
  )
}

export async function removeManyEvents(world: TestWorld, address: string): Promise<void> {
  await using database = await openDatabase(world)
  await database.client.query('delete from auth.audit_log_entries where ip_address = $1', [address])
}
