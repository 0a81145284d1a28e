/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, sdk, send } from '../../support/http-client.ts'

test('POST /invite', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_DISABLE_SIGNUP: 'true',
    AUTH_JWT_ALLOWED_AUDIENCES: 'elsewhere',
  })
  if (!server) return
  const { url, query, serviceToken: token } = server
  const invite = (body: object, path = '/invite') => send(url, path, { token, body })

  await t.test('invites a new user even if sign-ups are disabled; two statements', async () => {
    const email = newEmail()
    server.takeStatements()
    const { status, body } = await invite(
      { email: email.toUpperCase(), data: { team: 'blue' } },
      '/invite?redirect_to=https://site.example/join',
    )
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(server.takeStatements(), ['find_user_by_email', 'create_user'])
    assert.equal(body.email, email)
    assert.ok(body.invited_at && body.confirmation_sent_at)
    assert.equal(body.email_confirmed_at, undefined)
    assert.deepEqual(body.user_metadata, { team: 'blue' }, 'nothing is added')
    assert.equal(body.identities[0].provider, 'email')
    const [row] = await query('select encrypted_password from users where id = $1', [body.id])
    assert.equal(row.encrypted_password, null)
    const mail = await server.mailTo(email)
    assert.equal(mail.kind, 'invite')
    assert.equal(mail.url.searchParams.get('type'), 'invite')
    assert.equal(mail.url.searchParams.get('redirect_to'), 'https://site.example/join')
    const [entry] = await query(
      "select payload from audit_log_entries where payload ->> 'action' = 'user_invited'",
    )
    assert.equal(entry.payload.actor_username, 'service_role')
    assert.deepEqual(entry.payload.traits, { user_id: body.id, user_email: email })
    const verified = await server.post('/verify', { type: 'invite', token: mail.token })
    assert.equal(verified.status, 200, JSON.stringify(verified.body))
    assert.ok(verified.body.user.email_confirmed_at)
    const { user_metadata: metadata } = verified.body.user
    assert.deepEqual(metadata, { team: 'blue', email_verified: true })
  })

  await t.test('a pending invitation can be repeated at once, an accepted one cannot', async () => {
    const email = newEmail()
    const first = await invite({ email })
    const again = await invite({ email })
    assert.equal(again.status, 200)
    assert.equal(again.body.id, first.body.id)
    const [newer, older] = await server.mailsTo(email)
    const old = await server.post('/verify', { type: 'invite', token: older?.token })
    assert.equal(old.body.error_code, 'otp_expired')
    await server.post('/verify', { type: 'invite', token: newer?.token })
    assert.deepEqual(errorOf(await invite({ email })), [
      422,
      'email_exists',
      'A user with this email address has already been registered',
    ])
  })

  await t.test('concurrent invitations of one address create one user', async () => {
    const email = newEmail()
    const answers = await Promise.all(Array.from({ length: 5 }, () => invite({ email })))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
  })

  await t.test('an address is also taken if its user has another audience', async () => {
    const email = newEmail()
    await send(url, '/admin/users', { token, body: { email, aud: 'elsewhere' } })
    assert.equal((await invite({ email })).body.error_code, 'email_exists')
  })

  await t.test('requires an email address, a permitted redirect and an administrator', async () => {
    assert.deepEqual(errorOf(await invite({})), [
      400,
      'validation_failed',
      'An email address is required',
    ])
    assert.deepEqual(errorOf(await invite({ email: 'x' })), [
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ])
    const evil = '/invite?redirect_to=https://evil.example'
    const email = newEmail()
    assert.deepEqual(errorOf(await invite({ email }, evil)), [
      400,
      'validation_failed',
      'redirect_to is not permitted',
    ])
    assert.equal((await query('select from users where email = $1', [email])).length, 0)
    const sdkAnswer = await send(url, evil, { token, body: { email }, headers: sdk })
    assert.equal(sdkAnswer.status, 200)
    assert.equal((await send(url, '/invite', { body: { email } })).status, 401)
  })
})

test('POST /invite requires an administrator and counts against the hourly message limit', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_EMAIL_SENT: '2' })
  if (!server) return
  const { email } = await server.newUser()
  const { body } = await server.post('/token?grant_type=password', { email, password })
  const asUser = await send(server.url, '/invite', {
    token: body.access_token,
    body: { email: newEmail() },
  })
  assert.deepEqual(errorOf(asUser), [403, 'not_admin', 'User not allowed'])
  const invite = () =>
    send(server.url, '/invite', { token: server.serviceToken, body: { email: newEmail() } })
  assert.equal((await invite()).status, 200)
  assert.deepEqual(errorOf(await invite()), [
    429,
    'over_email_send_rate_limit',
    'email rate limit exceeded',
  ])
})
