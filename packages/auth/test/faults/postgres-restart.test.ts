/**
 * @legs safety
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open, type PostgresServer } from '@portcullis/test-servers'
import { Client } from 'pg'
import { type Load, openLoad, signUpWithRetries } from '../support/crash-load.ts'
import { readMemoryMb, startCrashServer } from '../support/crash-server.ts'
import { until } from '../support/outbox.ts'
import { testPostgres } from '../support/shared-postgres.ts'

const workers = 8
/** Test servers do not flush commits to disk by default. */
const lasting = { synchronous_commit: 'on' }
const byUs = "starts_with(application_name, 'portcullis-auth ')"

async function queryOnce(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

interface Scene {
  readonly postgres: PostgresServer
  readonly load: Load
}

/** What happens to PostgreSQL, and the error that some requests must have received. */
const faults: Readonly<
  Record<string, { readonly error?: string; happen(scene: Scene): Promise<void> }>
> = {
  'is stopped immediately and started again': {
    error: '503 database_unavailable',
    async happen({ postgres, load }) {
      await postgres.kill()
      await load.untilFailed(workers)
      await postgres.restart()
    },
  },
  'is shut down and started again': {
    error: '503 database_unavailable',
    async happen({ postgres, load }) {
      await postgres.shutDown()
      await load.untilFailed(workers)
      await postgres.restart()
    },
  },
  'ends all connections': {
    async happen({ postgres }) {
      const ended = await queryOnce(
        postgres.url,
        `select pg_terminate_backend(pid) from pg_stat_activity where ${byUs}`,
      )
      assert.ok(ended.length > 0)
    },
  },
  'is frozen for a while': {
    error: '504 request_timeout',
    async happen({ postgres, load }) {
      postgres.pause()
      // The first failures can still be those of connections that were ended before.
      const hasTimedOut = () => load.report.failures.has('504 request_timeout')
      await until(hasTimedOut).finally(() => postgres.resume())
    },
  },
}

test('requests fail in time and with an error code while PostgreSQL is unavailable, and succeed afterwards', async (t) => {
  const postgres = await open(t, testPostgres, { settings: lasting })
  if (!postgres) return
  const server = await startCrashServer(t, {
    DATABASE_URL: postgres.url,
    AUTH_API_MAX_REQUEST_DURATION: '2s',
    // Aborted requests had connections too, which are not needed afterwards.
    AUTH_DB_CONN_MAX_IDLE_TIME: '1s',
    // On a busy machine there may be a long time between two attempts.
    AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '600s',
  })
  const load = await openLoad(server.url, workers)
  t.after(() => load.stop())
  await load.untilSucceeded(20)
  const memoryBefore = readMemoryMb(server.pid) ?? 0

  for (const [what, { error, happen }] of Object.entries(faults)) {
    await t.test(`when it ${what}`, async () => {
      await happen({ postgres, load })
      await load.untilSucceeded(10)
      assert.deepEqual(load.report.faults, [])
      if (error !== undefined) assert.ok((load.report.failures.get(error) ?? 0) > 0, error)
      assert.equal(server.hasEnded(), false)
      // Writes work as well, and data from before is still there.
      assert.equal((await signUpWithRetries(server.url)).status, 200)
    })
  }

  await t.test('and no connections, memory or unhandled errors are left', async () => {
    await load.stop()
    assert.deepEqual(load.report.faults, [])
    // There is one connection for each concurrent request, and those of the message sender.
    await until(async () => {
      const [row] = await queryOnce(
        postgres.url,
        `select count(*)::integer as count from pg_stat_activity where ${byUs}`,
      )
      return Number(row?.['count']) <= workers + 2
    })
    const memory = readMemoryMb(server.pid) ?? 0
    assert.ok(memory < memoryBefore + 100, `${memoryBefore} MB before, ${memory} MB after`)
    assert.doesNotMatch(server.output(), /unhandled|uncaught|"level":"fatal"|\n\s+at /i)
    // The loss of an idle connection is logged.
    await until(async () => {
      await signUpWithRetries(server.url)
      await queryOnce(
        postgres.url,
        `select pg_terminate_backend(pid) from pg_stat_activity where ${byUs} and state = 'idle'`,
      )
      return /Lost a connection to PostgreSQL/.test(server.output())
    })
  })
})
