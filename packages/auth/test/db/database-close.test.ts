/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { openDatabase } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

const slowly = statement('slowly', 'select pg_backend_pid() as pid, pg_sleep(0.1)')

test('a closed database has no open connections, so PostgreSQL can shut down cleanly', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const watcher = new Client({ connectionString: postgres.url })
  await watcher.connect()
  t.after(() => watcher.end())
  const warnings: unknown[] = []
  const db = openDatabase({
    url: postgres.url,
    schema: 'auth',
    maxPoolSize: 20,
    idleTimeoutMs: 10_000,
    log: { warning: (message) => warnings.push(message) },
  })
  const rows = await Promise.all(Array.from({ length: 20 }, () => db.run(slowly)))
  const pids = rows.flat().map(({ pid }) => pid)
  const count = async () => {
    const sql = 'select count(*)::integer from pg_stat_activity where pid = any($1)'
    return (await watcher.query(sql, [pids])).rows[0].count
  }
  assert.ok((await count()) > 5)
  await db[Symbol.asyncDispose]()
  assert.equal(await count(), 0)
  assert.deepEqual(warnings, [])
})
