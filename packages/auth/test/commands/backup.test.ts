/**
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { Client } from 'pg'
import { openClient } from '../../src/db/connection/open-client.ts'
import { readMigrations, toTransactional } from '../../src/db/migrate/files.ts'
import { oldestServer } from '../../src/db/migrate/migrate.ts'
import { withSchema } from '../../src/db/statement.ts'
import { runCommand } from '../support/auth-command.ts'
import { startAuth } from '../support/auth-program.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { addEarlierRows } from '../support/earlier-data.ts'
import { makeFolder, openEmbedded, waitUntil } from '../support/embedded-place.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { openOwnDatabase } from '../support/shared-postgres.ts'
import { readColumns, readRows } from '../support/table-rows.ts'

const schema = 'auth'

async function connect(t: TestContext, url: string): Promise<Client> {
  const client = new Client({ connectionString: url, options: `-c search_path=${schema}` })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

/** Returns the id of the message. */
async function addMessage(client: Client): Promise<number> {
  const { rows } = await client.query(
    `insert into ${schema}.outbox (channel, kind, recipient, payload, expires_at)
     values ('email', 'confirmation', '', '{}', now()) returning id`,
  )
  return Number(rows[0]?.id)
}

const toEnv = (url: string) => ({ ...testEnvironment, DATABASE_URL: url })

test('an embedded database is backed up during sign-ups and restored elsewhere', async (t) => {
  const folder = await makeFolder(t)
  const env = toEnv(`embedded://${join(folder, 'first')}`)
  const server = await startAuth(t, ['up'], env)
  const signUp = async () => {
    const email = newEmail()
    const { status, body } = await send(server.url, '/signup', { body: { email, password } })
    assert.equal(status, 200, JSON.stringify(body))
    return { email, id: body.user.id as string, refreshToken: body.refresh_token as string }
  }
  const before = [await signUp(), await signUp(), await signUp()]
  let isWriting = true
  let written = 0
  const writers = [1, 2].map(async () => {
    for (; isWriting; written += 1) await signUp()
  })
  await waitUntil('the first sign-up', () => written > 0)
  const at = join(folder, 'auth.backup.gz')
  const ended = await runCommand(['backup', at], { env })
  assert.deepEqual([ended.code, ended.stderr], [0, ''])
  assert.match(ended.stdout, /auth\.backup\.gz: \d+ rows in \d+ tables, \d+ users\n$/)
  assert.equal((await stat(at)).mode & 0o777, 0o600)
  isWriting = false
  await Promise.all(writers)
  assert.match(
    (await runCommand(['restore', at], { env })).stderr,
    /^Nothing was restored: .+ is in use by the process \d+/,
  )
  await server.stop('SIGTERM')

  const target = toEnv(`embedded://${join(folder, 'second')}`)
  const restored = await runCommand(['restore', at], { env: target })
  assert.deepEqual([restored.code, restored.stderr], [0, ''])
  assert.match(restored.stdout, /^restored \d+ rows in \d+ tables, \d+ users\n$/)
  const again = await startAuth(t, ['serve'], target)
  for (const { email, id, refreshToken } of before) {
    const login = await send(again.url, '/token?grant_type=password', { body: { email, password } })
    assert.deepEqual([login.status, login.body.user?.id], [200, id])
    // The keys are restored as well, so sessions stay valid.
    const refreshed = await send(again.url, '/token?grant_type=refresh_token', {
      body: { refresh_token: refreshToken },
    })
    assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body))
  }
  const { body: fresh } = await send(again.url, '/signup', {
    body: { email: newEmail(), password },
  })
  assert.ok(fresh.access_token)
  await again.stop('SIGTERM')
  const opened = await openEmbedded(t, { folder: join(folder, 'second') })
  const client = await connect(t, opened.url)
  const { rows } = await client.query(
    `select (select count(*) from users)::integer = (select sum(count) from user_counts)::integer
       as "isCounted",
     (select count(*) from users u where not exists (
       select from identities i where i.user_id = u.id))::integer as halves`,
  )
  assert.deepEqual(rows, [{ isCounted: true, halves: 0 }])
})

