/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { readMigrations } from '../../src/db/migrate/files.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { openMigratedEnvironment, startAuth } from '../support/auth-program.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { blockedByThisSession } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

const refresh = (url: string, token: string) =>
  send(url, '/token?grant_type=refresh_token', { body: { refresh_token: token } })

test('of two processes that start together on an empty database, one migrates and both serve (property 41)', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const { url } = postgres
  const schema = `together_${process.pid}`
  const applied = await Promise.all([1, 2, 3].map(() => migrate({ url, schema })))
  const versions = (await readMigrations()).map(({ version }) => version)
  assert.deepEqual(applied.flat().sort(), versions)

  const database = { url, schema: `${schema}_too` }
  const [one, other] = await Promise.all([
    openAuthServer(t, { database }),
    openAuthServer(t, { database }),
  ])
  if (!one || !other) return
  const body = { email: newEmail(), password }
  const signedUp = await send(one.url, '/signup', { body })
  assert.equal(signedUp.status, 200)
  // They share the keys that the first process created.
  const token = signedUp.body.access_token
  assert.equal((await send(other.url, '/user', { token })).status, 200)
  const rotated = await refresh(other.url, signedUp.body.refresh_token)
  assert.equal(rotated.status, 200)
  assert.equal((await refresh(one.url, rotated.body.refresh_token)).status, 200)
})

test('SIGTERM waits for running requests and leaves no refresh token half rotated (property 42)', async (t) => {
  const env = await openMigratedEnvironment(t)
  if (!env) return
  const started = {
    ...env,
    AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '300s',
    AUTH_RATE_LIMIT_TOKEN_REFRESH: '1000000',
  }
  const first = await startAuth(t, [], started)
  const people = []
  for (let count = 0; count < 5; count += 1) {
    const { body } = await send(first.url, '/signup', { body: { email: newEmail(), password } })
    people.push({ token: body.refresh_token as string, answers: 0 })
  }
  const [held, ...busy] = people
  if (held === undefined) throw new Error('No user signed up')

  // One refresh waits in the database while others run.
  const client = new Client({
    connectionString: env['DATABASE_URL'] ?? '',
    options: `-c search_path=${env['AUTH_DB_NAMESPACE']}`,
  })
  await client.connect()
  t.after(() => client.end())
  await client.query('begin')
  const { rows } = await client.query(
    `select s.id from sessions s order by created_at limit 1 for update`,
  )
  assert.equal(rows.length, 1)
  let isStopping = false
  const waiting = refresh(first.url, held.token)
  const loops = busy.map(async (person) => {
    for (;;) {
      try {
        const { status, body } = await refresh(first.url, person.token)
        assert.equal(status, 200, JSON.stringify(body))
        person.token = body.refresh_token
        person.answers += 1
      } catch (error) {
        if (error instanceof assert.AssertionError || !isStopping) throw error
        // The server no longer listens.
        return
      }
    }
  })
  await until(async () => {
    const locks = await client.query(blockedByThisSession)
    return locks.rows.length > 0 && busy.every(({ answers }) => answers > 0)
  })
  isStopping = true
  let code: number | null | undefined
  const stopped = first.stop('SIGTERM').then((ended) => {
    code = ended
  })
  await Promise.all(loops)
  await setTimeout(100)
  assert.equal(code, undefined, 'the server exited before its requests ended')
  await client.query('commit')
  const answer = await waiting
  assert.equal(answer.status, 200)
  held.token = answer.body.refresh_token
  await stopped
  assert.equal(code, 0)

  // Every client has a valid token: the current one, or the one whose response was lost.
  const second = await startAuth(t, ['serve'], started)
  for (const { token } of people) assert.equal((await refresh(second.url, token)).status, 200)
})
