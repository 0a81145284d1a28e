/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { expectedFile, readObjects, toExpectedText } from '../../src/db/schema/repair.ts'
import { openOwnDatabase } from '../support/shared-postgres.ts'

/** This name must not occur anywhere else in the definitions. */
const schema = 'written_down'

async function openMigrated(t: TestContext) {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return undefined
  const { url } = postgres
  await migrate({ url, schema })
  const client = new Client({ connectionString: url, options: `-c search_path=${schema},public` })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return { client, url }
}

test('the schema that the migrations create matches the recorded one', async (t) => {
  const opened = await openMigrated(t)
  if (!opened) return
  const text = toExpectedText(await readObjects(opened.client, schema), schema)
  if (process.env['UPDATE_SCHEMA'] === '1') await writeFile(expectedFile, text)
  assert.equal(
    await readFile(expectedFile, 'utf8'),
    text,
    'Run UPDATE_SCHEMA=1 npm test -- packages/auth/test/db/schema.test.ts',
  )
})

test('migrate recreates missing objects and nothing else', async (t) => {
  const opened = await openMigrated(t)
  if (!opened) return
  const { client, url } = opened
  const before = await readObjects(client, schema)
  const repaired: string[] = []
  const run = () => migrate({ url, schema, onRepaired: (thing) => repaired.push(thing) })
  assert.deepEqual([await run(), repaired], [[], []])

  await client.query(`
    drop index users_email;
    drop index users_search;
    drop extension pg_trgm cascade;
    drop function uid();
    drop function count_users() cascade;
    alter table audit_log_entries disable trigger tell_audit_entry;
    alter table identities drop constraint identities_user_id_fkey;
    alter table sessions drop constraint sessions_aal_check;
    alter table sessions add constraint sessions_aal_check check (aal in ('aal1', 'aal2')) not valid;
    alter table server_keys drop constraint server_keys_pkey;
    create index users_theirs on users (updated_at);`)
  await client.query(
    `update pg_index set indisvalid = false where indexrelid = 'outbox_due'::regclass`,
  )
  // The second run finds nothing to do.
  await Promise.all([run(), run()])
  assert.deepEqual(repaired.toSorted(), [
    'constraint identities.identities_user_id_fkey',
    'constraint server_keys.server_keys_pkey',
    'constraint sessions.sessions_aal_check',
    'function count_users()',
    'function uid()',
    'index outbox.outbox_due',
    'index users.users_email',
    'index users.users_search',
    'trigger audit_log_entries.tell_audit_entry',
    'trigger users.count_deleted',
    'trigger users.count_inserted',
    'trigger users.count_moved',
    'trigger users.count_truncated',
  ])
  await client.query('drop index users_theirs')
  assert.deepEqual(await readObjects(client, schema), before)
})

test('missing tables and columns are named, and nothing is changed', async (t) => {
  const opened = await openMigrated(t)
  if (!opened) return
  const { client, url } = opened
  await client.query(
    'drop table outbox; alter table users drop column phone; drop index sessions_user_id',
  )
  const before = await readObjects(client, schema)
  await assert.rejects(
    migrate({ url, schema }),
    /lacks objects of applied migrations: the table outbox, the column users\.phone\. Run auth migrate as the owner/,
  )
  assert.deepEqual(await readObjects(client, schema), before)
})
