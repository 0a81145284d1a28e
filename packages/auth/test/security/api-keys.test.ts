/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Client } from 'pg'
import { createKeyText } from '../../src/features/api-keys/key-text.ts'
import { openKeyServer } from '../support/api-keys.ts'
import { send } from '../support/http-client.ts'

test('only a hash of an API key is stored, and no log contains a key (property 120)', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { asAdmin, databaseUrl, schema, log } = server
  const ada = await server.signUp()
  const created = await asAdmin('POST', '/admin/api-keys', { user_id: ada.id, name: 'a' })
  const { api_key: text } = created.body
  await server.exchange(text)
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  t.after(() => client.end())
  const secret = text.slice(26, 60)
  for (const table of ['api_keys', 'audit_log_entries']) {
    const { rows } = await client.query(`select * from ${schema}.${table}`)
    assert.ok(rows.length > 0)
    assert.ok(!JSON.stringify(rows).includes(secret))
  }
  assert.ok(!log.join('\n').includes(secret))
})

test('unknown, wrong, expired and revoked API keys and those of banned users get the same response (property 121)', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { asAdmin, clock, verify, exchange } = server
  const create = async (more: object = {}) => {
    const { id } = await server.signUp()
    const { body } = await asAdmin('POST', '/admin/api-keys', { user_id: id, name: 'a', ...more })
    return { userId: id, id: body.id, text: body.api_key }
  }
  const [own, revoked, banned] = [await create(), await create(), await create()]
  const expired = await create({ expires_at: new Date(clock.now() + 600_000).toISOString() })
  clock.aheadMs = 601_000
  await asAdmin('DELETE', `/admin/api-keys/${revoked.id}`)
  await asAdmin('PUT', `/admin/users/${banned.userId}`, { ban_duration: '1h' })
  const invalid = [
    'no key at all',
    createKeyText(randomUUID()),
    // The right ID and checksum, with another secret.
    createKeyText(own.id),
    revoked.text,
    banned.text,
    expired.text,
  ]
  for (const text of invalid) {
    assert.deepEqual(await verify(text), { active: false })
    const { status, body } = await exchange(text)
    assert.deepEqual(
      [status, body.error_code, body.msg],
      [401, 'invalid_api_key', 'Invalid API key'],
    )
  }
  assert.equal((await verify(own.text)).active, true)
})

test('the token of an API key cannot change its user, create keys or act as an administrator (property 122)', async (t) => {
  const server = await openKeyServer(t, { AUTH_JWT_ADMIN_ROLES: 'service_role,robot' })
  if (!server) return
  const { asAdmin, url, exchange } = server
  const ada = await server.signUp()
  const account = await asAdmin('POST', '/admin/service-accounts', { name: 'r', role: 'robot' })
  for (const owner of [{ user_id: ada.id }, { service_account_id: account.body.id }]) {
    const key = (await asAdmin('POST', '/admin/api-keys', { ...owner, name: 'a' })).body
    const token = (await exchange(key.api_key)).body.access_token
    const calls: readonly (readonly [string, string, object?])[] = [
      ['GET', '/user'],
      ['PUT', '/user', { data: { name: 'Eve' } }],
      ['POST', '/user/api-keys', { name: 'b' }],
      ['POST', '/logout'],
      ['GET', '/admin/users'],
      ['POST', '/admin/api-keys', { user_id: ada.id, name: 'b' }],
    ]
    for (const [method, path, body] of calls) {
      const { status } = await send(url, path, { method, token, ...(body && { body }) })
      assert.equal(status, 403, `${method} ${path}`)
    }
    // The key itself is not an access token.
    assert.equal((await send(url, '/user', { token: key.api_key })).status, 403)
  }
})

test('a user can only see and change their own API keys, and cannot choose a plan (property 123)', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { url, asAdmin, verify } = server
  const [ada, eve] = [await server.signUp(), await server.signUp()]
  const created = await send(url, '/user/api-keys', {
    token: ada.token,
    body: { name: 'a', plan: 'pro', user_id: eve.id, service_account_id: eve.id },
  })
  const { id, api_key: text } = created.body
  const { user_id, plan } = await verify(text)
  assert.deepEqual({ user_id, plan }, { user_id: ada.id, plan: null })
  const path = `/user/api-keys/${id}`
  const token = eve.token
  assert.deepEqual((await send(url, '/user/api-keys', { token })).body, [])
  assert.equal((await send(url, path, { method: 'DELETE', token })).status, 404)
  assert.equal((await send(url, `${path}/rotate`, { token, body: {} })).status, 404)
  assert.equal((await send(url, `/admin/api-keys/${id}`, { method: 'DELETE', token })).status, 403)
  assert.equal((await verify(text)).active, true)
  // The keys of a deleted user are gone.
  await asAdmin('DELETE', `/admin/users/${ada.id}`, { should_soft_delete: true })
  assert.deepEqual(await verify(text), { active: false })
})

test('users create API keys only if the operator allows it, and not without their second factor or account (property 124)', async (t) => {
  const server = await openKeyServer(t, {
    AUTH_API_KEYS_ENABLED: 'false',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  })
  if (!server) return
  const { token } = await server.signUp()
  const off = await send(server.url, '/user/api-keys', { token, body: { name: 'a' } })
  assert.deepEqual([off.status, off.body.error_code], [404, 'feature_disabled'])
  const other = await openKeyServer(t, { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
  if (!other) return
  const anonymous = (await send(other.url, '/signup', { body: {} })).body.access_token
  const body = { name: 'a' }
  assert.equal((await send(other.url, '/user/api-keys', { token: anonymous, body })).status, 403)
  const ada = await other.signUp()
  const client = new Client({ connectionString: other.databaseUrl })
  await client.connect()
  t.after(() => client.end())
  await client.query(
    `insert into ${other.schema}.mfa_factors (id, user_id, factor_type, status, friendly_name, created_at, updated_at)
     values ($1, $2, 'totp', 'verified', 'phone', now(), now())`,
    [randomUUID(), ada.id],
  )
  const refused = await send(other.url, '/user/api-keys', { token: ada.token, body })
  assert.deepEqual([refused.status, refused.body.error_code], [403, 'insufficient_aal'])
})
