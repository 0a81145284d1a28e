/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { openDatabase } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { openFaultyNetwork } from '../support/faulty-network.ts'
import { until } from '../support/outbox.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

const sleepShortly = statement('test_sleep', 'select pg_backend_pid() as pid, pg_sleep(0.05)')

async function open(
  t: TestContext,
  settings: { readonly healthCheckMs: number; readonly idleTimeoutMs: number },
) {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  const network = await openFaultyNetwork(t, postgres.url)
  const owner = new Client({ connectionString: postgres.url })
  await owner.connect()
  t.after(() => owner.end())
  const warnings: string[] = []
  const db = openDatabase({
    url: network.url,
    schema: 'public',
    maxPoolSize: 5,
    log: { warning: (message) => warnings.push(String(message)) },
    ...settings,
  })
  t.after(() => db[Symbol.asyncDispose]())
  /** Opens several connections, and returns the ids of their server processes. */
  const fill = async (count: number) => {
    const rows = await Promise.all(Array.from({ length: count }, () => db.run(sleepShortly)))
    return rows.map(([row]) => row?.['pid'] as number)
  }
  return { db, owner, warnings, fill, network }
}

const lastChecks = `select pid, query_start::text from pg_stat_activity
  where pid = any($1) and query = 'select 1'`

test('with AUTH_DB_HEALTH_CHECK_PERIOD all idle connections are checked again and again', async (t) => {
  const opened = await open(t, { healthCheckMs: 100, idleTimeoutMs: 60_000 })
  if (!opened) return
  const { owner, fill, db } = opened
  const pids = await fill(3)
  const read = async () => (await owner.query(lastChecks, [pids])).rows
  await until(async () => (await read()).length === 3)
  const before = JSON.stringify(await read())
  await until(async () => JSON.stringify(await read()) !== before)
  assert.equal(db.pool.idle + db.pool.used, 3)
})

test('connections that no longer respond are closed before a request needs them', async (t) => {
  const opened = await open(t, { healthCheckMs: 100, idleTimeoutMs: 600_000 })
  if (!opened) return
  const { db, fill, network, warnings } = opened
  const pids = await fill(2)
  network.cut()
  await until(() => warnings.length === 2 && db.pool.idle + db.pool.used === 0)
  for (const warning of warnings) {
    assert.match(
      warning,
      /^Closed an idle connection to PostgreSQL that no longer works: no response/,
    )
  }
  network.restore()
  const [pid] = await fill(1)
  assert.ok(pid !== undefined && !pids.includes(pid))
})

test('a check does not keep an idle connection open for longer', async (t) => {
  const opened = await open(t, { healthCheckMs: 100, idleTimeoutMs: 1_000 })
  if (!opened) return
  const { db, fill } = opened
  await fill(2)
  await until(() => db.pool.idle === 0 && db.pool.used === 0)
})

test('without a period, idle connections are not checked', async (t) => {
  const opened = await open(t, { healthCheckMs: 0, idleTimeoutMs: 60_000 })
  if (!opened) return
  const { owner, fill } = opened
  const pids = await fill(2)
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.deepEqual((await owner.query(lastChecks, [pids])).rows, [])
})
