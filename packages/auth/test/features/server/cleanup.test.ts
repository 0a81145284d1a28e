/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import { Client } from 'pg'
import { openDatabase, type Queries } from '../../../src/db/database.ts'
import type { Statement } from '../../../src/db/statement.ts'
import { type CleanupRound, cleanUp } from '../../../src/features/server/cleanup.ts'
import { openAuthServer } from '../../support/auth-server.ts'
import { createFactorCalls, factorEnvironment } from '../../support/factors.ts'
import { openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'
import { openOutboxDatabase } from '../../support/outbox.ts'

const ages = { linkSeconds: 3_600, cooldownMs: 86_400_000 }

test('sessions that ended more than a day ago are deleted, others are kept', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const db = openDatabase({
    url: server.databaseUrl,
    schema: server.schema,
    maxPoolSize: 1,
    idleTimeoutMs: 1_000,
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
  })
  t.after(() => db[Symbol.asyncDispose]())
  const { url } = server
  const email = newEmail()
  const first = await send(url, '/signup', { body: { email, password } })
  const second = await send(url, '/token?grant_type=password', { body: { email, password } })
  await send(url, '/logout?scope=local', { method: 'POST', token: first.body.access_token })
  const inOneHour = server.clock.now() + 3_600_000
  const inTwoDays = server.clock.now() + 2 * 86_400_000
  const endedAt = async (nowMs: number) =>
    (await cleanUp(db, nowMs, ages)).deleted.get('ended sessions') ?? 0
  assert.equal(await endedAt(inOneHour), 0)
  assert.equal(await endedAt(inTwoDays), 1)
  const refresh = (token: string) =>
    send(url, '/token?grant_type=refresh_token', { body: { refresh_token: token } })
  assert.equal((await refresh(first.body.refresh_token)).status, 400)
  assert.equal((await refresh(second.body.refresh_token)).status, 200)
})

test('unverified challenges and factors are deleted after a day', async (t) => {
  const server = await openFlowServer(t, factorEnvironment)
  if (!server) return
  const db = openDatabase({
    url: server.databaseUrl,
    schema: server.schema,
    maxPoolSize: 1,
    idleTimeoutMs: 1_000,
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
  })
  t.after(() => db[Symbol.asyncDispose]())
  const calls = createFactorCalls(server)
  const member = await calls.newMember()
  const { body } = await calls.enroll(member)
  await calls.challenge(member, body.id)
  const counts = async (nowMs: number) => {
    const { deleted } = await cleanUp(db, nowMs, ages)
    return [deleted.get('challenges') ?? 0, deleted.get('unverified factors') ?? 0]
  }
  assert.deepEqual(await counts(server.clock.now() + 3_600_000), [0, 0])
  assert.deepEqual(await counts(server.clock.now() + 2 * 86_400_000), [2, 1])
  const ids = (await calls.user(member)).factors.map(({ id }: { id: string }) => id)
  assert.deepEqual(ids, [member.factorId])
})

test('message cooldowns are deleted after the longest cooldown has passed', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const db = openDatabase({
    url: server.databaseUrl,
    schema: server.schema,
    maxPoolSize: 1,
    idleTimeoutMs: 1_000,
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
  })
  t.after(() => db[Symbol.asyncDispose]())
  const email = newEmail()
  await server.post('/recover', { email })
  const counts = []
  for (const aheadMs of [600_000, 1_200_000]) {
    const nowMs = server.clock.now() + aheadMs
    const { deleted } = await cleanUp(db, nowMs, { ...ages, cooldownMs: 900_000 })
    counts.push(deleted.get('message cooldowns') ?? 0)
  }
  assert.deepEqual(counts, [0, 1])
  assert.equal((await server.post('/recover', { email })).status, 200)
})

test('used messages of wallets are deleted a day after they have expired', async (t) => {
  const database = await openOutboxDatabase(t)
  if (!database) return
  const { db, url, schema } = database
  const client = new Client({ connectionString: url, options: `-c search_path=${schema}` })
  await client.connect()
  t.after(() => client.end())
  const nowMs = Date.now()
  await client.query("insert into web3_messages (key, expires_at) values ('a', $1), ('b', $2)", [
    new Date(nowMs - 25 * 3_600_000),
    new Date(nowMs - 23 * 3_600_000),
  ])
  const { deleted } = await cleanUp(db, nowMs, ages)
  assert.equal(deleted.get('wallet messages'), 1)
  const { rows } = await client.query('select key from web3_messages')
  assert.deepEqual(
    rows.map(({ key }) => key.toString()),
    ['b'],
  )
})

