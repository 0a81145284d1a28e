/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimsOf, createFactorCalls, factorEnvironment } from '../../support/factors.ts'
import { errorOf, openFlowServer, queryOf } from '../../support/flow-server.ts'
import { password, send } from '../../support/http-client.ts'

const codeVerifier = 'v'.repeat(43)
const expired = (why: string) => [
  400,
  'session_expired',
  `Invalid Refresh Token: Session Expired${why}`,
]
const lowAal = expired(' (Low AAL: User Needs MFA Verification)')
const newer = expired(' (Revoked by Newer Login)')

test('a user with a second factor must verify it in time', async (t) => {
  const server = await openFlowServer(t, {
    ...factorEnvironment,
    AUTH_SESSIONS_ALLOW_LOW_AAL: '10m',
    AUTH_JWT_ADMIN_ROLES: 'service_role,operator',
  })
  if (!server) return
  const { clock } = server
  const calls = createFactorCalls(server)
  const member = await calls.newMember()
  const low = await calls.signIn(member.email)
  const other = await calls.newSignedInUser()

  await t.test('the access token expires with the remaining time of the session', async () => {
    const { iat, exp, aal } = claimsOf(low.token)
    assert.equal(aal, 'aal1')
    assert.ok(exp - iat <= 600 && exp - iat >= 598, `${exp - iat}`)
    const shown = claimsOf(member.token)
    assert.equal(shown.exp - shown.iat, 3_600)
    const without = claimsOf(other.token)
    assert.equal(without.exp - without.iat, 3_600)
  })

  await t.test('a refresh within that time takes one statement and adds no time', async () => {
    clock.aheadMs += 300_000
    server.takeStatements()
    const { status, body } = await calls.refresh(low.refreshToken)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(server.takeStatements(), ['rotate_session'])
    const { iat, exp } = claimsOf(body.access_token)
    assert.ok(exp - iat <= 300, `${exp - iat}`)
    assert.deepEqual([body.expires_in, body.expires_at], [exp - iat, exp])
    low.refreshToken = body.refresh_token
    low.token = body.access_token
  })

  await t.test(
    'after that time the session has ended, for administrators too, and is not listed',
    async () => {
      await server.query("update users set role = 'operator' where id = $1", [member.id])
      const admin = await calls.signIn(member.email)
      const asOperator = () => send(server.url, '/admin/users', { token: admin.token })
      assert.equal((await asOperator()).status, 200)
      await server.query(
        `update sessions set created_at = created_at - interval '11 minutes' where id = $1`,
        [claimsOf(admin.token).session_id],
      )
      assert.equal((await asOperator()).body.error_code, 'session_expired')
      clock.aheadMs += 601_000
      assert.deepEqual(errorOf(await calls.refresh(low.refreshToken)), lowAal)
      const { body } = await send(server.url, `/admin/users/${member.id}/sessions`, {
        token: server.serviceToken,
      })
      assert.deepEqual(
        body.map((session: { aal: string }) => session.aal),
        ['aal2'],
      )
    },
  )

  await t.test('sessions at aal2, and users without a second factor, are not limited', async () => {
    assert.equal((await calls.refresh(member.refreshToken)).status, 200)
    assert.equal((await calls.refresh(other.refreshToken)).status, 200)
  })
})

test('one session per tag', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_SESSIONS_SINGLE_PER_USER: 'true',
    AUTH_SESSIONS_TAGS: 'web,phone',
    AUTH_SESSIONS_TIMEBOX: '10h',
  })
  if (!server) return
  const { clock } = server
  const calls = createFactorCalls(server)
  const asAdmin = { authorization: `Bearer ${server.serviceToken}` }
  /** Signs in a while after the previous sign-in. */
  const signIn = async (email: string, tag?: string) => {
    clock.aheadMs += 60_000
    const link = await server.post('/admin/generate_link', { type: 'magiclink', email }, asAdmin)
    const { body } = await server.post(
      '/verify',
      { type: 'magiclink', token_hash: link.body.hashed_token },
      tag === undefined ? {} : { 'x-session-tag': tag },
    )
    return body
  }
  const refresh = ({ refresh_token: token }: { refresh_token: string }) => calls.refresh(token)

  await t.test('only a session with the same tag is replaced', async () => {
    const { email } = await calls.newSignedInUser()
    const web = await signIn(email, 'web')
    const phone = await signIn(email, 'phone')
    assert.equal((await refresh(phone)).status, 200)
    server.takeStatements()
    const kept = await refresh(web)
    assert.equal(kept.status, 200, JSON.stringify(kept.body))
    assert.deepEqual(server.takeStatements(), ['rotate_session'])
    const again = await signIn(email, 'web')
    assert.deepEqual(errorOf(await refresh(kept.body)), newer)
    assert.equal((await refresh(again)).status, 200)
  })

  await t.test('a missing or unknown tag counts as the first in the list', async () => {
    const { email } = await calls.newSignedInUser()
    const phone = await signIn(email, 'phone')
    const web = await signIn(email, 'web')
    const unknown = await signIn(email, 'toaster')
    assert.deepEqual(errorOf(await refresh(web)), newer)
    const plain = await signIn(email)
    assert.deepEqual(errorOf(await refresh(unknown)), newer)
    assert.equal((await refresh(phone)).status, 200)
    const { body } = await send(server.url, '/user/sessions', { token: plain.access_token })
    assert.deepEqual(
      body.map((session: { tag?: string }) => session.tag),
      ['phone', undefined],
    )
  })

  await t.test(
    'a later session that has ended for another reason does not replace an earlier one',
    async () => {
      const { id, email } = await calls.newSignedInUser()
      const older = await signIn(email, 'web')
      const later = await signIn(email, 'web')
      await server.query(
        `update sessions set created_at = created_at - interval '11 hours'
       where user_id = $1 and id = $2`,
        [id, claimsOf(later.access_token).session_id],
      )
      const revived = await refresh(older)
      assert.equal(revived.status, 200)
      const latest = await signIn(email, 'web')
      assert.deepEqual(errorOf(await refresh(revived.body)), newer)
      await send(server.url, '/logout?scope=local', { method: 'POST', token: latest.access_token })
      assert.equal((await refresh(revived.body)).status, 200)
    },
  )

  await t.test('the limit holds for every sign-in method', async () => {
    const tagged = { 'x-session-tag': 'phone' }
    const { email } = await server.newUser()
    const byPassword = await server.post('/token?grant_type=password', { email, password }, tagged)
    const flow = { code_challenge: codeVerifier, code_challenge_method: 'plain' }
    await server.post('/magiclink', { email, ...flow })
    const landed = await send(server.url, (await server.mailTo(email)).path)
    const { code: auth_code } = queryOf(landed)
    const body = { auth_code, code_verifier: codeVerifier }
    const byCode = await server.post('/token?grant_type=pkce', body, tagged)
    for (const { status, body } of [byPassword, byCode]) {
      assert.equal(status, 200, JSON.stringify(body))
      const { session_id: id } = claimsOf(body.access_token)
      const [session] = await server.query('select tag from sessions where id = $1', [id])
      assert.equal(session.tag, 'phone')
    }
  })

  await t.test('CORS allows the header X-Session-Tag', async () => {
    const { headers } = await send(server.url, '/token', {
      method: 'OPTIONS',
      headers: { origin: 'https://site.example' },
    })
    assert.match(headers.get('access-control-allow-headers') ?? '', /x-session-tag/)
  })
})
