/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openAuthServer } from './support/auth-server.ts'
import { errorOf, openFlowServer } from './support/flow-server.ts'
import { newEmail, password, sdk, send } from './support/http-client.ts'

// Statements in docs/auth.md, in the order of the manual.

test('tokens and sessions work as documented in the manual', async (t) => {
  const server = await openAuthServer(t, { env: { AUTH_RATE_LIMIT_TOKEN_REFRESH: '1000' } })
  if (!server) return
  const { url, clock } = server
  const signUp = async () => {
    const body = { email: newEmail(), password }
    return { ...body, ...(await send(url, '/signup', { body })).body }
  }
  const refresh = (token: string) =>
    send(url, '/token?grant_type=refresh_token', { body: { refresh_token: token } })

  await t.test('with autoconfirm a registered address gets 400 user_already_exists', async () => {
    const { email } = await signUp()
    const again = await send(url, '/signup', { body: { email, password } })
    assert.deepEqual(errorOf(again), [400, 'user_already_exists', 'User already registered'])
  })

  await t.test('an access token has the listed claims and no iss', async () => {
    const { access_token: token } = await signUp()
    const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString())
    const listed = `aal amr app_metadata aud email exp iat is_anonymous phone role session_id sub
      user_metadata`
    assert.deepEqual(Object.keys(claims).toSorted(), listed.split(/\s+/))
    assert.equal(claims.exp - claims.iat, 3_600)
  })

  await t.test('the previous token works for 10 s and ends the session later', async () => {
    const { refresh_token: first } = await signUp()
    const { refresh_token: second } = (await refresh(first)).body
    assert.equal((await refresh(first)).body.refresh_token, second)
    clock.aheadMs += 11_000
    const late = await refresh(first)
    assert.deepEqual([late.status, late.body.error_code], [400, 'refresh_token_already_used'])
    const ended = await refresh(second)
    assert.deepEqual([ended.status, ended.body.error_code], [400, 'session_not_found'])
  })

  await t.test('an unknown refresh token is not found', async () => {
    const { status, body } = await refresh('nonsense')
    assert.deepEqual([status, body.error_code], [400, 'refresh_token_not_found'])
  })

  await t.test('after sign-out a token can still read but neither change nor refresh', async () => {
    const { access_token: token, refresh_token: refreshToken } = await signUp()
    assert.equal((await send(url, '/logout', { method: 'POST', token })).status, 204)
    assert.equal((await send(url, '/user', { token })).status, 200)
    assert.equal((await send(url, '/logout', { method: 'POST', token })).status, 204)
    const changed = await send(url, '/user', { method: 'PUT', token, body: { data: { a: 1 } } })
    assert.deepEqual([changed.status, changed.body.error_code], [403, 'session_not_found'])
    assert.equal((await refresh(refreshToken)).body.error_code, 'session_not_found')
  })

  await t.test('tokens of banned and deleted users are refused', async () => {
    const { access_token: token, user } = await signUp()
    const admin = (method: string, body?: unknown) =>
      send(url, `/admin/users/${user.id}`, { method, token: server.serviceToken, body })
    await admin('PUT', { ban_duration: '1h' })
    assert.equal((await send(url, '/user', { token })).body.error_code, 'user_banned')
    await admin('PUT', { ban_duration: 'none' })
    assert.equal((await send(url, '/user', { token })).status, 200)
    await admin('DELETE')
    assert.equal((await send(url, '/user', { token })).body.error_code, 'user_not_found')
  })

  await t.test(
    'POST /admin/users keeps both the id and password hash of an imported user',
    async () => {
      const hash = '$2y$10$ZGtnEuFDRVThYVYpAmBFjuVTVmWkVIh8dfPLQKLpCBYpUGBhyvRGy'
      const id = randomUUID()
      const body = { id, email: newEmail(), password_hash: hash, email_confirm: true }
      const made = await send(url, '/admin/users', { token: server.serviceToken, body })
      assert.deepEqual([made.status, made.body.id], [200, id])
    },
  )
})

