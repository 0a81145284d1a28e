/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { statement } from '../../src/db/statement.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

const write = statement(
  'write',
  ['id', 'divisor', 'seconds'],
  `with p as (select pg_sleep($3::float8))
   insert into {ns}.audit_log_entries (id, payload, ip_address)
   select $1::uuid, jsonb_build_object('action', 'login', 'actor_id', $1::uuid), '203.0.113.5' from p
   where 1 / $2::integer = 1`,
)
/** Inserts an entry and then fails. */
const writeAndFail = statement(
  'write_and_fail',
  ['id'],
  `with written as (
     insert into {ns}.audit_log_entries (id, payload, ip_address)
     values ($1, '{"actor_id": "00000000-0000-0000-0000-000000000000"}', '') returning id
   ) select 1 / (case when id is null then 1 else 0 end) from written`,
)

async function openAudited(t: TestContext, isStored: boolean) {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  const schema = `audit_${process.pid}_${isStored}`
  await migrate({ url: postgres.url, schema })
  const reported: string[][] = []
  const db = openDatabase({
    url: postgres.url,
    schema,
    maxPoolSize: 4,
    idleTimeoutMs: 1_000,
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
    audit: { isStored, onWritten: (entries) => reported.push(entries.map(({ id }) => id)) },
  })
  t.after(() => db[Symbol.asyncDispose]())
  const count = statement(
    'count',
    'select count(*)::integer as count from {ns}.audit_log_entries',
  ).returning<{ readonly count: number }>()
  const countRows = async () => (await db.run(count))[0]?.count
  return { db, reported, countRows }
}

test('the database reports the audit entries that statements insert', async (t) => {
  const audited = await openAudited(t, true)
  if (!audited) return
  const { db, reported, countRows } = audited
  const [one, two, three, four] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]

  await t.test('each entry once', async () => {
    await Promise.all([
      db.run(write, { id: one, divisor: 1, seconds: 0.02 }),
      db.run(write, { id: two, divisor: 1, seconds: 0 }),
    ])
    assert.deepEqual(reported.splice(0).flat().toSorted(), [one, two].toSorted())
  })

  await t.test('the entries of a transaction when it commits', async () => {
    await db.transaction(async (queries) => {
      await queries.run(write, { id: three, divisor: 1, seconds: 0 })
      await queries.run(write, { id: four, divisor: 1, seconds: 0 })
      assert.deepEqual(reported, [])
    })
    assert.deepEqual(reported.splice(0), [[three, four]])
  })

  await t.test('no entry that is rolled back', async () => {
    await assert.rejects(db.run(writeAndFail, { id: randomUUID() }), /division by zero/)
    const undone = db.transaction(async (queries) => {
      await queries.run(write, { id: randomUUID(), divisor: 1, seconds: 0 })
      throw new Error('rolled back')
    })
    await assert.rejects(undone, /rolled back/)
    await db.run(write, { id: randomUUID(), divisor: 2, seconds: 0 })
    assert.deepEqual(reported, [])
    assert.equal(await countRows(), 4)
  })
})

test('with storage disabled, entries are reported but not inserted', async (t) => {
  const audited = await openAudited(t, false)
  if (!audited) return
  const id = randomUUID()
  await audited.db.run(write, { id, divisor: 1, seconds: 0 })
  assert.deepEqual(audited.reported, [[id]])
  assert.equal(await audited.countRows(), 0)
})

test('AUTH_AUDIT_LOG_DISABLE_POSTGRES writes audit entries only to the log', async (t) => {
  const server = await openFlowServer(t, { AUTH_AUDIT_LOG_DISABLE_POSTGRES: 'true' })
  if (!server) return
  const { id } = await server.newUser()
  await send(server.url, `/admin/users/${id}`, {
    method: 'PUT',
    token: server.serviceToken,
    body: { user_metadata: { a: 1 } },
  })
  assert.deepEqual(await server.query('select * from audit_log_entries'), [])
  const lines = server.log.filter((line) => line.includes('msg=auth_audit_event'))
  assert.deepEqual(
    lines.map((line) => /action=(\w+)/.exec(line)?.[1]),
    ['user_confirmation_requested', 'user_modified'],
  )
})
