/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containsSecret } from '../../support/contains-secret.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, sdk } from '../../support/http-client.ts'

test('POST /otp', async (t) => {
  const server = await openFlowServer(t, { AUTH_JWT_ALLOWED_AUDIENCES: 'another' })
  if (!server) return
  const { post, mailsTo, mailTo, query } = server
  const exists = async (email: string) =>
    (await query('select 1 from users where email = $1', [email])).length > 0

  await t.test('sends a known user a sign-in link, in two statements', async () => {
    const { id, email } = await server.newUser()
    server.takeStatements()
    const answer = await post('/otp', { email })
    assert.deepEqual([answer.status, answer.body], [200, {}])
    assert.deepEqual(server.takeStatements(), ['find_user_by_email', 'request_recovery_sent_at'])
    const mail = await mailTo(email)
    assert.equal(mail.kind, 'magic_link')
    assert.equal(mail.url.origin + mail.url.pathname, 'https://auth.example/verify')
    assert.equal(mail.url.searchParams.get('type'), 'magiclink')
    assert.equal(mail.url.searchParams.get('redirect_to'), 'https://site.example')
    assert.match(mail.code, /^\d{6}$/)
    assert.match(mail.token, /^[0-9a-f]{56}$/)
    assert.deepEqual((await server.actionsOf(id)).at(-1), 'user_recovery_requested')
    const [user] = await query('select recovery_sent_at from users where id = $1', [id])
    assert.ok(user.recovery_sent_at)
    const [token] = await query('select * from one_time_tokens where user_id = $1', [id])
    assert.ok(!containsSecret(JSON.stringify(token), mail.code))
    const verified = await post('/verify', { type: 'email', token: mail.code, email })
    assert.deepEqual([verified.status, verified.body.type], [200, 'magiclink'])
  })

  await t.test('signs a new user up, and the first link confirms the address', async () => {
    const email = newEmail()
    server.takeStatements()
    const answer = await post('/otp', { email: email.toUpperCase(), data: { plan: 'a' } })
    assert.deepEqual([answer.status, answer.body], [200, {}])
    assert.deepEqual(server.takeStatements(), ['find_user_by_email', 'create_user'])
    const mail = await mailTo(email)
    assert.equal(mail.kind, 'magic_link')
    assert.equal(mail.url.searchParams.get('type'), 'magiclink')
    const { status, body } = await post('/verify', { type: 'magiclink', token: mail.token })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.user.user_metadata.plan, 'a')
    const login = await post('/token?grant_type=password', { email, password })
    assert.deepEqual(errorOf(login), [400, 'invalid_credentials', 'Invalid login credentials'])
  })

  await t.test('without a version header, create_user: true creates no user', async () => {
    const absent = newEmail()
    const silent = await post('/otp', { email: absent, create_user: true })
    assert.deepEqual([silent.status, silent.body], [200, {}])
    assert.deepEqual([await mailsTo(absent), await exists(absent)], [[], false])
    const made = newEmail()
    assert.equal((await post('/otp', { email: made, create_user: false })).status, 200)
    assert.ok(await exists(made))
    const known = await server.newUser()
    await post('/otp', { email: known.email, create_user: true })
    assert.equal((await mailTo(known.email)).kind, 'magic_link')
  })

  await t.test('with the version header, create_user: true may create a user', async () => {
    const made = newEmail()
    assert.equal((await post('/otp', { email: made, create_user: true }, sdk)).status, 200)
    const byDefault = newEmail()
    assert.equal((await post('/otp', { email: byDefault }, sdk)).status, 200)
    assert.deepEqual([await exists(made), await exists(byDefault)], [true, true])
    const absent = newEmail()
    const refused = await post('/otp', { email: absent, create_user: false }, sdk)
    assert.equal(refused.status, 422)
    assert.equal(refused.body.code, 'otp_disabled')
    assert.equal(refused.body.message, 'Signups not allowed for otp')
    assert.equal(await exists(absent), false)
    const known = await server.newUser()
    const sent = await post('/otp', { email: known.email, create_user: false }, sdk)
    assert.deepEqual([sent.status, sent.body], [200, {}])
    assert.equal((await mailsTo(known.email)).length, 1)
  })

  await t.test('sends one message per minute; the response reveals no account', async () => {
    for (const headers of [{}, sdk]) {
      const known = await server.newUser()
      const fresh = newEmail()
      const second = new Set<string>()
      for (const email of [known.email, fresh]) {
        assert.equal((await post('/otp', { email }, headers)).status, 200)
        server.takeStatements()
        const answer = await post('/otp', { email }, headers)
        assert.equal(server.takeStatements().length, 3)
        const seconds = Number(answer.headers.get('retry-after'))
        assert.ok(seconds > 30 && seconds <= 60)
        const { status, body } = answer
        second.add(JSON.stringify([status, body]).replaceAll(String(seconds), 'N'))
        assert.equal((await mailsTo(email)).length, 1)
      }
      assert.equal(second.size, 1)
      assert.match([...second].join(), /^\[429.*can only request this after N seconds/)
      // The cooldown is the same for both types of message.
      server.clock.aheadMs += 61_000
      for (const email of [known.email, fresh]) {
        await post('/otp', { email }, headers)
        assert.equal((await mailsTo(email)).length, 2)
      }
    }
  })

  await t.test('a new message invalidates the previous one', async () => {
    const { email } = await server.newUser()
    await post('/otp', { email })
    const first = await mailTo(email)
    server.clock.aheadMs += 61_000
    await post('/otp', { email })
    const old = await post('/verify', { type: 'magiclink', token: first.token })
    assert.equal(old.status, 403)
    const { token } = await mailTo(email)
    assert.equal((await post('/verify', { type: 'magiclink', token })).status, 200)
  })

  await t.test('concurrent requests send one message and create one user', async () => {
    const known = await server.newUser()
    for (const email of [known.email, newEmail()]) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => post('/otp', { email })))
      const statuses = answers.map(({ status }) => status).sort()
      assert.deepEqual(statuses, [200, ...Array(9).fill(429)])
      assert.equal((await mailsTo(email)).length, 1)
      assert.equal((await query('select 1 from users where email = $1', [email])).length, 1)
    }
  })

  await t.test('does nothing if the redirect is not permitted', async () => {
    const email = newEmail()
    const path = '/otp?redirect_to=https://evil.example'
    const refused = [400, 'validation_failed', 'redirect_to is not permitted']
    assert.deepEqual(errorOf(await post(path, { email })), refused)
    assert.deepEqual([await mailsTo(email), await exists(email)], [[], false])
    const header = await post('/otp', { email }, { redirect_to: 'https://evil.example' })
    assert.deepEqual(errorOf(header), refused)
    const referrer = await post('/otp', { email }, { referer: 'https://evil.example' })
    assert.equal(referrer.status, 200)
    assert.equal((await mailTo(email)).url.searchParams.get('redirect_to'), 'https://site.example')
    const other = newEmail()
    assert.equal((await post(path, { email: other }, sdk)).status, 200)
    assert.equal((await mailTo(other)).url.searchParams.get('redirect_to'), 'https://site.example')
  })

  await t.test('does not reveal an address that belongs to another audience', async () => {
    const { email } = await server.newUser()
    const answer = await post('/otp', { email }, { 'x-jwt-aud': 'another' })
    assert.deepEqual([answer.status, answer.body, await mailsTo(email)], [200, {}, []])
  })

  await t.test('reports invalid requests', async () => {
    const email = newEmail()
    const cases: readonly (readonly [object, string])[] = [
      [
        { email, phone: '+491701234567' },
        'Only an email address or phone number should be provided',
      ],
      [{}, 'One of email or phone must be set'],
      [{ email: null, phone: '' }, 'One of email or phone must be set'],
      [{ email, channel: 'sms' }, 'Channel should only be specified with Phone OTP'],
      [{ email: 'not-an-address' }, 'Unable to validate email address: invalid format'],
      [
        { email, code_challenge: 'c'.repeat(43) },
        'PKCE flow requires code_challenge_method and code_challenge',
      ],
      [
        { email, code_challenge: 'short', code_challenge_method: 's256' },
        'code challenge has to be between 43 and 128 characters',
      ],
      [
        { email, code_challenge: '!'.repeat(43), code_challenge_method: 's256' },
        'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
      ],
    ]
    for (const [body, message] of cases) {
      const expected = [400, 'validation_failed', message]
      assert.deepEqual(errorOf(await post('/otp', body)), expected, JSON.stringify(body))
    }
    assert.equal(await exists(email), false)
    const nulls = { email, code_challenge: null, code_challenge_method: null, data: null }
    assert.equal((await post('/otp', nulls, sdk)).status, 200)
  })

  await t.test('sends no text messages if phone sign-in is disabled', async () => {
    assert.deepEqual(errorOf(await post('/otp', { phone: '+491701234567' })), [
      400,
      'phone_provider_disabled',
      'Unsupported phone provider',
    ])
    const channel = await post('/otp', { phone: '+491701234567', channel: 'fax' })
    assert.match(channel.body.msg, /^Invalid channel, supported values are 'sms' or 'whatsapp'\./)
  })
})

