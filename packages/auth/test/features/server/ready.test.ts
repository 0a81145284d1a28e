/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseLostError } from '../../../src/db/database-errors.ts'
import { statement } from '../../../src/db/statement.ts'
import { createReadiness } from '../../../src/features/server/readiness.ts'
import { openFlowServer } from '../../support/flow-server.ts'
import { send } from '../../support/http-client.ts'
import { addMessage, openOutboxDatabase, until } from '../../support/outbox.ts'

const unknown = 'Unknown: the database was not queried'

test('GET /ready', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, query } = server
  const ready = (method = 'GET') => send(url, '/ready', { method })

  await t.test('responds with 200 if all checks pass', async () => {
    const { status, body, headers } = await ready()
    assert.equal(status, 200)
    assert.deepEqual(body, {
      status: 'ready',
      checks: { database: 'ok', migrations: 'ok', outbox: 'ok' },
    })
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.ok(!server.log.some((line) => line.includes('/ready')))
  })

  await t.test('queries the database at most once a second', async () => {
    server.takeStatements()
    const startMs = performance.now()
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 20 }, () => ready()))
    }
    const seconds = Math.ceil((performance.now() - startMs) / 1_000)
    assert.ok(server.takeStatements().length <= seconds)
  })

  await t.test('names missing migrations, also for HEAD requests', async () => {
    const [{ version }] = await query(
      'select version from schema_migrations order by version desc limit 1',
    )
    const [removed] = await query('delete from schema_migrations where version = $1 returning *', [
      version,
    ])
    await until(async () => (await ready()).status === 503)
    const { body } = await ready()
    assert.equal(body.status, 'not ready')
    assert.deepEqual(body.checks, {
      database: 'ok',
      migrations: `Missing: ${version}`,
      outbox: 'ok',
    })
    assert.equal((await ready('HEAD')).status, 503)
    assert.equal((await send(url, '/health')).status, 200)
    await query(
      'insert into schema_migrations select * from json_populate_record(null::schema_migrations, $1)',
      [JSON.stringify(removed)],
    )
    await until(async () => (await ready('HEAD')).status === 200)
  })
})

test('the outbox check fails if a message has been due for too long', async (t) => {
  const database = await openOutboxDatabase(t)
  if (!database) return
  const { db } = database
  const check = () => createReadiness({ db }).check()
  const makeDue = (minutes: number) =>
    db.run(
      statement(
        `test_due_${minutes}`,
        `update {ns}.outbox set next_attempt_at = now() - interval '${minutes} minutes',
           created_at = now() - interval '1 hour'`,
      ),
    )
  await addMessage(db)
  await makeDue(2)
  const late = await check()
  assert.equal(late.isReady, true)
  assert.equal(late.outbox?.waiting, 1)
  assert.ok((late.outbox?.oldestSeconds ?? 0) >= 3_600)
  await makeDue(10)
  const { isReady, checks } = await check()
  assert.equal(isReady, false)
  assert.match(
    checks.outbox,
    /^Stuck: a message has been due for 6\d\d s, but no process has sent it$/,
  )
})

test('the server is not ready if the database is unreachable or hangs', async () => {
  const lost = createReadiness({
    db: { run: () => Promise.reject(new DatabaseLostError(new Error('to 10.0.0.7'), 'away')) },
  })
  const { isReady, checks, outbox } = await lost.check()
  assert.deepEqual([isReady, outbox], [false, undefined])
  assert.deepEqual(checks, { database: 'Cannot be reached', migrations: unknown, outbox: unknown })

  let queries = 0
  const hanging = createReadiness({
    db: {
      run() {
        queries += 1
        return new Promise<never>(() => {})
      },
    },
    freshMs: 0,
    waitMs: 10,
  })
  for (let round = 0; round < 3; round++) {
    assert.equal((await hanging.check()).checks.database, 'No response within 0.01 s')
  }
  assert.equal(queries, 1)
})
