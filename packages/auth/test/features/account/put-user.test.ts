/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, type FlowServer, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, sdk, send } from '../../support/http-client.ts'

const another = 'another correct horse'

async function signIn(server: FlowServer, email: string, secret = password): Promise<string> {
  const { status, body } = await server.post('/token?grant_type=password', {
    email,
    password: secret,
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.access_token
}

async function newSession(server: FlowServer) {
  const user = await server.newUser()
  return { ...user, token: await signIn(server, user.email) }
}

const put = (
  { url }: FlowServer,
  token: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  path = '/user',
) => send(url, path, { method: 'PUT', token, body, headers })

test('PUT /user', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, query, mailsTo } = server

  await t.test('merges metadata: sets keys, null removes, others stay; 2 statements', async () => {
    const { id, token } = await newSession(server)
    await put(server, token, { data: { a: 1, b: { deep: null }, c: 3 } })
    server.takeStatements()
    const { status, body } = await put(server, token, { data: { a: null, c: 4, d: [1] } })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(server.takeStatements(), ['find_caller', 'update_user'])
    assert.equal('a' in body.user_metadata, false)
    assert.deepEqual(body.user_metadata.b, { deep: null })
    assert.deepEqual([body.user_metadata.c, body.user_metadata.d], [4, [1]])
    assert.equal(body.identities.length, 1)
    assert.deepEqual(body, (await send(url, '/user', { token })).body)
    assert.equal((await server.actionsOf(id)).at(-1), 'user_modified')
  })

  await t.test('concurrent metadata updates are all applied', async () => {
    const { token } = await newSession(server)
    const names = Array.from({ length: 12 }, (_, index) => `key${index}`)
    const answers = await Promise.all(
      names.map((name) => put(server, token, { data: { [name]: name } })),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const { body } = await send(url, '/user', { token })
    for (const name of names) assert.equal(body.user_metadata[name], name)
  })

  await t.test(
    'a new password ends all other sessions and one-time tokens but keeps the current session',
    async () => {
      const { id, email, token } = await newSession(server)
      const other = await signIn(server, email)
      await server.post('/recover', { email })
      await server.untilAnswered()
      assert.equal((await query('select from one_time_tokens where user_id = $1', [id])).length, 1)
      server.takeStatements()
      const { status, body } = await put(server, token, { password: another })
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(server.takeStatements(), [
        'find_caller',
        'update_user',
        'end_sessions_meanwhile',
      ])
      assert.equal((await query('select from one_time_tokens where user_id = $1', [id])).length, 0)
      assert.deepEqual(errorOf(await put(server, other, { data: {} })), [
        403,
        'session_not_found',
        'Session from session_id claim in JWT does not exist',
      ])
      assert.equal((await put(server, token, { data: {} })).status, 200)
      const old = await server.post('/token?grant_type=password', { email, password })
      assert.equal(old.body.error_code, 'invalid_credentials')
      await signIn(server, email, another)
      const actions = await server.actionsOf(id)
      assert.ok(actions.includes('user_updated_password') && actions.includes('user_modified'))
    },
  )

  await t.test('refuses a password that is unchanged, weak or too long', async () => {
    const { token } = await newSession(server)
    assert.deepEqual(errorOf(await put(server, token, { password })), [
      422,
      'same_password',
      'New password should be different from the old password.',
    ])
    const weak = await put(server, token, { password: 'abc' })
    assert.deepEqual(errorOf(weak), [
      422,
      'weak_password',
      'Password should be at least 6 characters.',
    ])
    assert.deepEqual(weak.body.weak_password, { reasons: ['length'] })
    assert.deepEqual(errorOf(await put(server, token, { password: 'é'.repeat(37) })), [
      400,
      'validation_failed',
      'Password cannot be longer than 72 characters',
    ])
    const form = await put(server, token, { password }, sdk)
    assert.deepEqual([form.status, form.body.code], [422, 'same_password'])
  })

  await t.test('checks the current password if one is sent', async () => {
    const { token } = await newSession(server)
    const wrong = await put(server, token, { password: another, current_password: 'wrong' })
    assert.deepEqual(errorOf(wrong), [
      400,
      'current_password_invalid',
      'Current password required when setting new password.',
    ])
    const right = await put(server, token, { password: another, current_password: password })
    assert.equal(right.status, 200)
  })

  await t.test('a new email address is confirmed at both addresses; three statements', async () => {
    const { id, email, token } = await newSession(server)
    const wanted = newEmail()
    server.takeStatements()
    const { status, body } = await put(
      server,
      token,
      { email: wanted.toUpperCase() },
      {},
      '/user?redirect_to=https://site.example/here',
    )
    assert.equal(status, 200, JSON.stringify(body))
    const statements = server.takeStatements()
    assert.deepEqual(statements, ['find_caller', 'check_user_update', 'update_user'])
    assert.equal(body.email, email)
    assert.equal(body.new_email, wanted)
    assert.ok(body.email_change_sent_at)
    const [toNew] = await mailsTo(wanted)
    const [toCurrent] = await mailsTo(email)
    assert.deepEqual([toNew?.kind, toCurrent?.kind], ['email_change', 'email_change'])
    assert.notEqual(toNew?.token, toCurrent?.token)
    assert.equal(toNew?.url.searchParams.get('redirect_to'), 'https://site.example/here')
    const rows = await query(
      'select token_type, relates_to from one_time_tokens where user_id = $1 order by token_type',
      [id],
    )
    assert.deepEqual(rows, [
      { token_type: 'email_change_current', relates_to: email },
      { token_type: 'email_change_new', relates_to: wanted },
    ])
    const half = await server.post('/verify', { type: 'email_change', token: toNew?.token })
    assert.match(half.body.msg, /^Confirmation link accepted/)
    const whole = await server.post('/verify', { type: 'email_change', token: toCurrent?.token })
    assert.equal(whole.body.user.email, wanted)
    assert.equal(whole.body.user.new_email, undefined)
  })

  await t.test('requires a wait before another email change', async () => {
    const { token } = await newSession(server)
    assert.equal((await put(server, token, { email: newEmail() })).status, 200)
    const early = await put(server, token, { email: newEmail() })
    assert.deepEqual(early.status, 429)
    assert.equal(early.body.error_code, 'over_email_send_rate_limit')
    assert.match(
      early.body.msg,
      /^For security purposes, you can only request this after \d+ seconds\.$/,
    )
    assert.ok(Number(early.headers.get('retry-after')) > 0)
    // Other fields can still be changed during the cooldown.
    assert.equal((await put(server, token, { data: { a: 1 } })).status, 200)
  })

  await t.test('only one of several concurrent email changes succeeds', async () => {
    const { id, token } = await newSession(server)
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => put(server, token, { email: newEmail() })),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [200, 429, 429, 429, 429, 429])
    for (const { status, body } of answers) {
      if (status === 429) assert.match(body.msg, /^For security purposes/)
    }
    assert.equal((await query('select from one_time_tokens where user_id = $1', [id])).length, 2)
  })

  await t.test('sending the current email address changes nothing', async () => {
    const { email, token } = await newSession(server)
    const { status, body } = await put(server, token, { email })
    assert.equal(status, 200)
    assert.equal(body.new_email, undefined)
    assert.equal((await mailsTo(email)).length, 0)
  })

  await t.test(
    'an email change with PKCE stores a flow and sends a link that returns a code',
    async () => {
      const { id, token } = await newSession(server)
      const wanted = newEmail()
      const { status } = await put(server, token, {
        email: wanted,
        code_challenge: 'a'.repeat(43),
        code_challenge_method: 's256',
      })
      assert.equal(status, 200)
      assert.match((await server.mailTo(wanted)).token, /^pkce_/)
      const flows = await query(
        'select authentication_method from flow_states where user_id = $1',
        [id],
      )
      assert.deepEqual(flows, [{ authentication_method: 'email_change' }])
    },
  )

  await t.test('refuses an email address or phone number that is taken or invalid', async () => {
    const { token } = await newSession(server)
    const { email: taken } = await server.newUser()
    assert.deepEqual(errorOf(await put(server, token, { email: taken })), [
      422,
      'email_exists',
      'A user with this email address has already been registered',
    ])
    assert.deepEqual(errorOf(await put(server, token, { email: 'no address' })), [
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ])
    assert.deepEqual(errorOf(await put(server, token, { phone: '0' })), [
      400,
      'validation_failed',
      'Invalid phone number format (E.164 required)',
    ])
    const unreachable = await put(server, token, { phone: '+1 555 0100' })
    assert.deepEqual(errorOf(unreachable), [
      500,
      'unexpected_failure',
      'Unable to get SMS provider',
    ])
  })

  await t.test(
    'a forbidden redirect fails before any change; the client library is sent to the site URL',
    async () => {
      const { token } = await newSession(server)
      const wanted = newEmail()
      const path = '/user?redirect_to=https://evil.example'
      const refused = await put(server, token, { email: wanted }, {}, path)
      assert.deepEqual(errorOf(refused), [400, 'validation_failed', 'redirect_to is not permitted'])
      assert.equal((await mailsTo(wanted)).length, 0)
      assert.equal((await put(server, token, { email: wanted }, sdk, path)).status, 200)
      const { searchParams } = (await server.mailTo(wanted)).url
      assert.equal(searchParams.get('redirect_to'), 'https://site.example')
    },
  )

  await t.test('users cannot change their own role, id or other protected fields', async () => {
    const { id, token } = await newSession(server)
    const before = (await send(url, '/user', { token })).body
    const { status, body } = await put(server, token, {
      role: 'service_role',
      id: '11111111-1111-4111-8111-111111111111',
      aud: 'other',
      is_anonymous: true,
      email_confirmed_at: '2020-01-01T00:00:00Z',
      banned_until: '2099-01-01T00:00:00Z',
      encrypted_password: 'x',
      data: { role: 'service_role', is_anonymous: true },
    })
    assert.equal(status, 200)
    const { user_metadata: _, updated_at: __, ...rest } = body
    const { user_metadata: ___, updated_at: ____, ...expected } = before
    assert.deepEqual(rest, expected)
    assert.deepEqual(errorOf(await put(server, token, { app_metadata: { admin: true } })), [
      403,
      'not_admin',
      'Updating app_metadata requires admin privileges',
    ])
    for (const path of ['/admin/users', `/admin/users/${id}`, '/admin/audit']) {
      assert.deepEqual(errorOf(await send(url, path, { token })), [
        403,
        'not_admin',
        'User not allowed',
      ])
    }
    await query("update users set role = 'admin' where id = $1", [id])
    const admin = await put(server, token, { app_metadata: { plan: 'a' } })
    assert.equal(admin.body.app_metadata.plan, 'a')
    assert.deepEqual(admin.body.app_metadata.providers, ['email'])
  })

  await t.test('metadata may have any key but only values that can be stored', async () => {
    const { token } = await newSession(server)
    const odd = '{"data": {"__proto__": {"polluted": 1}, "constructor": {"prototype": 2}}}'
    const { status, body } = await put(server, token, odd)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.user_metadata.constructor, { prototype: 2 })
    assert.equal(Object.hasOwn(body.user_metadata, '__proto__'), true)
    assert.equal(Reflect.get({}, 'polluted'), undefined)
    const deep = `{"data": {"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
    for (const unstorable of ['{"data": {"a": "\\u0000"}}', '{"data": {"\\ud800": 1}}', deep]) {
      const refused = await put(server, token, unstorable)
      assert.deepEqual([refused.status, refused.body.error_code], [400, 'validation_failed'])
      assert.match(refused.body.msg, /^The metadata /)
    }
  })

  await t.test('an SSO user cannot change email, phone or password', async () => {
    const { id, token } = await newSession(server)
    await query('update users set is_sso_user = true where id = $1', [id])
    for (const body of [{ email: newEmail() }, { password: another }, { phone: '15550100' }]) {
      assert.deepEqual(errorOf(await put(server, token, body)), [
        422,
        'user_sso_managed',
        'Updating email, phone, password of a SSO account only possible via SSO',
      ])
    }
    assert.equal((await put(server, token, { data: { a: 1 } })).status, 200)
  })

  await t.test('requires a session that has not ended', async () => {
    const { token } = await newSession(server)
    await send(url, '/logout', { method: 'POST', token })
    assert.equal((await put(server, token, { data: {} })).body.error_code, 'session_not_found')
    assert.deepEqual(errorOf(await send(url, '/user', { method: 'PUT', body: {} })), [
      401,
      'no_authorization',
      'This endpoint requires a valid Bearer token',
    ])
  })
})

test('PUT /user for an anonymous user when email confirmation is disabled', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_MAILER_AUTOCONFIRM: 'true',
    AUTH_SMS_AUTOCONFIRM: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1000',
  })
  if (!server) return
  const anonymous = async () => {
    const { body } = await server.post('/signup', { data: { a: 1 } })
    return { id: body.user.id, token: body.access_token }
  }

  await t.test('an anonymous user cannot set a password alone', async () => {
    const { token } = await anonymous()
    assert.deepEqual(errorOf(await put(server, token, { password })), [
      422,
      'validation_failed',
      'Updating password of an anonymous user without an email or phone is not allowed',
    ])
  })

  await t.test('an anonymous user gets the email address at once and keeps the id', async () => {
    const { id, token } = await anonymous()
    const email = newEmail()
    const { status, body } = await put(server, token, { email, password })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(
      [body.id, body.email, body.is_anonymous, body.new_email],
      [id, email, false, undefined],
    )
    assert.ok(body.email_confirmed_at)
    assert.deepEqual(body.app_metadata, { provider: 'email', providers: ['email'] })
    assert.deepEqual(body.user_metadata, { a: 1, email_verified: true })
    assert.equal(body.identities.length, 1)
    assert.equal(body.identities[0].identity_data.email_verified, true)
    assert.equal(body.identities[0].email, email)
    await signIn(server, email)
  })

  await t.test('only one of two concurrent requests for an email address succeeds', async () => {
    const email = newEmail()
    const users = await Promise.all([anonymous(), anonymous(), anonymous()])
    const answers = await Promise.all(users.map(({ token }) => put(server, token, { email })))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 422, 422])
    for (const answer of answers.filter(({ status }) => status === 422)) {
      assert.equal(answer.body.error_code, 'email_exists')
    }
  })

  await t.test('a phone number takes effect at once when confirmation is disabled', async () => {
    const { token } = await anonymous()
    const { status, body } = await put(server, token, { phone: '+1 555 0199' })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.phone, body.is_anonymous], ['15550199', false])
    assert.ok(body.phone_confirmed_at)
    assert.deepEqual(body.app_metadata.providers, ['phone'])
    assert.equal(body.identities[0].identity_data.phone_verified, true)
    const { token: other } = await anonymous()
    assert.deepEqual(errorOf(await put(server, other, { phone: '15550199' })), [
      422,
      'phone_exists',
      'A user with this phone number has already been registered',
    ])
  })

  await t.test('a permanent user still has to confirm a new email address, once', async () => {
    const email = newEmail()
    const { body: session } = await server.post('/signup', { email, password })
    const wanted = newEmail()
    const { body } = await put(server, session.access_token, { email: wanted })
    assert.deepEqual([body.email, body.new_email], [email, wanted])
    assert.equal((await server.mailsTo(email)).length, 0)
    const { token } = await server.mailTo(wanted)
    await server.post('/verify', { type: 'email_change', token })
    const user = await send(server.url, '/user', { token: session.access_token })
    assert.equal(user.body.email, wanted)
  })
})

test('PUT /user with a global limit on messages', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_EMAIL_SENT: '2' })
  if (!server) return
  const { token } = await newSession(server)
  const wanted = newEmail()
  // The sign-up used one of the two messages, and an email change needs two.
  const over = await put(server, token, { email: wanted, data: { a: 1 } })
  assert.deepEqual(errorOf(over), [429, 'over_email_send_rate_limit', 'email rate limit exceeded'])
  assert.ok(Number(over.headers.get('retry-after')) > 0)
  const { body } = await send(server.url, '/user', { token })
  assert.deepEqual([body.new_email, body.user_metadata.a], [undefined, undefined])
  assert.equal((await server.mailsTo(wanted)).length, 0)
})

test('PUT /user is rate limited by client address', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_OTP: '3' })
  if (!server) return
  const statuses: number[] = []
  for (let tries = 0; tries < 4; tries += 1) {
    statuses.push((await put(server, 'x.y.z', {})).status)
  }
  assert.deepEqual(statuses, [403, 403, 403, 429])
})