test('POST /otp stops at the hourly limit for known and unknown users alike', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_EMAIL_SENT: '3' })
  if (!server) return
  const { post } = server
  const known = await server.newUser()
  await post('/otp', { email: known.email })
  const last = newEmail()
  await post('/otp', { email: last })
  server.clock.aheadMs += 61_000
  const answers = []
  for (const email of [known.email, newEmail(), last]) {
    for (const create_user of [true, false])
      answers.push(await post('/otp', { email, create_user }))
  }
  for (const answer of answers) {
    assert.deepEqual(errorOf(answer), [
      429,
      'over_email_send_rate_limit',
      'email rate limit exceeded',
    ])
    assert.ok(Number(answer.headers.get('retry-after')) > 0)
  }
  server.clock.aheadMs += 3_601_000
  assert.equal((await post('/otp', { email: known.email })).status, 200)
  assert.equal((await server.mailsTo(known.email)).length, 2)
})

test('POST /otp sends a magic link to new users if confirmation is disabled', async (t) => {
  const server = await openFlowServer(t, { AUTH_MAILER_AUTOCONFIRM: 'true' })
  if (!server) return
  const email = newEmail()
  assert.equal((await server.post('/otp', { email })).status, 200)
  const mail = await server.mailTo(email)
  assert.equal(mail.kind, 'magic_link')
  const [user] = await server.query('select * from users where email = $1', [email])
  assert.ok(user.email_confirmed_at)
  const verified = await server.post('/verify', { type: 'magiclink', token: mail.token })
  assert.deepEqual([verified.status, verified.body.type], [200, 'magiclink'])
})

test('POST /otp creates no user if sign-up is disabled', async (t) => {
  const server = await openFlowServer(t, { AUTH_DISABLE_SIGNUP: 'true' })
  if (!server) return
  const email = newEmail()
  for (const body of [{ email }, { email: newEmail(), create_user: true }]) {
    const { status, body: answer } = await server.post('/otp', body)
    assert.deepEqual([status, answer], [200, {}])
  }
  await server.untilAnswered()
  assert.deepEqual(await server.query('select 1 from users'), [])
  assert.deepEqual(await server.query('select 1 from outbox'), [])
})
