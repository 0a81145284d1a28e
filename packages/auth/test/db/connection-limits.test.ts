/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { type DatabaseSettings, openDatabase } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { until } from '../support/outbox.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

const findSelf = statement('test_find_self', 'select pg_backend_pid() as pid')
const countOpen = statement(
  'test_count_open',
  ['pids'],
  'select count(*)::integer as count from pg_stat_activity where pid = any ($1::integer[])',
)

async function open(t: TestContext, more: Partial<DatabaseSettings>) {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return undefined
  const db = openDatabase({
    url: postgres.url,
    schema: 'public',
    maxPoolSize: 4,
    idleTimeoutMs: 60_000,
    log: { warning: () => undefined },
    ...more,
  })
  t.after(() => db[Symbol.asyncDispose]())
  const readPid = async (): Promise<number> => Number((await db.run(findSelf))[0]?.['pid'])
  return { db, readPid }
}

/** Uses four connections at the same time, and returns the IDs of their processes. */
async function useFour({ db }: NonNullable<Awaited<ReturnType<typeof open>>>) {
  const pids: number[] = []
  const all = Promise.withResolvers<void>()
  const one = () =>
    db.transaction(async (queries) => {
      pids.push(Number((await queries.run(findSelf))[0]?.['pid']))
      if (pids.length === 4) all.resolve()
      await all.promise
    })
  await Promise.all([one(), one(), one(), one()])
  assert.equal(new Set(pids).size, 4)
  return pids
}

test('AUTH_DB_MAX_IDLE_POOL_SIZE and AUTH_DB_CONN_MAX_LIFETIME are read under both names', () => {
  for (const prefix of ['AUTH', 'GOTRUE']) {
    const { database } = parseConfig({
      [`${prefix}_DB_MAX_IDLE_POOL_SIZE`]: '3',
      [`${prefix}_DB_CONN_MAX_LIFETIME`]: '5m',
    }).config
    assert.deepEqual([database.maxIdlePoolSize, database.maxLifetimeMs], [3, 300_000], prefix)
  }
})

test('with a limit of idle connections, the others are closed as soon as they are unused', async (t) => {
  for (const [maxIdle, kept] of [
    [1, 1],
    [0, 4],
  ] as const) {
    const opened = await open(t, { maxIdle })
    if (!opened) return
    const pids = await useFour(opened)
    const count = async () => (await opened.db.run(countOpen, { pids }))[0]?.['count']
    await until(async () => (await count()) === kept)
  }
})

test('a connection that has reached its maximum lifetime is replaced', async (t) => {
  const opened = await open(t, { maxPoolSize: 1, maxLifetimeMs: 100 })
  if (!opened) return
  const first = await opened.readPid()
  await until(async () => (await opened.readPid()) !== first)
})
