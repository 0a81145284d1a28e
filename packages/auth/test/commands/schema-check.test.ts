/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { readMigrations } from '../../src/db/migrate/files.ts'
import { runCommand } from '../support/auth-command.ts'
import { openProgramEnvironment, runAuth, startAuth } from '../support/auth-program.ts'

const all = (await readMigrations()).map(({ version }) => version)
const last = all.at(-1) ?? ''

/** Opens an up-to-date schema that a test can change. */
async function openMigrated(t: TestContext) {
  const env = await openProgramEnvironment(t)
  if (!env) return undefined
  assert.equal((await runCommand(['migrate'], { env })).code, 0)
  const client = new Client({
    connectionString: env['DATABASE_URL'] ?? '',
    options: `-c search_path=${env['AUTH_DB_NAMESPACE']}`,
  })
  await client.connect()
  t.after(() => client.end())
  const query = async (sql: string, values: readonly unknown[] = []) =>
    (await client.query(sql, [...values])).rows
  return { env, query }
}

test('serve exits if migrations are missing, and names them and the command to run', async (t) => {
  const opened = await openMigrated(t)
  if (!opened) return
  const { env, query } = opened
  await query('delete from schema_migrations where version = $1', [last])
  for (const workers of ['1', '2']) {
    const { code, stderr } = await runAuth(['serve'], { env: { ...env, AUTH_WORKERS: workers } })
    assert.equal(code, 1)
    assert.match(
      stderr,
      new RegExp(`belong to an earlier release \\(missing: ${last}\\): run auth migrate first\\.`),
    )
  }
})

test('no command accepts the tables of a release that is too new', async (t) => {
  const opened = await openMigrated(t)
  if (!opened) return
  const { env, query } = opened
  const insert = 'insert into schema_migrations (version, serves_from) values ($1, $2)'
  await query(insert, ['9000-future', '8999-later-than-ours'])
  await query(insert, ['9001-unsaid', null])
  for (const command of ['serve', 'up', 'migrate']) {
    const { code, stderr } = await runAuth([command], { env })
    assert.equal(code, 1)
    assert.match(stderr, /belong to a later release \(9000-future, 9001-unsaid\).+does not support/)
  }
})

test('serve starts on the tables of the next release and logs it', async (t) => {
  const opened = await openMigrated(t)
  if (!opened) return
  const { env, query } = opened
  const insert = 'insert into schema_migrations (version, serves_from) values ($1, $2)'
  await query(insert, ['9000-next', last])
  const server = await startAuth(t, ['serve'], env)
  assert.match(
    server.output(),
    /belong to a later release \(9000-next\) that is compatible with this one/,
  )
  assert.equal((await runCommand(['migrate'], { env })).code, 0)
})

test('a changed migration file is reported and stops migrations', async (t) => {
  const opened = await openMigrated(t)
  if (!opened) return
  const { env, query } = opened
  await query(
    "update schema_migrations set checksum = 'another' where version = '0003-audit-subject'",
  )
  await query('delete from schema_migrations where version = $1', [last])
  const refused = await runCommand(['migrate'], { env })
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /was changed after it was applied \(0003-audit-subject\).+--accept-changed/,
  )
  assert.equal((await query('select from schema_migrations')).length, all.length - 1)

  await query('insert into schema_migrations (version) values ($1)', [last])
  const server = await startAuth(t, ['serve'], env)
  assert.match(server.output(), /was changed after it was applied \(0003-audit-subject\)/)

  const accepted = await runCommand(['migrate', '--accept-changed'], { env })
  assert.deepEqual([accepted.code, accepted.stderr], [0, ''])
  assert.equal((await runCommand(['migrate'], { env })).code, 0)
})

test('migrations applied by a release without checksums get them', async (t) => {
  const opened = await openMigrated(t)
  if (!opened) return
  const { env, query } = opened
  await query('alter table schema_migrations drop column checksum, drop column serves_from')
  await query('drop table migration_lease')
  const { code, stdout } = await runCommand(['migrate'], { env })
  assert.deepEqual([code, stdout], [0, 'The tables are up to date.\n'])
  const rows = await query('select from schema_migrations where checksum is null')
  assert.equal(rows.length, 0)
})
