/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { runAuth } from '../support/auth-program.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { openSharedPostgres, runIn } from '../support/shared-postgres.ts'
import { openSource } from '../support/supabase-source/open-source.ts'

test('serve, migrate and up do not change the tables of Supabase Auth, and recommend auth import', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const source = await openSource(t, postgres.url, '2.196')
  const list = async () =>
    (
      await source.client.query(
        `select table_name, column_name from information_schema.columns
         where table_schema = $1 order by 1, 2`,
        [source.schema],
      )
    ).rows
  const before = await list()
  const env = {
    ...testEnvironment,
    DATABASE_URL: postgres.url,
    AUTH_DB_NAMESPACE: source.schema,
  }
  const assertRefused = async () => {
    for (const command of ['serve', 'migrate', 'up']) {
      // The server logs to the standard error of its process.
      const { code, stderr } = await runAuth([command], { env })
      assert.equal(code, 1, command)
      assert.match(stderr, /contains the tables of another server, such as Supabase Auth/)
      assert.match(stderr, /Set AUTH_DB_NAMESPACE to a separate schema, .+auth import --from/)
    }
  }
  await assertRefused()
  assert.deepEqual(await list(), before)
  // They are recognised as tables of another server even without the table of migrations.
  await source.client.query('drop table schema_migrations')
  await assertRefused()
})

test('a role that cannot create the schema gets advice, and no table is left behind', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const role = `visitor_${process.pid}`
  await runIn(postgres.url, `create role ${role} login password 'visitor'`)
  t.after(() => runIn(postgres.url, `drop role ${role}`))
  const url = new URL(postgres.url)
  url.username = role
  url.password = 'visitor'
  const schema = `refused_${process.pid}`
  const env = { ...testEnvironment, DATABASE_URL: url.href, AUTH_DB_NAMESPACE: schema }
  const { code, stderr } = await runCommand(['migrate'], { env })
  assert.equal(code, 1)
  assert.match(stderr, /^The migration failed: The database role lacks a privilege/)
  const served = await runAuth(['serve'], { env })
  assert.match(
    served.stderr,
    new RegExp(`The tables do not exist \\(the schema \\\\?"${schema}\\\\?" has none\\)`),
  )
})
