/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimsOf, createFactorCalls } from '../../support/factors.ts'
import { errorOf } from '../../support/flow-server.ts'
import { openHookedServer, rejection } from '../../support/hooked-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

const name = 'customize-access-token'

test('the custom access token hook', async (t) => {
  const server = await openHookedServer(t, [name])
  if (!server) return
  const { post, query, withReply, payloadsOf, clock } = server
  const { id, email } = await server.newUser()
  const login = () => post('/token?grant_type=password', { email, password })
  const refresh = (refresh_token: string) =>
    post('/token?grant_type=refresh_token', { refresh_token })
  const openSessions = async () =>
    (await query('select 1 from sessions where user_id = $1 and revoked_at is null', [id])).length
  // oxlint-disable-next-line typescript/no-explicit-any -- the payload of any hook
  const adding = (more: object) => (body: any) => ({
    body: { claims: { ...body.claims, ...more } },
  })

  await t.test('is called at every sign-in, and its claims are in the token', async () => {
    const { status, body } = await withReply(name, adding({ plan: 'gold', role: 'editor' }), login)
    assert.equal(status, 200)
    const claims = claimsOf(body.access_token)
    assert.deepEqual([claims.plan, claims.role, claims.sub], ['gold', 'editor', id])
    const payload = payloadsOf(name).at(-1)
    assert.equal(payload.user_id, id)
    assert.equal(payload.authentication_method, 'password')
    const { plan, ...rest } = claims
    assert.deepEqual(payload.claims, { ...rest, role: '' })
    assert.deepEqual(Object.keys(payload.metadata), ['uuid', 'time', 'name', 'ip_address'])
    assert.equal(payload.metadata.ip_address, '127.0.0.1')
    assert.ok(Math.abs(Date.parse(payload.metadata.time) - clock.now()) < 60_000)
    const user = await send(server.url, '/user', { token: body.access_token })
    assert.deepEqual([user.status, user.body.id], [200, id])
  })

  await t.test('is called again when a token is refreshed', async () => {
    const { body } = await withReply(name, adding({ plan: 'gold' }), login)
    const again = await withReply(name, adding({ plan: 'silver' }), () =>
      refresh(body.refresh_token),
    )
    assert.equal(claimsOf(again.body.access_token).plan, 'silver')
    const { authentication_method: method, claims } = payloadsOf(name).at(-1)
    assert.deepEqual([method, 'plan' in claims], ['token_refresh', false])
  })

  await t.test('is called with the authentication method when a link is verified', async () => {
    const token = { authorization: `Bearer ${server.serviceToken}` }
    const link = await post('/admin/generate_link', { type: 'magiclink', email }, token)
    const { hashed_token: token_hash } = link.body
    const verified = await withReply(name, adding({ plan: 'gold' }), () =>
      post('/verify', { type: 'magiclink', token_hash }),
    )
    assert.equal(claimsOf(verified.body.access_token).plan, 'gold')
    assert.equal(payloadsOf(name).at(-1).authentication_method, 'otp')
  })

  await t.test('is called when a second factor raises a session', async () => {
    const { id: memberId } = await createFactorCalls(server).newMember()
    const { user_id: userId, authentication_method: method, claims } = payloadsOf(name).at(-1)
    assert.deepEqual([userId, method, claims.aal], [memberId, 'totp', 'aal2'])
  })

  await t.test('may change the expiry of a token', async () => {
    const { body } = await withReply(
      name,
      // oxlint-disable-next-line typescript/no-explicit-any -- the payload of any hook
      (payload: any) => adding({ exp: payload.claims.iat + 60 })(payload),
      login,
    )
    assert.equal(body.expires_in, 60)
    assert.equal(body.expires_at, claimsOf(body.access_token).exp)
  })

  await t.test('must keep the required claims', async () => {
    const before = await openSessions()
    const wrong = async (claims: object) =>
      errorOf(await withReply(name, adding(claims), login)) as [number, string, string]
    const flaw = (text: string) => [
      500,
      'unexpected_failure',
      `output claims do not conform to the expected schema: ${text}`,
    ]
    assert.deepEqual(await wrong({ aal: undefined }), flaw('aal is required'))
    assert.deepEqual(
      await wrong({ role: null, is_anonymous: 'no' }),
      flaw('role is required, is_anonymous must be of type boolean'),
    )
    assert.deepEqual(await wrong({ sub: 'another-user' }), flaw('sub must not be changed'))
    const empty = await withReply(name, () => ({}), login)
    assert.deepEqual(errorOf(empty).slice(0, 2), [500, 'unexpected_failure'])
    // No token was issued for these sessions, so they do not stay open.
    assert.equal(await openSessions(), before)
  })

  await t.test('may refuse a sign-in with its own message', async () => {
    const before = await openSessions()
    const answer = await withReply(name, () => rejection(403, 'Not in your region'), login)
    assert.deepEqual(errorOf(answer), [403, 'unknown', 'Not in your region'])
    assert.equal(await openSessions(), before)
  })

  await t.test('a failure does not end the session, and a later refresh works', async () => {
    const { body } = await login()
    const failed = await withReply(
      name,
      () => ({ status: 500 }),
      () => refresh(body.refresh_token),
    )
    assert.deepEqual(errorOf(failed), [
      500,
      'unexpected_failure',
      'Unexpected status code returned from hook: 500',
    ])
    clock.aheadMs += 60_000
    const again = await refresh(body.refresh_token)
    assert.equal(again.status, 200)
    const { claims } = payloadsOf(name).at(-1)
    assert.equal(claims.session_id, claimsOf(body.access_token).session_id)
  })

  await t.test('is not called if no token is issued', async () => {
    const count = payloadsOf(name).length
    assert.equal((await post('/token?grant_type=password', { email, password: 'x' })).status, 400)
    assert.equal((await refresh('nonsense-nonsense')).status, 400)
    await post('/signup', { email: newEmail(), password })
    assert.equal(payloadsOf(name).length, count)
  })
})
