/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthServer } from '../support/auth-server.ts'
import { newEmail, password, sdk, send } from '../support/http-client.ts'

test('sign-up, sign-in, refresh, GET /user and logout take the expected number of statements', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const { url } = server
  const email = newEmail()
  server.takeStatements()

  const signup = await send(url, '/signup', { body: { email, password, data: { a: 1 } } })
  assert.equal(signup.status, 200, JSON.stringify(signup.body))
  assert.equal(signup.body.token_type, 'bearer')
  assert.equal(signup.body.expires_in, 3600)
  assert.equal(signup.body.user.email, email)
  assert.deepEqual(server.takeStatements(), ['find_user_by_email', 'create_user', 'open_session'])

  const login = await send(url, '/token?grant_type=password', { body: { email, password } })
  assert.equal(login.status, 200, JSON.stringify(login.body))
  assert.deepEqual(server.takeStatements(), ['find_user_by_email', 'open_session'])

  const refresh = await send(url, '/token?grant_type=refresh_token', {
    body: { refresh_token: login.body.refresh_token },
  })
  assert.equal(refresh.status, 200, JSON.stringify(refresh.body))
  assert.notEqual(refresh.body.refresh_token, login.body.refresh_token)
  assert.deepEqual(server.takeStatements(), ['rotate_session'])

  const user = await send(url, '/user', { token: refresh.body.access_token })
  assert.equal(user.status, 200, JSON.stringify(user.body))
  assert.equal(user.body.user_metadata.a, 1)
  assert.equal(user.body.user_metadata.email_verified, true)
  assert.deepEqual(user.body.app_metadata, { provider: 'email', providers: ['email'] })
  assert.equal(user.body.identities.length, 1)
  assert.equal(user.body.identities[0].identity_data.email_verified, true)
  assert.match(user.body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
  assert.match(user.body.identities[0].created_at, /Z$/)
  assert.deepEqual(server.takeStatements(), ['find_caller'])

  const logout = await send(url, '/logout', { method: 'POST', token: refresh.body.access_token })
  assert.deepEqual([logout.status, logout.body], [204, ''])
  const again = await send(url, '/token?grant_type=refresh_token', {
    body: { refresh_token: refresh.body.refresh_token },
  })
  assert.deepEqual(
    [again.status, again.body.error_code, again.body.code],
    [400, 'session_not_found', 400],
  )
  // An access token stays valid until it expires.
  assert.equal((await send(url, '/user', { token: refresh.body.access_token })).status, 200)
})

test('fifty concurrent refreshes of one token all return the same new token', async (t) => {
  const server = await openAuthServer(t, { env: { AUTH_RATE_LIMIT_TOKEN_REFRESH: '100000' } })
  if (!server) return
  const { url } = server
  const email = newEmail()
  const { body } = await send(url, '/signup', { body: { email, password } })
  const answers = await Promise.all(
    Array.from({ length: 25 }, () =>
      send(url, '/token?grant_type=refresh_token', { body: { refresh_token: body.refresh_token } }),
    ),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(new Set(answers.map((answer) => answer.body.refresh_token)).size, 1)
})

test('errors have the documented format, or the format of the client library if it identifies itself', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const { url } = server
  const wrong = { body: { email: 'unknown@example.com', password: 'x' } }
  const plain = await send(url, '/token?grant_type=password', wrong)
  assert.equal(plain.status, 400)
  assert.deepEqual(plain.body, {
    code: 400,
    error_code: 'invalid_credentials',
    msg: 'Invalid login credentials',
  })
  assert.equal(plain.headers.get('x-sb-error-code'), 'invalid_credentials')
  const client = await send(url, '/token?grant_type=password', { ...wrong, headers: sdk })
  assert.equal(client.body.code, 'invalid_credentials')
  assert.equal(client.body.message, 'Invalid login credentials')
  assert.equal(client.headers.get('x-supabase-api-version'), '2024-01-01')
  const unparsable = await send(url, '/signup', { body: '{' })
  assert.equal(unparsable.status, 400)
  assert.equal(unparsable.body.error_code, 'bad_json')
  const nowhere = await send(url, '/nowhere')
  assert.equal(nowhere.status, 404)
  assert.equal(nowhere.body.error_code, 'route_not_found')
})

test('a sign-up with a taken address gets the same response as one with a new address', async (t) => {
  const server = await openAuthServer(t, {
    env: {
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
      AUTH_SMTP_HOST: '127.0.0.1',
      AUTH_SMTP_PORT: '1',
    },
  })
  if (!server) return
  const { url } = server
  const fresh = await send(url, '/signup', { body: { email: newEmail(), password } })
  assert.equal(fresh.status, 200, JSON.stringify(fresh.body))
  assert.ok(fresh.body.confirmation_sent_at)
  assert.equal(fresh.body.access_token, undefined)
})
