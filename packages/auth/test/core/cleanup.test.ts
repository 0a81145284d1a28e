import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '@portcullis/service-kit/log'
import { cleanUp } from '../../src/core/cleanup.ts'
import { openDatabase } from '../../src/db/database.ts'
import { openAuthServer } from '../support/auth-server.ts'
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
  const inOneHour = Date.now() + 3_600_000
  const inTwoDays = Date.now() + 2 * 86_400_000
  assert.deepEqual(new Map(await cleanUp(db, inOneHour, 3_600)).get('ended sessions'), 0)
  assert.deepEqual(new Map(await cleanUp(db, inTwoDays, 3_600)).get('ended sessions'), 1)
  const refresh = (token: string) =>
    ask(url, '/token?grant_type=refresh_token', { body: { refresh_token: token } })
  assert.equal((await refresh(first.body.refresh_token)).status, 400)
  assert.equal((await refresh(second.body.refresh_token)).status, 200)
})
