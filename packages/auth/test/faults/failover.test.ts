/**
 * @legs safety
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { open, type PostgresServer } from '@portcullis/test-servers'
import { Client } from 'pg'
import { openClient } from '../../src/db/connection/open-client.ts'
import { openDatabase } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { openLoad, signUpWithRetries } from '../support/crash-load.ts'
import { startCrashServer } from '../support/crash-server.ts'
import { until } from '../support/outbox.ts'
import { testPostgres } from '../support/shared-postgres.ts'

async function queryOnce(url: string, sql: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Starts a primary with a synchronous standby. */
async function openPair(t: TestContext) {
  const primary = await open(t, testPostgres, { settings: { synchronous_commit: 'on' } })
  const standby = primary && (await open(t, testPostgres, { standbyOf: primary }))
  if (!standby) return undefined
  const isStreaming = "select from pg_stat_replication where state = 'streaming'"
  await until(async () => (await queryOnce(primary.url, isStreaming)).length === 1)
  await queryOnce(primary.url, "alter system set synchronous_standby_names = '*'")
  await queryOnce(primary.url, 'select pg_reload_conf()')
  return { primary, standby }
}

function toUrl(hosts: readonly PostgresServer[], parameters = ''): string {
  const [first] = hosts
  assert.ok(first)
  const { user, password, database } = first
  const list = hosts.map(({ host, port }) => `${host}:${port}`).join(',')
  return `postgres://${user}:${password}@${list}/${database}${parameters}`
}

test('requests continue after the primary has failed and the standby was promoted', async (t) => {
  const pair = await openPair(t)
  if (!pair) return
  const { primary, standby } = pair
  const server = await startCrashServer(t, {
    // The standby is listed first; the server that accepts writes is found nevertheless.
    DATABASE_URL: toUrl([standby, primary]),
    AUTH_WORKERS: '2',
    AUTH_API_MAX_REQUEST_DURATION: '4s',
    AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '600s',
  })
  const load = await openLoad(server.url, 6)
  t.after(() => load.stop())
  await load.untilSucceeded(10)
  await primary.kill()
  await load.untilFailed(6)
  await queryOnce(standby.url, 'select pg_promote()')
  await load.untilSucceeded(10)
  assert.equal((await signUpWithRetries(server.url)).status, 200)
  await load.stop()
  assert.deepEqual(load.report.faults, [])
  for (const failure of load.report.failures.keys()) {
    assert.ok(['503 database_unavailable', '504 request_timeout'].includes(failure), failure)
  }
  assert.equal(server.hasEnded(), false)
  assert.doesNotMatch(server.output(), /unhandled|uncaught|"level":"fatal"|\n\s+at /i)
})

test('the requested server is found anywhere in the list of hosts', async (t) => {
  const pair = await openPair(t)
  if (!pair) return
  const { primary, standby } = pair
  const both = [standby, primary]
  const nowhere = { ...primary, port: 1 }
  const findPort = statement('test_find_port', "select current_setting('port')::integer as port")
  const openOn = (url: string) => {
    const log = { warning: () => {} }
    const db = openDatabase({ url, schema: 'auth', maxPoolSize: 3, idleTimeoutMs: 10_000, log })
    t.after(() => db[Symbol.asyncDispose]())
    return db
  }
  const portOf = async (url: string) => (await openOn(url).run(findPort))[0]?.['port']

  await t.test('by target_session_attrs', async () => {
    assert.equal(await portOf(toUrl(both)), primary.port)
    assert.equal(await portOf(toUrl([nowhere, ...both])), primary.port)
    const at = (name: string) => portOf(toUrl(both, `?target_session_attrs=${name}`))
    assert.equal(await at('primary'), primary.port)
    assert.equal(await at('read-write'), primary.port)
    assert.equal(await at('any'), standby.port)
    assert.equal(await at('prefer-standby'), standby.port)
    const onlyPrimary = toUrl([nowhere, primary], '?target_session_attrs=prefer-standby')
    assert.equal(await portOf(onlyPrimary), primary.port)
  })

  await t.test('by many concurrent connections', async () => {
    const db = openOn(toUrl([nowhere, ...both]))
    const rows = await Promise.all(Array.from({ length: 12 }, () => db.run(findPort)))
    assert.deepEqual(new Set(rows.flat().map(({ port }) => port)), new Set([primary.port]))
  })

  await t.test('by commands', async () => {
    const client = await openClient(toUrl(both), 'test')
    assert.equal((await client.query(findPort.text)).rows[0].port, primary.port)
    await client.end()
  })

  await t.test('a missing primary is reported as an unavailable database', async () => {
    await assert.rejects(portOf(toUrl([standby, nowhere])), {
      name: 'DatabaseLostError',
      loss: 'away',
    })
    await assert.rejects(portOf(toUrl([standby], '?target_session_attrs=primary')), {
      name: 'DatabaseLostError',
      code: '25006',
      message: /is a standby, but target_session_attrs is primary/,
    })
    // A single host is not checked when it is opened, so the write is refused.
    const write = statement('test_write', 'create table never (id integer)')
    await assert.rejects(openOn(toUrl([standby])).run(write), { code: '25006', loss: 'away' })
  })

  await t.test('after the roles have changed while connections were open', async () => {
    const db = openOn(toUrl([primary, standby]))
    assert.equal((await db.run(findPort))[0]?.['port'], primary.port)
    await primary.shutDown()
    await queryOnce(standby.url, 'select pg_promote()')
    await until(async () => {
      const rows = await db.run(findPort).catch(() => [])
      return rows[0]?.['port'] === standby.port
    })
  })
})
