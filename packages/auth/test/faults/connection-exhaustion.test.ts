/**
 * @legs safety
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from '@portcullis/test-servers'
import { Client } from 'pg'
import { type Database, type DatabaseSettings, openDatabase } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { startCrashServer } from '../support/crash-server.ts'
import { type HttpAnswer, newEmail, password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { testPostgres } from '../support/shared-postgres.ts'

/** Of 60 connections, 3 are reserved for superusers; half of the remaining ones are 28. */
const settings = { max_connections: '60' }
const share = 28

async function connect(t: TestContext, url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

/** Starts PostgreSQL with few connections, and a client that watches them. */
async function openSmallPostgres(t: TestContext) {
  const postgres = await open(t, testPostgres, { settings })
  if (!postgres) return undefined
  const watcher = await connect(t, postgres.url)
  await watcher.query("create role other login password 'other'")
  const countOurs = async (): Promise<number> => {
    const { rows } = await watcher.query(
      "select count(*)::integer from pg_stat_activity where starts_with(application_name, 'portcullis-auth ')",
    )
    return rows[0].count
  }
  const otherUrl = new URL(postgres.url)
  otherUrl.username = otherUrl.password = 'other'
  return { url: postgres.url, otherUrl: otherUrl.href, watcher, countOurs }
}

for (const workers of ['1', '3']) {
  test(`150 concurrent requests leave connections to other clients, with ${workers} processes`, async (t) => {
    const small = await openSmallPostgres(t)
    if (!small) return
    const { url, otherUrl, watcher, countOurs } = small
    const server = await startCrashServer(t, {
      DATABASE_URL: url,
      AUTH_WORKERS: workers,
      AUTH_API_MAX_REQUEST_DURATION: '8s',
    })
    const email = newEmail()
    const { body } = await send(server.url, '/signup', { body: { email, password } })
    const token = body.access_token
    const holder = await connect(t, url)
    await holder.query('begin')
    await holder.query('select from auth.users where email = $1 for update', [email])
    const refused = Promise.withResolvers<HttpAnswer>()
    const change = async () => {
      const body = { data: { n: 1 } }
      const answer = await send(server.url, '/user', { method: 'PUT', token, body })
      if (answer.status === 503) refused.resolve(answer)
      return answer
    }
    // On a busy machine a request may reach its time limit before the last one has arrived, so each client
    // repeats its request for as long as the row is locked.
    let isLocked = true
    t.after(() => {
      isLocked = false
    })
    const changeWhileLocked = async () => {
      const answers: HttpAnswer[] = []
      do {
        if (answers.length > 0) await sleep(100)
        answers.push(await change())
      } while (isLocked)
      return answers
    }
    const changes = Array.from({ length: 150 }, changeWhileLocked)
    // Each request holds a connection.
    const blocked = 'select from pg_locks where not granted'
    await until(async () => ((await watcher.query(blocked)).rowCount ?? 0) >= share - 6)
    assert.ok((await countOurs()) <= share, `${await countOurs()}`)
    for (let other = 0; other < 20; other++) await connect(t, otherUrl)
    const { headers, body: refusal } = await refused.promise
    assert.equal(headers.get('retry-after'), '1')
    assert.equal(refusal.error_code, 'database_unavailable')
    assert.ok((await countOurs()) <= share, `${await countOurs()}`)

    isLocked = false
    await holder.query('commit')
    const statuses = (await Promise.all(changes)).flat().map(({ status }) => status)
    assert.deepEqual(
      statuses.filter((status) => ![200, 503, 504].includes(status)),
      [],
    )
    // On a busy machine a request may get its connection too late, but a later one must succeed.
    await until(async () => (await change()).status === 200)
    assert.match(server.output(), /No connection to PostgreSQL is free/)
    assert.doesNotMatch(server.output(), /unhandled|uncaught|"level":"fatal"|\n\s+at /i)
  })
}

const findSelf = statement('test_find_self', 'select pg_backend_pid() as pid')
const wait = statement('test_wait', 'select pg_sleep(0.05)')

function openOne(t: TestContext, url: string, more: Partial<DatabaseSettings> = {}): Database {
  const db = openDatabase({
    url,
    schema: 'auth',
    maxPoolSize: undefined,
    idleTimeoutMs: 60_000,
    limitIntervalMs: 20,
    log: { warning: () => {} },
    ...more,
  })
  t.after(() => db[Symbol.asyncDispose]())
  return db
}

test('processes divide their share of connections and use more when others have ended', async (t) => {
  const small = await openSmallPostgres(t)
  if (!small) return
  const { url, countOurs, watcher } = small
  const waits: number[] = []
  const first = openOne(t, url, { onWaited: (ms) => waits.push(ms) })
  assert.equal(first.pool.limit, undefined)
  await first.run(findSelf)
  assert.equal(first.pool.limit, share)
  assert.equal(waits.length, 1)

  const second = openOne(t, url)
  await second.run(findSelf)
  await until(async () => first.pool.limit === share / 2 && second.pool.limit === share / 2)
  const burst = (db: Database) => Array.from({ length: 100 }, () => db.run(wait))
  const bursts = [...burst(first), ...burst(second)]
  await until(async () => first.pool.waiting > 0 && second.pool.waiting > 0)
  assert.ok((await countOurs()) <= share)
  await Promise.all(bursts)
  await until(async () => first.pool.used === 0)

  await second[Symbol.asyncDispose]()
  await until(async () => first.pool.limit === share)

  // A connection limit of the role is respected as well.
  await watcher.query('alter role other connection limit 5')
  const third = openOne(t, small.otherUrl)
  await third.run(findSelf)
  assert.equal(third.pool.limit, 5)
})

test('connections are closed by age, and idle ones by number', async (t) => {
  const small = await openSmallPostgres(t)
  if (!small) return
  const db = openOne(t, small.url, { maxIdle: 2, maxPoolSize: 10 })
  await Promise.all(Array.from({ length: 10 }, () => db.run(wait)))
  await until(async () => (await small.countOurs()) <= 2)
  assert.equal(db.pool.limit, 10)

  const shortLived = openOne(t, small.url, { maxPoolSize: 1, maxLifetimeMs: 50 })
  const [before] = await shortLived.run(findSelf)
  await until(async () => (await shortLived.run(findSelf))[0]?.['pid'] !== before?.['pid'])
})
