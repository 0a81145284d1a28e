/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenSigner } from '../../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../../src/tokens/signing-keys.ts'
import { openKeyServer } from '../../support/api-keys.ts'
import { jwtSecret } from '../../support/auth-server.ts'
import { send } from '../../support/http-client.ts'
import { until } from '../../support/outbox.ts'
import { openRevokingVerifier } from '../../support/revocations.ts'

const decode = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

test('a user creates a key, exchanges it for a short token, and revokes it', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { url, exchange, verify, asAdmin, serviceToken } = server
  const ada = await server.signUp()
  await asAdmin('PUT', `/admin/users/${ada.id}`, { app_metadata: { plan: 'pro' } })
  const path = '/user/api-keys'
  const body = { name: 'laptop', scopes: ['read'] }
  const created = await send(url, path, { token: ada.token, body })
  assert.equal(created.status, 201)
  const { api_key: text, ...key } = created.body
  assert.equal(key.hint, text.slice(-4))
  assert.deepEqual((await send(url, path, { token: ada.token })).body, [key])
  const token = (await exchange(text)).body.access_token
  const { sub, key_id, scope, plan, exp, iat } = decode(token)
  assert.deepEqual(
    { sub, key_id, scope, plan, seconds: exp - iat },
    { sub: ada.id, key_id: key.id, scope: 'read', plan: 'pro', seconds: 300 },
  )
  const { judge, untilRevoked } = openRevokingVerifier(t, { key: serviceToken, authUrl: url })
  assert.equal(await judge(token), 'accepted')
  const { role, ...active } = await verify(text)
  assert.deepEqual(active, {
    active: true,
    key_id: key.id,
    sub: ada.id,
    user_id: ada.id,
    scopes: ['read'],
    plan: 'pro',
    expires_at: null,
  })
  const gone = await send(url, `${path}/${key.id}`, { method: 'DELETE', token: ada.token })
  assert.equal(gone.status, 204)
  assert.deepEqual(await verify(text), { active: false })
  assert.equal((await exchange(text)).status, 401)
  await untilRevoked(token)
})

test('a service account has keys with its role and plan, which end with it', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { exchange, verify, asAdmin } = server
  const fields = { name: 'reports', role: 'reporter', plan: 'batch' }
  const account = (await asAdmin('POST', '/admin/service-accounts', fields)).body
  const create = async (more: object = {}) => {
    const key = { service_account_id: account.id, name: 'cron', ...more }
    return (await asAdmin('POST', '/admin/api-keys', key)).body
  }
  const [first, second] = [await create(), await create({ plan: 'bulk', scopes: ['anything'] })]
  const claims = decode((await exchange(second.api_key)).body.access_token)
  assert.deepEqual(
    [claims.sub, claims.role, claims.plan, claims.scope],
    [account.id, 'reporter', 'bulk', 'anything'],
  )
  assert.equal((await verify(first.api_key)).plan, 'batch')
  const listed = await asAdmin('GET', `/admin/api-keys?service_account_id=${account.id}`)
  assert.deepEqual(
    listed.body.api_keys.map(({ id }: { id: string }) => id),
    [second.id, first.id],
  )
  assert.equal(listed.headers.get('x-total-count'), '2')
  assert.equal((await asAdmin('GET', '/admin/service-accounts')).body.service_accounts.length, 1)
  assert.equal((await asAdmin('DELETE', `/admin/service-accounts/${account.id}`)).status, 204)
  assert.deepEqual(await verify(second.api_key), { active: false })
})

