/**
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { send } from '../support/http-client.ts'
import { signup, startReloadable } from '../support/reloadable-server.ts'

test('signing keys are replaced: tokens of the old key stay valid as long as it is listed', async (t) => {
  const toKey = (kid: string, operations: readonly string[]) => ({
    ...{ kty: 'oct', kid, alg: 'HS256', k: randomBytes(32).toString('base64url') },
    key_ops: operations,
  })
  const [first, second] = [toKey('first', ['sign', 'verify']), toKey('second', ['sign', 'verify'])]
  const server = await startReloadable(t, { AUTH_JWT_KEYS: JSON.stringify([first]) })
  if (!server) return
  const readUser = async (token: string) => (await send(server.url, '/user', { token })).status
  const kidOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
  const { access_token: old } = (await signup(server.url)).body
  assert.equal(kidOf(old), 'first')
  const verifies = { ...first, key_ops: ['verify'] }
  server.write({ AUTH_JWT_KEYS: JSON.stringify([second, verifies]) })
  await server.untilLogged(/changed: AUTH_JWT_KEYS/)
  const { access_token: current } = (await signup(server.url)).body
  assert.equal(kidOf(current), 'second')
  assert.deepEqual([await readUser(old), await readUser(current)], [200, 200])
  server.write({ AUTH_JWT_KEYS: JSON.stringify([second]) })
  await server.untilLogged(/changed: AUTH_JWT_KEYS/)
  assert.deepEqual([await readUser(old), await readUser(current)], [403, 200])
  assert.doesNotMatch(server.output(), new RegExp(first.k))
})

test('the key that encrypts the keys in the database is replaced without a restart', async (t) => {
  const [first, second] = ['first'.repeat(8), 'second'.repeat(8)]
  const server = await startReloadable(t, { AUTH_SECRETS_KEY: first })
  if (!server) return
  const { refresh_token: token } = (await signup(server.url)).body
  server.write({ AUTH_SECRETS_KEY: 'another'.repeat(8) })
  const refused = await server.untilLogged(/"level":"error"/)
  assert.match(refused, /AUTH_SECRETS_KEY has another key/)
  const refresh = (refresh_token: string) =>
    send(server.url, '/token?grant_type=refresh_token', { body: { refresh_token } })
  const kept = await refresh(token)
  assert.equal(kept.status, 200, 'the previous key stays in effect')
  server.write({ AUTH_SECRETS_KEY: `${second},${first}` })
  await server.untilLogged(/changed: AUTH_SECRETS_KEY/)
  server.write({ AUTH_SECRETS_KEY: second })
  await server.untilLogged(/changed: AUTH_SECRETS_KEY/)
  assert.equal((await refresh(kept.body.refresh_token)).status, 200)
})

test('a changed key file is applied', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'auth-key-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'key')
  writeFileSync(file, 'first'.repeat(8))
  const server = await startReloadable(t, { AUTH_SECRETS_KEY: '', AUTH_SECRETS_KEY_FILE: file })
  if (!server) return
  writeFileSync(file, `${'second'.repeat(8)}\n${'first'.repeat(8)}`)
  await server.untilLogged(/Reloaded the configuration; changed: AUTH_SECRETS_KEY_FILE/)
  assert.equal((await signup(server.url)).status, 200)
})
