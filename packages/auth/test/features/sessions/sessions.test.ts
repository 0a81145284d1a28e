/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openAuthServer } from '../../support/auth-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'

test('users can list and end their own sessions', async (t) => {
  const server = await openAuthServer(t, { env: { AUTH_TRUSTED_HOPS: '1' } })
  if (!server) return
  const { url, serviceToken } = server

  const signIn = async (email: string, userAgent: string, ip = '198.51.100.7') => {
    const { body } = await send(url, '/token?grant_type=password', {
      body: { email, password },
      headers: { 'user-agent': userAgent, 'x-forwarded-for': ip },
    })
    return body
  }
  const signUp = async () => {
    const email = newEmail()
    const { body } = await send(url, '/signup', { body: { email, password } })
    await send(url, '/logout', { method: 'POST', token: body.access_token })
    return { email, id: body.user.id }
  }
  const list = async (token: string) => (await send(url, '/user/sessions', { token })).body

  await t.test('shows device, IP address, last use, and the current session', async () => {
    const { email } = await signUp()
    const here = await signIn(email, firefox)
    await signIn(email, iphone, '203.0.113.9')
    const sessions = await list(here.access_token)
    assert.deepEqual(
      sessions.map((session: Record<string, unknown>) => [
        session['device'],
        session['ip'],
        session['is_current'],
        session['aal'],
      ]),
      [
        ['Safari on iPhone', '203.0.113.9', false, 'aal1'],
        ['Firefox on Linux', '198.51.100.7', true, 'aal1'],
      ],
    )
    assert.equal(sessions[1].user_agent, firefox)
    assert.equal(sessions[1].amr[0].method, 'password')
    assert.equal(sessions[1].last_used_at, sessions[1].created_at)
  })

  await t.test('a refresh counts as a use', async () => {
    const { email } = await signUp()
    const here = await signIn(email, firefox)
    await signIn(email, iphone)
    server.clock.aheadMs += 60_000
    await send(url, '/token?grant_type=refresh_token', {
      body: { refresh_token: here.refresh_token },
      headers: { 'user-agent': firefox },
    })
    const [first] = await list(here.access_token)
    assert.equal(first.device, 'Firefox on Linux')
    assert.ok(first.last_used_at > first.created_at)
  })

  await t.test('an ended session cannot be refreshed and is no longer listed', async () => {
    const { email } = await signUp()
    const here = await signIn(email, firefox)
    const lost = await signIn(email, iphone)
    const [{ id }] = await list(here.access_token)
    server.takeStatements()
    const { status } = await send(url, `/user/sessions/${id}`, {
      method: 'DELETE',
      token: here.access_token,
    })
    assert.equal(status, 204)
    assert.equal(server.takeStatements().length, 2)
    assert.equal((await list(here.access_token)).length, 1)
    const refused = await send(url, '/token?grant_type=refresh_token', {
      body: { refresh_token: lost.refresh_token },
    })
    assert.equal(refused.body.error_code, 'session_not_found')
    const again = await send(url, `/user/sessions/${id}`, {
      method: 'DELETE',
      token: here.access_token,
    })
    assert.equal(again.status, 404)
    assert.equal(again.body.msg, 'Session not found')
  })

  await t.test('a user cannot end the session of another user', async () => {
    const mine = await signIn((await signUp()).email, firefox)
    const theirs = await signIn((await signUp()).email, iphone)
    const [{ id }] = await list(theirs.access_token)
    const { status } = await send(url, `/user/sessions/${id}`, {
      method: 'DELETE',
      token: mine.access_token,
    })
    assert.equal(status, 404)
    assert.equal((await list(theirs.access_token)).length, 1)
    const wrong = await send(url, '/user/sessions/nonsense', {
      method: 'DELETE',
      token: mine.access_token,
    })
    assert.equal(wrong.body.msg, 'session_id must be an UUID')
  })

  await t.test('an administrator can list and end the sessions of a user', async () => {
    const { email, id: userId } = await signUp()
    const path = `/admin/users/${userId}/sessions`
    assert.deepEqual((await send(url, path, { token: serviceToken })).body, [])
    const here = await signIn(email, firefox)
    const { body } = await send(url, path, { token: serviceToken })
    assert.equal(body.length, 1)
    assert.equal(body[0].is_current, false)
    const ended = await send(url, `${path}/${body[0].id}`, {
      method: 'DELETE',
      token: serviceToken,
    })
    assert.equal(ended.status, 204)
    assert.equal((await send(url, '/user/sessions', { token: here.access_token })).status, 403)
    const unknown = await send(url, `/admin/users/${randomUUID()}/sessions`, {
      token: serviceToken,
    })
    assert.equal(unknown.body.error_code, 'user_not_found')
    const { access_token: token } = await signIn(email, firefox)
    const denied = await send(url, path, { token })
    assert.equal(denied.body.error_code, 'not_admin')
  })
})

test('expired sessions are not listed', async (t) => {
  const server = await openAuthServer(t, { env: { AUTH_SESSIONS_INACTIVITY_TIMEOUT: '2h' } })
  if (!server) return
  const { url, clock, serviceToken } = server
  const { body } = await send(url, '/signup', { body: { email: newEmail(), password } })
  const path = `/admin/users/${body.user.id}/sessions`
  assert.equal((await send(url, path, { token: serviceToken })).body.length, 1)
  clock.aheadMs = 3 * 3_600_000
  assert.equal((await send(url, path, { token: serviceToken })).body.length, 0)
})
