/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client, Connection } from 'pg'
import { openDatabase } from '../../src/db/database.ts'
import { type NoValues, type Statement, statement } from '../../src/db/statement.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

const findSelf = statement('test_find_self', 'select pg_backend_pid() as pid')

async function openOne(t: TestContext) {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  const schema = `reuse_${process.pid}_${Math.random().toString(36).slice(2, 8)}`
  const owner = new Client({ connectionString: postgres.url })
  await owner.connect()
  t.after(() => owner.end())
  await owner.query(`create schema ${schema}`)
  await owner.query(`create table ${schema}.kept (id integer primary key)`)
  const warnings: unknown[] = []
  const db = openDatabase({
    url: postgres.url,
    schema,
    maxPoolSize: 1,
    idleTimeoutMs: 60_000,
    statementTimeoutMs: 60_000,
    log: { warning: (message) => warnings.push(message) },
  })
  t.after(() => db[Symbol.asyncDispose]())
  const readPid = async () => (await db.run(findSelf))[0]?.['pid']
  return { db, schema, owner, warnings, readPid }
}

/** Errors by SQLSTATE after which PostgreSQL accepts the next statement on the same connection. */
const errors: Readonly<Record<string, Statement<NoValues>>> = {
  '23505': statement('test_twice', 'insert into {ns}.kept (id) values (1), (1)'),
  '23502': statement('test_null', 'insert into {ns}.kept (id) values (null)'),
  '22012': statement('test_division', 'select 1 / 0 from {ns}.kept, (values (1)) one'),
  '22P02': statement('test_cast', "select 'x'::text::integer"),
  '42P01': statement('test_missing', 'select * from {ns}.nothing'),
  '57014': statement('test_cancel', 'select pg_cancel_backend(pg_backend_pid()), pg_sleep(600)'),
}

test('a failed statement keeps its connection', async (t) => {
  const one = await openOne(t)
  if (!one) return
  const { db, readPid } = one
  const before = await readPid()
  await db.run(statement('test_first', 'insert into {ns}.kept (id) values (7)'))
  for (const [code, failing] of Object.entries(errors)) {
    await t.test(`with ${code}, alone and in a transaction`, async () => {
      await assert.rejects(db.run(failing), { code })
      assert.equal(await readPid(), before)
      await assert.rejects(
        db.transaction((queries) => queries.run(failing)),
        { code },
      )
      assert.equal(await readPid(), before)
    })
  }
})

test('the columns of a prepared statement are requested once for each connection', async (t) => {
  const one = await openOne(t)
  if (!one) return
  const { db } = one
  const describe = t.mock.method(Connection.prototype, 'describe')
  const list = statement(
    'test_list',
    ['limit'],
    'select n, null as nothing, json_build_array(n) as list from generate_series(1, 3) n limit $1',
  )
  const rows = [1, 2, 3].map((n) => ({ n, nothing: null, list: [n] }))
  assert.deepEqual(await db.run(list, { limit: 3 }), rows)
  assert.deepEqual(await db.run(list, { limit: 2 }), rows.slice(0, 2))
  assert.deepEqual(await db.run(list, { limit: 0 }), [])
  assert.deepEqual(await db.transaction((queries) => queries.run(list, { limit: 3 })), rows)
  assert.equal(describe.mock.callCount(), 1)
})

test('a prepared statement is retried if a migration has changed its result type', async (t) => {
  const one = await openOne(t)
  if (!one) return
  const { db, schema, owner, warnings } = one
  const readAll = statement('test_read_all', 'select * from {ns}.kept')
  await owner.query(`insert into ${schema}.kept values (1)`)
  for (const column of ['added', 'added_too']) {
    assert.equal((await db.run(readAll)).length, 1)
    await owner.query(`alter table ${schema}.kept add column ${column} integer default 5`)
    assert.equal((await db.run(readAll))[0]?.[column], 5)
  }
  await db.run(readAll)
  await owner.query(`alter table ${schema}.kept add column last integer default 6`)
  const rows = await db.transaction(async (queries) => {
    await queries.run(statement('test_add', 'insert into {ns}.kept (id) values (2)'))
    return queries.run(readAll)
  })
  assert.deepEqual(
    rows.map(({ id, last }) => [id, last]),
    [
      [1, 6],
      [2, 6],
    ],
  )
  assert.deepEqual(warnings, [])
})
