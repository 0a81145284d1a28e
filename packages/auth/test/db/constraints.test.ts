/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { readMigrations } from '../../src/db/migrate/files.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { factorKindNames } from '../../src/plugins/factors/index.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

const userId = '00000000-0000-4000-8000-00000000000a'
const factorId = '00000000-0000-4000-8000-00000000000b'

test('table constraints', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const { url } = postgres
  const schema = `constraints_${process.pid}`
  const client = new Client({ connectionString: url, options: `-c search_path=${schema}` })
  await client.connect()
  t.after(() => client.end())
  const all = await readMigrations()
  await migrate({ url, schema, migrations: all.filter(({ version }) => version < '0033') })
  const addSession = (named: string | null, more = '') =>
    client.query(
      `insert into sessions (id, user_id, factor_id ${more && ', aal'})
       values (gen_random_uuid(), $1, $2 ${more})`,
      [userId, named],
    )
  const readFactors = async () =>
    (await client.query('select factor_id from sessions order by created_at')).rows.map(
      ({ factor_id }) => factor_id,
    )
  await client.query('insert into users (id) values ($1)', [userId])
  // An earlier version may have left a session with a factor that does not exist.
  await addSession('00000000-0000-4000-8000-00000000000c')

  await t.test('are added and validated even if sessions refer to deleted factors', async () => {
    await migrate({ url, schema })
    assert.deepEqual(await readFactors(), [null])
    const { rows } = await client.query(
      'select conname from pg_constraint where connamespace = $1::regnamespace and not convalidated',
      [schema],
    )
    assert.deepEqual(rows, [])
  })

  await t.test('deleting a factor removes it from all sessions', async () => {
    await client.query(
      `insert into mfa_factors (id, user_id, factor_type) values ($1, $2, 'totp')`,
      [factorId, userId],
    )
    await addSession(factorId)
    assert.deepEqual(await readFactors(), [null, factorId])
    await client.query('delete from mfa_factors')
    assert.deepEqual(await readFactors(), [null, null])
  })

  await t.test('a factor of every kind can be stored', async () => {
    for (const kind of factorKindNames) {
      await client.query('insert into mfa_factors (id, user_id, factor_type) values ($1, $2, $3)', [
        factorId,
        userId,
        kind,
      ])
      await client.query('delete from mfa_factors')
    }
  })

  await t.test('values that no version writes are refused', async () => {
    await assert.rejects(addSession(null, ", 'aal9'"), { constraint: 'sessions_aal_check' })
    await assert.rejects(
      client.query(
        `insert into mfa_factors (id, user_id, factor_type) values ($1, $2, 'telepathy')`,
        [factorId, userId],
      ),
      { constraint: 'mfa_factors_type_check' },
    )
  })

  await t.test('an audit entry for a refresh has two index entries', async () => {
    const { rows } = await client.query(
      `select c.relname as name, pg_get_expr(i.indpred, i.indrelid) as predicate
       from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = 'audit_log_entries'::regclass order by 1`,
    )
    const predicate = "((payload ->> 'log_type'::text) IS DISTINCT FROM 'token'::text)"
    assert.deepEqual(rows, [
      { name: 'audit_log_entries_action', predicate },
      { name: 'audit_log_entries_address', predicate },
      { name: 'audit_log_entries_pkey', predicate: null },
      { name: 'audit_log_entries_user', predicate: null },
    ])
  })

  await t.test('users and sessions have a fill factor with room for updates', async () => {
    const { rows } = await client.query(
      `select relname, reloptions from pg_class
       where relnamespace = $1::regnamespace and relname in ('users', 'sessions') order by 1`,
      [schema],
    )
    assert.deepEqual(
      rows.map(({ reloptions }) => reloptions),
      [['fillfactor=90'], ['fillfactor=90']],
    )
  })
})
