/**
 * @legs safety
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/db/database.ts'
import { DatabaseLostError } from '../../src/db/database-errors.ts'
import { statement } from '../../src/db/statement.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { password, send } from '../support/http-client.ts'

const timedOut = [
  504,
  'request_timeout',
  'Processing this request timed out, please retry after a moment.',
]

test('a lost connection', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { databaseUrl: url, schema } = server
  const warnings: string[] = []
  const log = { warning: (text: string | (() => string)) => void warnings.push(`${text}`) }
  const settings = { url, schema, maxPoolSize: 3, idleTimeoutMs: 60_000, log }
  const db = openDatabase({ ...settings, statementTimeoutMs: 120_000 })
  t.after(() => db[Symbol.asyncDispose]())
  await server.query('create table kept (id integer primary key)')
  const add = statement('test_add', ['id'], 'insert into {ns}.kept (id) values ($1)')
  const findSelf = statement('test_find_self', 'select pg_backend_pid() as pid').returning<{
    pid: number
  }>()
  const readKept = async () => (await server.query('select id from kept')).map(({ id }) => id)
  const end = (pid: unknown) => server.query('select pg_terminate_backend($1)', [pid])

  await t.test('between two statements of a transaction rolls it back', async () => {
    await assert.rejects(
      db.transaction(async (queries) => {
        await queries.run(add, { id: 1 })
        const [self] = await queries.run(findSelf)
        await end(self?.pid)
        // Wait until the client notices the loss while no statement is running.
        await sleep(50)
        await queries.run(add, { id: 2 })
      }),
      DatabaseLostError,
    )
    assert.deepEqual(await readKept(), [])
  })

  await t.test('during a commit is not reported as success', async () => {
    await assert.rejects(
      db.transaction(async (queries) => {
        await queries.run(add, { id: 1 })
        const [self] = await queries.run(findSelf)
        await end(self?.pid)
      }),
      DatabaseLostError,
    )
    assert.deepEqual(await readKept(), [])
  })

  await t.test('during a statement is distinguished from an invalid statement', async () => {
    const wait = statement('test_wait', 'select pg_sleep(600)')
    const waiting = assert.rejects(db.run(wait), { name: 'DatabaseLostError', isTimeout: false })
    const findWaiting = "select pid from pg_stat_activity where query = 'select pg_sleep(600)'"
    let found = await server.query(findWaiting)
    while (found.length === 0) found = await server.query(findWaiting)
    await end(found[0].pid)
    await waiting
    await assert.rejects(db.run(statement('test_wrong', 'select * from {ns}.nothing')), {
      code: '42P01',
      name: 'error',
    })
  })

  await t.test('is replaced by a new one', async () => {
    await db.transaction(async (queries) => {
      await queries.run(add, { id: 3 })
      await queries.run(add, { id: 4 })
    })
    assert.deepEqual(await readKept(), [3, 4])
    // Run more statements than there are connections, to check that a failed transaction kept none.
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => db.run(findSelf)))
  })

  await t.test('because PostgreSQL is not listening causes a clear error', async () => {
    const nowhere = openDatabase({ ...settings, url: 'postgres://x@127.0.0.1:1/x' })
    const lost = { name: 'DatabaseLostError', code: 'ECONNREFUSED', message: /ECONNREFUSED/ }
    await assert.rejects(nowhere.run(findSelf), lost)
    await assert.rejects(
      nowhere.transaction(async () => {}),
      lost,
    )
    await nowhere[Symbol.asyncDispose]()
  })
})

test('a request that waits too long for a lock fails and has no effect afterwards', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { databaseUrl, schema } = server
  const hasty = await openAuthServer(t, {
    env: { AUTH_API_MAX_REQUEST_DURATION: '2s' },
    database: { url: databaseUrl, schema },
    clock: server.clock,
  })
  const { id, email } = await server.newUser()
  const login = await server.post('/token?grant_type=password', { email, password })
  await server.query('begin')
  await server.query('select from users where id = $1 for update', [id])
  const late = await send(hasty?.url ?? '', '/user', {
    method: 'PUT',
    token: login.body.access_token,
    body: { data: { name: 'Ada' } },
  })
  assert.deepEqual(errorOf(late), timedOut)
  assert.equal(typeof late.body.error_id, 'string')
  // PostgreSQL cancels the statement while the lock is still held. The check does not use
  // pg_stat_activity, which does not change within a transaction.
  const findWaiting = 'select from pg_locks where not granted'
  while ((await server.query(findWaiting)).length > 0) await sleep(10)
  await server.query('commit')
  const [row] = await server.query('select raw_user_meta_data as data from users where id = $1', [
    id,
  ])
  assert.equal(row.data.name, undefined)
})