test('after a rotation the previous secret works during the overlap', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { exchange, verify, asAdmin, clock, url, serviceToken } = server
  const ada = await server.signUp()
  const key = (await asAdmin('POST', '/admin/api-keys', { user_id: ada.id, name: 'a' })).body
  const rotate = async (overlap_seconds?: number) =>
    (await asAdmin('POST', `/admin/api-keys/${key.id}/rotate`, { overlap_seconds })).body.api_key
  const areActive = (...texts: readonly string[]) =>
    Promise.all(texts.map(async (text) => (await verify(text)).active))
  const second = await rotate(60)
  assert.deepEqual(await areActive(key.api_key, second), [true, true])
  clock.aheadMs = 61_000
  assert.deepEqual(await areActive(key.api_key, second), [false, true])
  clock.aheadMs = 0
  // Without an overlap, the tokens of the previous secret are revoked, and those of the new one are not.
  const { judge, untilRevoked } = openRevokingVerifier(t, { key: serviceToken, authUrl: url })
  const old = (await exchange(second)).body.access_token
  assert.equal(await judge(old), 'accepted')
  const third = await rotate()
  assert.deepEqual(await areActive(second, third), [false, true])
  await untilRevoked(old)
  assert.equal(await judge((await exchange(third)).body.access_token), 'accepted')
})

test('the tokens of a replaced secret stay revoked after another rotation, and end with the overlap', async (t) => {
  const server = await openKeyServer(t, { AUTH_EXT_AUTHZ_ENABLED: 'true' })
  if (!server) return
  const { exchange, asAdmin, url, serviceToken } = server
  const ada = await server.signUp()
  const key = (await asAdmin('POST', '/admin/api-keys', { user_id: ada.id, name: 'a' })).body
  const rotate = async (overlap_seconds: number) =>
    (await asAdmin('POST', `/admin/api-keys/${key.id}/rotate`, { overlap_seconds })).body.api_key
  const toToken = async (text: string) => (await exchange(text)).body.access_token
  const authorize = async (token: string) => (await send(url, '/ext-authz/', { token })).status
  const { judge, untilRevoked } = openRevokingVerifier(t, { key: serviceToken, authUrl: url })

  const first = await toToken(key.api_key)
  const secondText = await rotate(0)
  const second = await toToken(secondText)
  const thirdText = await rotate(100)
  const third = await toToken(thirdText)
  assert.deepEqual(await Promise.all([first, second, third].map(authorize)), [401, 200, 200])
  // A token of the previous secret ends with the overlap.
  assert.ok((await exchange(secondText)).body.expires_in <= 100)
  assert.equal((await exchange(thirdText)).body.expires_in, 300)
  // The second overlap ends the first one.
  await rotate(100)
  assert.deepEqual(await Promise.all([first, second, third].map(authorize)), [401, 401, 200])
  for (const revoked of [first, second]) await untilRevoked(revoked)
  assert.equal(await judge(third), 'accepted')
})

test('a key expires, its token ends with it, and its last use is recorded once a minute', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { exchange, verify, asAdmin, clock } = server
  const ada = await server.signUp()
  const expires_at = new Date(clock.now() + 120_000).toISOString()
  const fields = { user_id: ada.id, name: 'short', expires_at }
  const { api_key: text } = (await asAdmin('POST', '/admin/api-keys', fields)).body
  assert.ok((await exchange(text)).body.expires_in <= 120)
  const readLastUse = async () =>
    (await asAdmin('GET', `/admin/api-keys?user_id=${ada.id}`)).body.api_keys[0].last_used_at
  await until(async () => (await readLastUse()) !== null)
  const lastUse = await readLastUse()
  clock.aheadMs = 30_000
  await verify(text)
  assert.equal(await readLastUse(), lastUse)
  clock.aheadMs = 90_000
  await verify(text)
  await until(async () => (await readLastUse()) !== lastUse)
  clock.aheadMs = 121_000
  assert.deepEqual(await verify(text), { active: false })
})

