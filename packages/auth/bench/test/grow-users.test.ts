/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { openSharedPostgres } from '../../test/support/shared-postgres.ts'
import { cases } from '../cases.ts'
import { query } from '../servers/database-server.ts'
import { growUsers } from '../servers/grow-users.ts'

interface Facts {
  readonly users: number
  readonly identities: number
  readonly counted: number
  readonly indexes: number
}

const readFacts = (url: string) =>
  query<Facts>(
    url,
    `select (select count(*) from auth.users)::int as users,
       (select count(*) from auth.identities i join auth.users u on u.id = i.user_id
         where i.email = u.email)::int as identities,
       (select coalesce(sum(count), 0) from auth.user_counts)::int as counted,
       (select count(*) from pg_indexes where schemaname = 'auth')::int as indexes`,
  )

const tablesWithTokens = `create schema auth;
  create table auth.users (
    instance_id uuid, id uuid primary key, aud varchar(255), role varchar(255),
    email varchar(255) unique, encrypted_password varchar(255), email_confirmed_at timestamptz,
    confirmation_token varchar(255), recovery_token varchar(255),
    email_change_token_new varchar(255), email_change varchar(255),
    raw_app_meta_data jsonb, raw_user_meta_data jsonb,
    created_at timestamptz, updated_at timestamptz,
    confirmed_at timestamptz generated always as (email_confirmed_at) stored
  );
  create index users_instance_id_idx on auth.users (instance_id);
  create table auth.identities (
    provider_id text not null, user_id uuid not null references auth.users, identity_data jsonb,
    provider text, last_sign_in_at timestamptz, created_at timestamptz, updated_at timestamptz,
    email text generated always as (lower(identity_data ->> 'email')) stored,
    id uuid default gen_random_uuid() primary key
  )`

test('users are inserted into the tables of a server', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const createDatabase = async (name: string) => {
    const database = `${name}_${process.pid}`
    await query(postgres.url, `create database ${database}`)
    t.after(() => query(postgres.url, `drop database ${database}`))
    const url = new URL(postgres.url)
    url.pathname = `/${database}`
    return url.href
  }

  await t.test('into ours in steps, with identities, counts and all indexes', async () => {
    const url = await createDatabase('ours')
    await migrate({ url, schema: 'auth' })
    const [empty] = await readFacts(url)
    await growUsers(url, 0, 600)
    await growUsers(url, 600, 1_000)
    const [grown] = await readFacts(url)
    const all = { users: 1_000, identities: 1_000, counted: 1_000 }
    assert.deepEqual(grown, { ...all, indexes: empty?.indexes })

    const filter = cases.find(({ name }) => name === 'admin-filter-1k')?.path?.split('filter=')[1]
    const matching = `select from auth.users where email like '%' || $1 || '%'`
    assert.equal((await query(url, matching, [filter])).length, 1)
  })

  await t.test('into tables that hold tokens in their rows, without nulls', async () => {
    const url = await createDatabase('with_tokens')
    await query(url, tablesWithTokens)
    await growUsers(url, 0, 100)
    const [row] = await query(
      url,
      `select count(*)::int as users, count(confirmation_token)::int as tokens,
         count(email_change)::int as changes, count(instance_id)::int as instances from auth.users`,
    )
    assert.deepEqual(row, { users: 100, tokens: 100, changes: 100, instances: 100 })
  })
})
