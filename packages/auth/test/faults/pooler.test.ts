/**
 * @legs safety
 * @servers postgres, pgbouncer
 * @slow
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { Client } from 'pg'
import { type DatabaseSettings, openDatabase } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { startCrashServer } from '../support/crash-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { openOwnDatabase } from '../support/shared-postgres.ts'
import { openTestSchema } from '../support/test-schema.ts'

/** Common configurations of PgBouncer. */
const behaviours: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'in transaction mode': { pool_mode: 'transaction' },
  'in transaction mode, dropping the startup options': {
    pool_mode: 'transaction',
    ignore_startup_parameters: 'options,extra_float_digits',
  },
  'in session mode': { pool_mode: 'session' },
}

async function queryOnce(url: string, sql: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** A PostgreSQL with settings that would change the format of every time. */
async function openForeign(t: TestContext) {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return undefined
  const name = new URL(postgres.url).pathname.slice(1)
  await queryOnce(postgres.url, `alter database ${name} set TimeZone = 'Asia/Tokyo'`)
  await queryOnce(postgres.url, `alter database ${name} set DateStyle = 'German'`)
  const { name: schema } = await openTestSchema(postgres.url)
  return { url: postgres.url, schema }
}

for (const [behaviour, settings] of Object.entries(behaviours)) {
  test(`behind PgBouncer ${behaviour} every request succeeds`, async (t) => {
    const database = await openForeign(t)
    if (!database) return
    const pooler = await open(t, 'pgbouncer', {
      upstream: database.url,
      settings: { default_pool_size: '12', ...settings },
    })
    if (!pooler) return
    const server = await openAuthServer(t, {
      database,
      through: pooler.url,
      env: { AUTH_DB_MAX_POOL_SIZE: '8' },
    })
    assert.ok(server)

    const isTime = (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(text)
    const journey = async () => {
      const email = newEmail()
      const signUp = await send(server.url, '/signup', { body: { email, password } })
      assert.equal(signUp.status, 200, JSON.stringify(signUp.body))
      const { user } = signUp.body
      for (const time of [user.created_at, user.last_sign_in_at, user.identities[0].created_at]) {
        assert.ok(isTime(time), time)
        assert.ok(Math.abs(Date.parse(time) - server.clock.now()) < 60_000, time)
      }
      const login = await send(server.url, '/token?grant_type=password', {
        body: { email, password },
      })
      assert.equal(login.status, 200)
      const refresh = await send(server.url, '/token?grant_type=refresh_token', {
        body: { refresh_token: login.body.refresh_token },
      })
      assert.equal(refresh.status, 200)
      const token = refresh.body.access_token
      // A new password ends other sessions, which is a transaction of several statements.
      const body = { password: 'another horse battery', data: { n: 1 } }
      const update = await send(server.url, '/user', { method: 'PUT', token, body })
      assert.equal(update.status, 200, JSON.stringify(update.body))
      const shown = await send(server.url, '/user', { token })
      assert.deepEqual([shown.status, shown.body.user_metadata.n], [200, 1])
      const again = await send(server.url, '/signup', { body: { email, password } })
      assert.equal(again.body.error_code, 'user_already_exists')
    }
    await Promise.all(Array.from({ length: 12 }, journey))

    const log = server.log.join('')
    assert.match(log, /through a connection pooler/)
    assert.equal(log.match(/through a connection pooler/g)?.length, 1)
    assert.match(log, /auth_audit_event/)
    assert.doesNotMatch(log, /failed: |Lost a connection|prepared statement was lost/)

    const signUp = () => send(server.url, '/signup', { body: { email: newEmail(), password } })
    await pooler.kill()
    assert.equal((await signUp()).status, 503)
    await pooler.restart()
    assert.equal((await signUp()).status, 200)
  })
}

test('servers that start concurrently behind PgBouncer create the tables and serve', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const pooler = await open(t, 'pgbouncer', {
    upstream: postgres.url,
    settings: { pool_mode: 'transaction', max_client_conn: '200' },
  })
  if (!pooler) return
  const start = () => startCrashServer(t, { DATABASE_URL: pooler.url, AUTH_WORKERS: '2' })
  const servers = await Promise.all([start(), start()])
  for (const { url, output } of servers) {
    const { status } = await send(url, '/signup', { body: { email: newEmail(), password } })
    assert.equal(status, 200, output())
  }
})

const readTimeout = statement('test_timeout', "select current_setting('statement_timeout') as s")
const wait = statement('test_wait', 'select pg_sleep(600)')
const add = statement('test_add', ['id'], 'insert into {ns}.kept (id) values ($1)')
const count = statement(
  'test_count',
  ['above'],
  'select count(*)::integer as n from {ns}.kept where id > $1',
)

/** PgBouncer supports prepared statements since version 1.21. */
async function hasPreparedStatements(t: TestContext): Promise<boolean> {
  const pooler = await open(t, 'pgbouncer')
  const [row] = pooler ? await queryOnce(pooler.consoleUrl, 'show version') : []
  return Number(/PgBouncer 1\.(\d+)/.exec(`${row?.version}`)?.[1] ?? 0) >= 21
}

/** @param keepsPrepared whether the pooler keeps prepared statements */
async function openPooled(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
  more: Partial<DatabaseSettings> = {},
  keepsPrepared = false,
) {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return undefined
  await queryOnce(postgres.url, 'create schema pooled')
  await queryOnce(postgres.url, 'create table pooled.kept (id integer primary key)')
  const support = (await hasPreparedStatements(t)) && {
    max_prepared_statements: keepsPrepared ? '100' : '0',
  }
  const pooler = await open(t, 'pgbouncer', {
    upstream: postgres.url,
    settings: { ...settings, ...support },
  })
  if (!pooler) return undefined
  const warnings: string[] = []
  const openAnother = (own: Partial<DatabaseSettings> = {}) => {
    const db = openDatabase({
      url: pooler.url,
      schema: 'pooled',
      maxPoolSize: 4,
      idleTimeoutMs: 60_000,
      log: { warning: (text) => void warnings.push(`${text}`) },
      ...more,
      ...own,
    })
    t.after(() => db[Symbol.asyncDispose]())
    return db
  }
  const console = (sql: string) => queryOnce(pooler.consoleUrl, sql)
  return { url: postgres.url, pooler, db: openAnother(), openAnother, warnings, console }
}

test('behind a pooler PostgreSQL enforces the statement timeout, and no setting stays in the session', async (t) => {
  const settings = { pool_mode: 'transaction', default_pool_size: '1' }
  const pooled = await openPooled(t, settings, { statementTimeoutMs: 2_000 })
  if (!pooled) return
  const { db, pooler } = pooled
  assert.deepEqual(await db.run(readTimeout), [{ s: '2s' }])
  await assert.rejects(db.run(wait), { name: 'DatabaseLostError', code: '57014', isTimeout: true })
  await assert.rejects(
    db.transaction((queries) => queries.run(wait)),
    { code: '57014' },
  )
  await assert.rejects(db.run(add, { id: null }), { code: '23502' })
  // Another client gets the same backend process.
  assert.deepEqual(await queryOnce(pooler.url, 'show statement_timeout'), [
    { statement_timeout: '0' },
  ])
})

test('no settings are sent if the role already has them', async (t) => {
  const pooled = await openPooled(t, { pool_mode: 'transaction', default_pool_size: '1' })
  if (!pooled) return
  const { url, openAnother, console } = pooled
  const name = new URL(url).pathname.slice(1)
  for (const setting of [
    "TimeZone = 'UTC'",
    "DateStyle = 'ISO, MDY'",
    'jit = off',
    "statement_timeout = '2s'",
    "idle_in_transaction_session_timeout = '2s'",
  ]) {
    await queryOnce(url, `alter database ${name} set ${setting}`)
  }
  await console('reconnect')
  const db = openAnother({ statementTimeoutMs: 2_000 })
  const seen = statement(
    'test_query',
    'select query from pg_stat_activity where pid = pg_backend_pid()',
  )
  await db.run(seen)
  const [row] = await db.transaction((queries) => queries.run(seen))
  assert.match(`${row?.['query']}`, /^select query/)
  await assert.rejects(db.run(wait), { code: '57014' })
})

test('prepared statements that a pooler has lost are sent again without a name', async (t) => {
  const settings = { pool_mode: 'transaction', default_pool_size: '2', max_db_connections: '2' }
  const pooled = await openPooled(t, settings, { preparedStatements: 'on', maxPoolSize: 1 })
  if (!pooled) return
  const { db, openAnother, pooler, warnings } = pooled

  await t.test('when another backend process runs them', async () => {
    await db.run(count, { above: 0 })
    const holder = new Client({ connectionString: pooler.url })
    await holder.connect()
    await holder.query('begin')
    assert.deepEqual(await db.run(count, { above: 0 }), [{ n: 0 }])
    await holder.query('commit')
    await holder.end()
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /prepared statement was lost \((?:26000|42P05)/)
  })

  await t.test('when another client has prepared a statement with the same name', async () => {
    const others = Array.from({ length: 3 }, () => openAnother())
    for (const other of others) assert.deepEqual(await other.run(count, { above: 0 }), [{ n: 0 }])
    assert.ok(warnings.length > 1)
  })

  await t.test('within a transaction, which is repeated as a whole', async () => {
    const one = openAnother()
    const other = openAnother()
    let calls = 0
    const insert = (id: number) => async (queries: Pick<typeof db, 'run'>) => {
      calls += 1
      await queries.run(add, { id })
      return queries.run(count, { above: 0 })
    }
    assert.deepEqual(await one.transaction(insert(1)), [{ n: 1 }])
    assert.deepEqual(await other.transaction(insert(2)), [{ n: 2 }])
    assert.equal(calls, 3)
  })

  await t.test('and each process logs it once', async () => {
    const before = warnings.length
    await Promise.all(Array.from({ length: 20 }, () => db.run(count, { above: 0 })))
    assert.equal(warnings.length, before)
  })
})

test('a pooler that changes from session to transaction mode fails no request', async (t) => {
  const settings = { pool_mode: 'session', default_pool_size: '6' }
  const pooled = await openPooled(t, settings, { preparedStatements: 'on' })
  if (!pooled) return
  const { db, console, warnings } = pooled
  const many = () =>
    Promise.all(Array.from({ length: 24 }, (_, id) => db.run(count, { above: id })))
  await many()
  assert.deepEqual(warnings, [])
  await console("set pool_mode = 'transaction'")
  for (let round = 0; round < 5; round++) assert.equal((await many()).length, 24)
  assert.ok(warnings.length <= 1, warnings.join('\n'))
})

test('prepared statements are used with a pooler that supports them', async (t) => {
  if (!(await hasPreparedStatements(t))) return t.skip('needs PgBouncer 1.21 or later')
  const settings = { pool_mode: 'transaction', default_pool_size: '2' }
  const pooled = await openPooled(t, settings, { preparedStatements: 'on' }, true)
  if (!pooled) return
  const { db, warnings, console } = pooled
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 12 }, (_, id) => db.run(count, { above: id })))
    await db.transaction((queries) => queries.run(add, { id: round }))
  }
  assert.deepEqual(warnings, [])

  await t.test('and statements are sent again when it loses them', async () => {
    await console('set max_prepared_statements = 0')
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 12 }, (_, id) => db.run(count, { above: id })))
    }
    assert.ok(warnings.length <= 1, warnings.join('\n'))
  })
})

test('URL options that a pooler refuses are reported with instructions', async (t) => {
  const pooled = await openPooled(t, { pool_mode: 'transaction' })
  if (!pooled) return
  const url = `${pooled.pooler.url}?options=${encodeURIComponent('-c search_path=app')}`
  await assert.rejects(pooled.openAnother({ url }).run(count, { above: 0 }), {
    message: /rejects the parameter "options" of the database URL .* ALTER ROLE/,
  })
})