test('unused clients with a document, and used proofs, are deleted', async (t) => {
  const database = await openOutboxDatabase(t)
  if (!database) return
  const { db, url, schema } = database
  const client = new Client({ connectionString: url, options: `-c search_path=${schema}` })
  await client.connect()
  t.after(() => client.end())
  const nowMs = Date.now()
  const userId = '00000000-0000-4000-8000-000000000001'
  await client.query(
    "insert into users (id, aud, role, created_at, updated_at) values ($1, '', '', now(), now())",
    [userId],
  )
  const ids: string[] = []
  for (const [index, days] of [31, 31, 29].entries()) {
    const id = `00000000-0000-4000-8000-00000000001${index}`
    ids.push(id)
    await client.query(
      `insert into oauth_clients (id, client_type, token_endpoint_auth_method, redirect_uris, grant_types,
         client_name, client_uri, logo_uri, registration_type, metadata_url, metadata_expires_at,
         created_at, updated_at)
       values ($1, 'public', 'none', '[]', '[]', '', '', '', 'document', $2, $3, now(), now())`,
      [id, `https://client.example/${index}`, new Date(nowMs - days * 86_400_000)],
    )
  }
  await client.query(
    "insert into oauth_consents (user_id, client_id, resource, scopes, granted_at) values ($1, $2, '', '[]', now())",
    [userId, ids[1]],
  )
  await client.query("insert into dpop_proofs (key, expires_at) values ('a', $1), ('b', $2)", [
    new Date(nowMs - 61_000),
    new Date(nowMs - 59_000),
  ])
  const { deleted } = await cleanUp(db, nowMs, ages)
  assert.equal(deleted.get('OAuth clients with a document'), 1)
  assert.equal(deleted.get('DPoP proofs'), 1)
  const { rows } = await client.query('select id from oauth_clients order by id')
  assert.deepEqual(
    rows.map(({ id }) => id),
    ids.slice(1),
  )
})

test('only one process cleans up at a time, and a backlog is reported', async (t) => {
  const database = await openOutboxDatabase(t)
  if (!database) return
  const { db, url, schema } = database
  const client = new Client({ connectionString: url, options: `-c search_path=${schema}` })
  await client.connect()
  t.after(() => client.end())
  const nowMs = Date.now()
  const cleanUpNow = () => cleanUp(db, nowMs, { ...ages, auditMs: 30 * 86_400_000 })
  const count = async () =>
    (await client.query('select count(*)::int as count from audit_log_entries')).rows[0].count
  await client.query(
    `insert into audit_log_entries (id, payload, created_at)
     select gen_random_uuid(), '{}', to_timestamp($1::double precision / 1000) - n * interval '1 hour'
     from generate_series(1, 11000) n`,
    [nowMs],
  )

  await t.test('a round is skipped while another process holds the lock', async () => {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `cleanup of "${schema}"`,
    ])
    const { outcome, deleted, lagMs } = await cleanUpNow()
    assert.deepEqual([outcome, deleted.size, lagMs], ['skipped', 0, undefined])
    await client.query('rollback')
    assert.equal(await count(), 11_000)
  })

  await t.test(
    'a round deletes the oldest rows up to its limit and reports the backlog',
    async () => {
      const { outcome, deleted, lagMs } = await cleanUpNow()
      assert.deepEqual([outcome, deleted.get('audit entries')], ['completed', 10_000])
      // The oldest remaining row is 281 hours past the 30 days.
      assert.ok(lagMs !== undefined && Math.abs(lagMs - 281 * 3_600_000) <= 3_600_000, `${lagMs}`)
    },
  )

  await t.test('the next round deletes the remaining old rows and nothing newer', async () => {
    const { deleted, lagMs } = await cleanUpNow()
    assert.deepEqual([deleted.get('audit entries'), lagMs], [280, 0])
    assert.equal(await count(), 720)
  })

  await t.test('rows deleted before another process takes the lock are counted', async () => {
    await client.query(
      `insert into message_gaps (key, sent_at)
       select decode(md5(n::text), 'hex'), now() - interval '30 days' from generate_series(1, 600) n`,
    )
    const interrupted: Queries = {
      ...db,
      async run(statement: Statement, values?: object) {
        const rows = await db.run(statement as Statement<object, never>, values ?? {})
        if (rows[0]?.['count'] !== 500) return rows
        await client.query('begin')
        await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
          `cleanup of "${schema}"`,
        ])
        return rows
      },
    }
    const { outcome, deleted } = await cleanUp(interrupted, nowMs, ages)
    await client.query('rollback')
    assert.deepEqual([outcome, deleted.get('message cooldowns')], ['skipped', 500])
    assert.equal((await cleanUpNow()).deleted.get('message cooldowns'), 100)
  })

  await t.test('several processes that clean up concurrently delete each row once', async () => {
    await client.query(
      `insert into message_gaps (key, sent_at)
       select decode(md5(n::text), 'hex'), now() - interval '30 days' from generate_series(1, 3000) n`,
    )
    const others = [database.openAnother(), database.openAnother()]
    const rounds = await Promise.all([db, ...others].map((each) => cleanUp(each, nowMs, ages)))
    const sum = (all: readonly CleanupRound[]) =>
      all.reduce((count, { deleted }) => count + (deleted.get('message cooldowns') ?? 0), 0)
    // Each process stops when another one holds the lock, so some rows may be left.
    let total = sum(rounds)
    for (let isDone = false; !isDone; ) {
      const round = await cleanUpNow()
      total += sum([round])
      isDone = round.outcome === 'completed' && sum([round]) === 0
    }
    assert.equal(total, 3_000)
  })
})
