/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { openAuthServer } from '../../support/auth-server.ts'
import { send } from '../../support/http-client.ts'
import { openOwnDatabase } from '../../support/shared-postgres.ts'

test('without pg_trgm, users can be listed and searched, but there is no index', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const client = new Client({ connectionString: postgres.url })
  // The connection is still open when its database is dropped.
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  await client.query(`
    create function refuse() returns event_trigger language plpgsql as
      $$ begin raise exception 'no extensions here'; end $$;
    create event trigger refuse on ddl_command_start when tag in ('CREATE EXTENSION')
      execute function refuse()`)
  const schema = 'plain'
  const server = await openAuthServer(t, { database: { url: postgres.url, schema } })
  if (!server) return
  const { rows } = await client.query("select from pg_indexes where indexname = 'users_search'")
  assert.equal(rows.length, 0)
  const { url, serviceToken: token } = server
  for (const name of ['anna', 'hanna', 'otto']) {
    const body = { email: `${name}@example.com`, user_metadata: { full_name: name.toUpperCase() } }
    assert.equal((await send(url, '/admin/users', { token, body })).status, 200)
  }
  for (const filter of ['anna', 'Ann', 'an']) {
    const { body, headers } = await send(url, `/admin/users?filter=${filter}`, { token })
    const emails = body.users.map(({ email }: { readonly email: string }) => email)
    assert.deepEqual(emails, ['hanna@example.com', 'anna@example.com'])
    assert.equal(headers.get('x-total-count'), '2')
  }
})