test('a key set signs tokens, its public part is published, and old tokens stay valid', async (t) => {
  const before = await openAuthServer(t)
  if (!before) return
  const { databaseUrl, schema } = before
  const { body: old } = await send(before.url, '/signup', { body: { email: newEmail(), password } })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = privateKey.export({ format: 'jwk' })
  const keys = [{ ...jwk, kid: '2026-11', alg: 'ES256', key_ops: ['sign', 'verify'] }]
  const after = await openAuthServer(t, {
    env: { AUTH_JWT_KEYS: JSON.stringify(keys) },
    database: { url: databaseUrl, schema },
  })
  assert.ok(after)
  assert.equal((await send(after.url, '/user', { token: old.access_token })).status, 200)
  const list = await send(after.url, '/admin/users', { token: after.serviceToken })
  assert.equal(list.status, 200)
  const { body } = await send(after.url, '/signup', { body: { email: newEmail(), password } })
  const [header] = body.access_token.split('.')
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), {
    alg: 'ES256',
    typ: 'JWT',
    kid: '2026-11',
  })
  const { body: jwks } = await send(after.url, '/.well-known/jwks.json')
  assert.deepEqual([jwks.keys.length, jwks.keys[0].kid, 'd' in jwks.keys[0]], [1, '2026-11', false])
})

test('messages work as documented in the manual', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { post, mailsTo, query } = server
  const isKnown = async (email: string) =>
    (await query('select 1 from users where email = $1', [email])).length === 1

  await t.test('create_user has two meanings, selected by the version header', async () => {
    const rows = [
      [true, {}, 200, false],
      [false, {}, 200, true],
      [undefined, {}, 200, true],
      [true, sdk, 200, true],
      [false, sdk, 422, false],
      [undefined, sdk, 200, true],
    ] as const
    for (const [createUser, headers, status, isMade] of rows) {
      const email = newEmail()
      const answer = await post('/otp', { email, create_user: createUser }, headers)
      const label = `${createUser} ${Object.keys(headers)}`
      assert.equal(answer.status, status, label)
      assert.equal(await isKnown(email), isMade, label)
      assert.equal((await mailsTo(email)).length, isMade ? 1 : 0, label)
    }
  })

  await t.test('in the cooldown the response is 429, with or without an account', async () => {
    const { email } = await server.newUser()
    for (const address of [email, newEmail()]) {
      const statuses = []
      for (const path of ['/recover', '/recover', '/magiclink', '/magiclink']) {
        statuses.push((await post(path, { email: address })).status)
      }
      assert.deepEqual(statuses, [200, 429, 200, 429])
    }
    assert.equal((await mailsTo(email)).length, 2)
  })

  await t.test('the sign-up of a registered address gets the same response', async () => {
    const { email, id } = await server.newUser()
    const known = await post('/signup', { email, password })
    const fresh = await post('/signup', { email: newEmail(), password })
    assert.deepEqual([known.status, fresh.status], [200, 200])
    assert.deepEqual(Object.keys(known.body), Object.keys(fresh.body))
    assert.notEqual(known.body.id, id)
  })

  await t.test(
    'a forbidden redirect_to is refused, or with the version header replaced by the site URL',
    async () => {
      const { email } = await server.newUser()
      const path = '/recover?redirect_to=https://evil.example/'
      const refused = await post(path, { email })
      assert.deepEqual(errorOf(refused), [400, 'validation_failed', 'redirect_to is not permitted'])
      assert.equal((await mailsTo(email)).length, 0)
      assert.equal((await post(path, { email }, sdk)).status, 200)
      const { url } = await server.mailTo(email)
      assert.equal(url.searchParams.get('redirect_to'), 'https://site.example')
    },
  )

  await t.test('a link lasts 3600 s, and a lone token is that of the link', async () => {
    const { email } = await server.newUser()
    await post('/recover', { email })
    const { token } = await server.mailTo(email)
    server.clock.aheadMs += 3_601_000
    const late = await post('/verify', { type: 'recovery', token })
    assert.deepEqual([late.status, late.body.error_code], [403, 'otp_expired'])
    server.clock.aheadMs -= 3_601_000
    const { status, body } = await post('/verify', { type: 'recovery', token })
    assert.deepEqual([status, body.type, body.token_type], [200, 'recovery', 'bearer'])
  })

  await t.test('five wrong guesses invalidate a code; the link keeps working', async () => {
    const { email } = await server.newUser()
    await post('/recover', { email })
    const { code, token } = await server.mailTo(email)
    const wrong = code === '000000' ? '111111' : '000000'
    for (let i = 0; i < 5; i++) await post('/verify', { type: 'recovery', email, token: wrong })
    const right = await post('/verify', { type: 'recovery', email, token: code })
    assert.equal(right.body.error_code, 'otp_expired')
    assert.equal((await post('/verify', { type: 'recovery', token })).status, 200)
  })

  await t.test('a phone number is refused if phone sign-in is disabled', async () => {
    const { status, body } = await post('/otp', { phone: '+15555550100' })
    assert.deepEqual([status, body.error_code], [400, 'phone_provider_disabled'])
  })
})
