/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '@portcullis/service-kit/log'
import { cleanUp } from '../../src/core/cleanup.ts'
import { openDatabase } from '../../src/db/database.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { ask, newEmail, password } from '../support/http-client.ts'

test('sessions that ended a day ago are deleted, others stay', async (t) => {
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
  const first = await ask(url, '/signup', { body: { email, password } })
  const second = await ask(url, '/token?grant_type=password', { body: { email, password } })
  await ask(url, '/logout?scope=local', { method: 'POST', token: first.body.access_token })
  const inOneHour = server.clock.now() + 3_600_000
  const inTwoDays = server.clock.now() + 2 * 86_400_000
  assert.deepEqual(new Map(await cleanUp(db, inOneHour, 3_600)).get('ended sessions'), 0)
  assert.deepEqual(new Map(await cleanUp(db, inTwoDays, 3_600)).get('ended sessions'), 1)
  const refresh = (token: string) =>
    ask(url, '/token?grant_type=refresh_token', { body: { refresh_token: token } })
  assert.equal((await refresh(first.body.refresh_token)).status, 400)
  assert.equal((await refresh(second.body.refresh_token)).status, 200)
})

test('challenges and factors that nobody verified are deleted after a day', async (t) => {
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
    const done = new Map(await cleanUp(db, nowMs, 3_600))
    return [done.get('challenges'), done.get('unverified factors')]
  }
  assert.deepEqual(await counts(server.clock.now() + 3_600_000), [0, 0])
  assert.deepEqual(await counts(server.clock.now() + 2 * 86_400_000), [2, 1])
  const ids = (await calls.user(member)).factors.map(({ id }: { id: string }) => id)
  assert.deepEqual(ids, [member.factorId])
})

test('gaps between messages are deleted when the longest of them is over', async (t) => {
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
    const done = new Map(await cleanUp(db, server.clock.now() + aheadMs, 3_600, 900_000))
    counts.push(done.get('message gaps'))
  }
  assert.deepEqual(counts, [0, 1])
  assert.equal((await server.post('/recover', { email })).status, 200)
})