test('wrong fields are refused with the reason', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { asAdmin, url } = server
  const ada = await server.signUp()
  const cases: readonly (readonly [object, number])[] = [
    [{ name: 'a' }, 400],
    [{ user_id: ada.id }, 400],
    [{ user_id: 'ada', name: 'a' }, 400],
    [{ user_id: '00000000-0000-4000-8000-000000000009', name: 'a' }, 404],
    [{ user_id: ada.id, name: 'a', scopes: ['two words'] }, 400],
    [{ user_id: ada.id, name: 'a', expires_at: '2020-01-01T00:00:00Z' }, 400],
    [{ user_id: ada.id, name: 'a', expires_at: 'soon' }, 400],
  ]
  for (const [fields, status] of cases) {
    assert.equal((await asAdmin('POST', '/admin/api-keys', fields)).status, status)
  }
  const own = { token: ada.token, body: { name: 'a', scopes: ['admin'] } }
  assert.match((await send(url, '/user/api-keys', own)).body.msg, /not one of AUTH_API_KEYS_SCOPES/)
  const { id } = (await asAdmin('POST', '/admin/api-keys', { user_id: ada.id, name: 'a' })).body
  for (const overlap_seconds of [-1, 0.5, 1e9, 'long']) {
    const path = `/admin/api-keys/${id}/rotate`
    assert.equal((await asAdmin('POST', path, { overlap_seconds })).status, 400)
  }
})

test('invalid keys of one client are limited, and do not lock out others', async (t) => {
  const server = await openKeyServer(t, { AUTH_RATE_LIMIT_API_KEY_GUESS: '2' })
  if (!server) return
  const { asAdmin } = server
  const { id } = await server.signUp()
  const { api_key } = (await asAdmin('POST', '/admin/api-keys', { user_id: id, name: 'a' })).body
  const check = (text: string, ip_address?: string) =>
    asAdmin('POST', '/api-keys/verify', { api_key: text, ip_address })
  const statuses = async (...texts: readonly string[]) => {
    const answers = []
    for (const text of texts) answers.push((await check(text, '192.0.2.1')).status)
    return answers
  }
  assert.deepEqual(await statuses('a', 'b', api_key), [200, 200, 429])
  assert.equal((await check(api_key, '192.0.2.2')).body.active, true)
  // As a service sees the addresses of IPv4 clients if it listens on `::`.
  assert.equal((await check(api_key, '::ffff:192.0.2.1')).status, 429)
  assert.equal((await check('a', '::ffff:192.0.2.3')).status, 200)
  assert.equal((await check('b', '::ffff:192.0.2.3')).status, 200)
  assert.equal((await check(api_key, '::ffff:192.0.2.4')).body.active, true)
  assert.equal((await check(api_key, 'elsewhere')).status, 400)
  // Without addresses, valid keys are accepted even if a client has sent too many invalid ones.
  const guesses = [await check('a'), await check('b'), await check('c')]
  assert.deepEqual(
    guesses.map(({ status }) => status),
    [200, 200, 429],
  )
  assert.notEqual(guesses[2]?.headers.get('retry-after'), null)
  assert.equal((await check(api_key)).body.active, true)
})

test('each token has its own limit of keys to verify', async (t) => {
  const server = await openKeyServer(t, { AUTH_RATE_LIMIT_API_KEY_VERIFY: '2' })
  if (!server) return
  const signer = createTokenSigner(
    createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
  )
  const [one, other] = ['one', 'other'].map((sub) => signer.sign({ sub, role: 'token_verifier' }))
  const body = { api_key: 'invalid' }
  const check = async (token = '') =>
    (await send(server.url, '/api-keys/verify', { token, body })).status
  assert.deepEqual([await check(one), await check(one), await check(one)], [200, 200, 429])
  assert.equal(await check(other), 200)
})

test('concurrent requests cannot exceed the number of keys', async (t) => {
  const server = await openKeyServer(t, { AUTH_API_KEYS_MAX_PER_OWNER: '1' })
  if (!server) return
  const { token } = await server.signUp()
  const create = () => send(server.url, '/user/api-keys', { token, body: { name: 'a' } })
  const answers = await Promise.all([create(), create(), create()])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 422, 422])
})
