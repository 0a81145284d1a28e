/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { logIn, refresh, rfc3339, signIn, signToken, uuid } from './people.ts'

test('Endpoints: settings, sign-up, invitation and tokens', async (t) => {
  const server = await openFlowServer(t, { AUTH_EXTERNAL_PHONE_ENABLED: 'true' })
  if (!server) return
  const { url, post, serviceToken } = server

  await t.test('Endpoints › GET /settings: no credentials, settings response', async () => {
    const { status, body } = await send(url, '/settings')
    assert.equal(status, 200)
    assert.deepEqual(
      [typeof body.external, body.disable_signup, body.autoconfirm],
      ['object', false, false],
    )
  })

  await t.test('Endpoints › POST /signup: {email, password}, user record', async () => {
    const email = newEmail()
    const { status, body } = await post('/signup', { email, password })
    assert.equal(status, 200)
    assert.match(body.id, uuid)
    assert.equal(body.email, email)
    assert.match(body.confirmation_sent_at, rfc3339)
    assert.equal(body.access_token, undefined)
    const { body: stored } = await send(url, `/admin/users/${body.id}`, { token: serviceToken })
    assert.equal(stored.email, email)
  })

  await t.test(
    'Endpoints › POST /signup: a duplicate gives fake data so that account existence is not leaked',
    async () => {
      const { id, email } = await server.newUser()
      const data = { theme: 'dark' }
      const fresh = await post('/signup', { email: newEmail(), password, data })
      const duplicate = await post('/signup', { email, password, data })
      assert.equal(duplicate.status, fresh.status)
      assert.deepEqual(Object.keys(duplicate.body), Object.keys(fresh.body))
      assert.deepEqual(
        Object.keys(duplicate.body.identities[0]),
        Object.keys(fresh.body.identities[0]),
      )
      const ofUser = { ...duplicate.body.user_metadata, sub: '', email: '' }
      assert.deepEqual(ofUser, { ...fresh.body.user_metadata, sub: '', email: '' })
      assert.equal(duplicate.body.email, email)
      assert.notEqual(duplicate.body.id, id)
      assert.deepEqual(await server.mailsTo(email), [])
    },
  )

  const admins = [
    ['service_role', 'Endpoints › POST /invite: bearer JWT with the service role'],
    [
      'supabase_admin',
      'Endpoints › POST /invite: or the second privileged administrative role (supabase_admin)',
    ],
  ] as const
  for (const [role, name] of admins) {
    await t.test(name, async () => {
      const token = await signToken({ role })
      const answer = await send(url, '/invite', { token, body: { email: newEmail() } })
      assert.equal(answer.status, 200)
    })
  }

  await t.test(
    'Endpoints › POST /invite: the configured admin roles, beside those two',
    async (t) => {
      const other = await openFlowServer(t, { AUTH_JWT_ADMIN_ROLES: 'chief,editor_in_chief' })
      assert.ok(other)
      const invite = async (role: string) => {
        const token = await signToken({ role })
        return (await send(other.url, '/invite', { token, body: { email: newEmail() } })).status
      }
      for (const role of ['service_role', 'supabase_admin', 'chief', 'editor_in_chief']) {
        assert.equal(await invite(role), 200, role)
      }
      for (const role of ['member', 'authenticated', 'Chief', '']) {
        assert.equal(await invite(role), 403, role)
      }
      // The other admin endpoints accept only the configured roles.
      const token = await signToken({ role: 'service_role' })
      assert.equal((await send(other.url, '/admin/users', { token })).status, 403)
    },
  )

  await t.test('Endpoints › POST /invite: no other bearer', async () => {
    const { token: ofUser } = await signIn(server)
    const ofOther = await signToken({ role: 'authenticated' })
    const body = { email: newEmail() }
    assert.equal((await send(url, '/invite', { body })).status, 401)
    for (const token of [ofUser, ofOther]) {
      const answer = await send(url, '/invite', { token, body })
      assert.deepEqual(errorOf(answer), [403, 'not_admin', 'User not allowed'])
    }
    assert.deepEqual(await server.mailsTo(body.email), [])
  })

  await t.test('Endpoints › POST /invite: {email}, user record with `invited_at`', async () => {
    const email = newEmail()
    const { status, body } = await send(url, '/invite', { token: serviceToken, body: { email } })
    assert.equal(status, 200)
    assert.match(body.id, uuid)
    assert.equal(body.email, email)
    assert.match(body.invited_at, rfc3339)
  })

  await t.test(
    'Endpoints › POST /token grant_type=password: body {email, password}, token response',
    async () => {
      const { email } = await server.newUser()
      const { status, body } = await logIn(url, email)
      assert.equal(status, 200)
      assert.deepEqual([body.token_type, body.expires_in], ['bearer', 3_600])
      assert.equal((await send(url, '/user', { token: body.access_token })).status, 200)
      assert.equal((await refresh(url, body.refresh_token)).status, 200)
    },
  )

  await t.test('Endpoints › POST /token grant_type=password: a wrong password fails', async () => {
    const { email } = await server.newUser()
    const expected = [400, 'invalid_credentials', 'Invalid login credentials']
    assert.deepEqual(errorOf(await logIn(url, email, 'another password')), expected)
    assert.deepEqual(errorOf(await logIn(url, newEmail())), expected)
  })

  await t.test(
    'Endpoints › POST /token grant_type=password: or {phone, password}, token response',
    async () => {
      const made = { phone: '+15550100002', phone_confirm: true, password }
      await send(url, `/admin/users/${crypto.randomUUID()}`, { token: serviceToken, body: made })
      const { status, body } = await post('/token?grant_type=password', {
        phone: '+15550100002',
        password,
      })
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual([body.token_type, body.expires_in], ['bearer', 3_600])
      assert.equal((await refresh(url, body.refresh_token)).status, 200)
    },
  )

  await t.test(
    'Endpoints › POST /token grant_type=refresh_token: body {refresh_token}, token response',
    async () => {
      const { id, refreshToken } = await signIn(server)
      const { status, body } = await refresh(url, refreshToken)
      assert.equal(status, 200)
      assert.deepEqual([body.token_type, body.expires_in], ['bearer', 3_600])
      assert.notEqual(body.refresh_token, refreshToken)
      const user = await send(url, '/user', { token: body.access_token })
      assert.equal(user.body.id, id)
    },
  )

  await t.test('Endpoints › POST /token: no other grant type', async () => {
    for (const path of ['/token', '/token?grant_type=client_credentials']) {
      assert.equal((await post(path, { email: newEmail(), password })).status, 400, path)
    }
  })

  await t.test('Endpoints › each path is relative to {base_url}; bodies are JSON', async () => {
    const paths = ['/settings', '/user', '/nowhere', '/token?grant_type=password']
    for (const path of paths) {
      const answer = await send(url, path)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/, path)
    }
  })

  await t.test('Endpoints › gap: the path of the health check endpoint', async () => {
    const { status, body } = await send(url, '/health')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body).toSorted(), ['description', 'name', 'version'])
  })
})