test('a backup of an earlier release and another PostgreSQL version keeps every value', async (t) => {
  const [from, folder] = [await openOwnDatabase(t), await makeFolder(t)]
  if (!from) return
  const source = await connect(t, from.url)
  await source.query(`create schema ${schema}`)
  await source.query(
    'create table schema_migrations' +
      ' (version text primary key, applied_at timestamptz not null default now())',
  )
  for (const { version, text } of await readMigrations()) {
    if (version > oldestServer) break
    await source.query(withSchema(toTransactional(text), schema))
    await source.query('insert into schema_migrations (version) values ($1)', [version])
    await addEarlierRows(source, version)
  }
  // These values are hard to serialize.
  await source.query(
    String.raw`update users set banned_until = 'infinity', raw_user_meta_data = jsonb_build_object(
      'text', E'a\tb\nc\\d\\.\r"' || chr(1) || 'é€😀', 'number', 12345678901234567890.123456789)
      where email like 'ada%'`,
  )
  await source.query(`update users set raw_app_meta_data = 'null' where email like 'ben%'`)
  const file = join(folder, 'backup.gz')
  const written = await runCommand(['backup', file], { env: toEnv(from.url) })
  assert.deepEqual([written.code, written.stderr], [0, ''])

  const env = toEnv(`embedded://${join(folder, 'database')}`)
  const restored = await runCommand(['restore', file], { env })
  assert.deepEqual([restored.code, restored.stderr], [0, ''])
  const opened = await openEmbedded(t, { folder: join(folder, 'database') })
  const target = await openClient(opened.url, 'test')
  t.after(() => target.end())
  // The restored database was migrated and has more columns now.
  const columns = await readColumns(source, schema)
  const [expected, actual] = await Promise.all(
    [source, target].map((client) => readRows(client, schema, columns)),
  )
  assert.deepEqual(actual, expected)
  assert.equal(await addMessage(target), 2)

  // A later migration fails, because its table exists already.
  const other = await openOwnDatabase(t)
  assert.ok(other)
  const client = await connect(t, other.url)
  await client.query(`create schema ${schema}; create table ${schema}.imports ()`)
  const unmigrated = await runCommand(['restore', file], { env: toEnv(other.url) })
  assert.equal(unmigrated.code, 1)
  assert.match(
    unmigrated.stderr,
    /^The rows were restored, but the tables were not migrated: .+"imports".+\n.+run auth migrate\.\n$/m,
  )
  await client.query(`drop table ${schema}.imports`)
  assert.equal((await runCommand(['migrate'], { env: toEnv(other.url) })).code, 0)
  assert.deepEqual(await readRows(client, schema, columns), expected)
})

test('backup and restore report errors and change nothing', async (t) => {
  const [from, to, folder] = [
    await openOwnDatabase(t),
    await openOwnDatabase(t),
    await makeFolder(t),
  ]
  if (!from || !to) return
  const [env, target] = [toEnv(from.url), toEnv(to.url)]
  const nothing = await runCommand(['backup', folder], { env })
  assert.deepEqual([nothing.code, nothing.stdout], [1, ''])
  assert.match(nothing.stderr, /^No backup was written: .+there is nothing to back up/)
  assert.deepEqual(await readdir(folder), [])
  assert.equal((await runCommand(['migrate'], { env })).code, 0)
  const source = await connect(t, from.url)
  for (const version of ['0001-init', '0004-factors']) await addEarlierRows(source, version)
  const nowhere = await runCommand(['backup', join(folder, 'none', 'file')], { env })
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.stderr, /^No backup was written: The folder .+none does not exist; create/)
  assert.equal((await runCommand(['backup', folder], { env })).code, 0)
  const [name = ''] = await readdir(folder)
  assert.match(name, /^auth-\d{8}T\d{6}Z\.backup\.gz$/)
  const file = join(folder, name)
  const bytes = await readFile(file)
  const restore = async (path = file, into = target) => {
    const { code, stderr } = await runCommand(['restore', path], { env: into })
    assert.equal(code, 1)
    return stderr
  }

  assert.match(
    await restore(join(folder, 'none')),
    /none cannot be read: no such file or directory\n/,
  )
  await writeFile(join(folder, 'text'), gzipSync('hello\n'))
  assert.match(await restore(join(folder, 'text')), /text .+it was not written by auth backup/)
  await writeFile(join(folder, 'dump'), 'PGDMP')
  assert.match(await restore(join(folder, 'dump')), /dump .+it was not written by auth backup/)
  const lines = gunzipSync(bytes).toString().split('\n')
  const header = JSON.parse(lines[0] ?? '')
  const rewrite = async (change: object, rest = lines.slice(1)) => {
    const path = join(folder, 'rewritten')
    await writeFile(path, gzipSync([JSON.stringify({ ...header, ...change }), ...rest].join('\n')))
    return path
  }
  const later = await rewrite({ migrations: [...header.migrations, '9999-later'] })
  assert.match(await restore(later), /was written by a later release \(.+9999-later\)/)
  const other = await rewrite({ formatVersion: 2 })
  assert.match(await restore(other), /was written by a later release/)
  const row = lines.findIndex((line) => line.startsWith('{"table":{"name":"users"')) + 1
  const short = await rewrite({}, lines.slice(1).toSpliced(row, 1))
  assert.match(
    await restore(short),
    /is damaged: it contains 1 of 2 rows of users|violates foreign key/,
  )
  await writeFile(join(folder, 'cut'), bytes)
  await truncate(join(folder, 'cut'), bytes.length - 200)
  assert.match(await restore(join(folder, 'cut')), /cut .+it is truncated/)
  assert.match(
    await restore(file, env),
    /contains rows \(in .*users.*only be restored into an empty schema/,
  )

  // Neither failed attempts nor a backup without sequences prevent a restore.
  const withoutNumbers = await rewrite({ sequences: [] })
  const done = await runCommand(['restore', withoutNumbers], { env: target })
  assert.deepEqual([done.code, done.stderr], [0, ''])
  const client = await connect(t, to.url)
  const columns = await readColumns(source, schema)
  const [expected, actual] = await Promise.all(
    [source, client].map((one) => readRows(one, schema, columns)),
  )
  assert.deepEqual(actual, expected)
  assert.equal(await addMessage(client), 2)
})
