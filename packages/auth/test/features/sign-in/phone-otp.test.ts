/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf } from '../../support/flow-server.ts'
import { type HttpAnswer, password, sdk, send } from '../../support/http-client.ts'
import { newPhone, openPhoneServer } from '../../support/phone-server.ts'

test('POST /otp with a phone', async (t) => {
  const server = await openPhoneServer(t)
  if (!server) return
  const { post, query, clock, textsTo, codeTo } = server
  const exists = async (phone: string) =>
    (await query('select from users where phone = $1', [phone])).length > 0
  t.afterEach(() => {
    clock.aheadMs = 0
  })

  await t.test('signs new users up and known users in', async () => {
    const phone = newPhone()
    server.takeStatements()
    const first = await post('/otp', { phone: `+${phone}`, data: { plan: 'free' } })
    assert.deepEqual(server.takeStatements(), ['find_user_by_phone', 'create_user'])
    assert.deepEqual([first.status, first.body], [200, {}])
    const verify = async () => post('/verify', { type: 'sms', phone, token: await codeTo(phone) })
    const { body: made } = await verify()
    assert.equal(made.user.user_metadata.plan, 'free')
    clock.aheadMs += 61_000
    server.takeStatements()
    const second = await post('/otp', { phone })
    const counted = ['find_user_by_phone', 'request_confirmation_sent_at']
    assert.deepEqual(server.takeStatements(), counted)
    assert.deepEqual([second.status, second.body], [200, {}])
    const { body: known } = await verify()
    assert.equal(known.user.id, made.user.id)
    assert.deepEqual(await server.actionsOf(known.user.id), [
      'user_confirmation_requested',
      'user_signedup',
      'user_recovery_requested',
      'login',
    ])
    const [payload] = known.access_token.split('.').slice(1)
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    assert.deepEqual([claims.phone, claims.amr[0].method], [phone, 'otp'])
    const wrong = await post('/token?grant_type=password', { phone, password: '' })
    assert.equal(wrong.body.error_code, 'invalid_credentials')
  })

  await t.test('create_user: true creates no user, except for the client library', async () => {
    const phone = newPhone()
    const silent = await post('/otp', { phone, create_user: true })
    assert.deepEqual([silent.status, silent.body, await exists(phone)], [200, {}, false])
    const refused = await post('/otp', { phone, create_user: false }, sdk)
    assert.deepEqual([refused.status, refused.body.code], [422, 'otp_disabled'])
    assert.equal(await exists(phone), false)
    clock.aheadMs += 61_000
    assert.equal((await post('/otp', { phone, create_user: true }, sdk)).status, 200)
    assert.equal(await exists(phone), true)
  })

  await t.test('sends at most one message per minute to a phone number, known or not', async () => {
    const { phone: known } = await server.newPerson()
    const fresh = newPhone()
    const absent = newPhone()
    for (const phone of [known, fresh, absent]) {
      const create_user = phone === absent
      assert.deepEqual((await post('/otp', { phone, create_user })).body, {})
      const second = await post('/otp', { phone, create_user })
      assert.deepEqual([second.status, second.body.error_code], [429, 'over_sms_send_rate_limit'])
      assert.match(
        second.body.msg,
        /^For security purposes, you can only request this after (?:60|5\d) seconds\.$/,
      )
      assert.ok(Number(second.headers.get('retry-after')) > 0)
      assert.equal((await textsTo(phone)).length, phone === absent ? 0 : 1)
    }
    clock.aheadMs += 61_000
    for (const phone of [known, fresh]) {
      await post('/otp', { phone })
      assert.equal((await textsTo(phone)).length, 2)
    }
  })

  await t.test('a code does not replace a pending email confirmation link', async () => {
    const { id, phone } = await server.newPerson()
    const email = `both-${phone}@example.com`
    await query('update users set email = $2 where id = $1', [id, email])
    await post('/resend', { type: 'signup', email })
    const { token } = await server.mailTo(email)
    clock.aheadMs += 61_000
    await post('/otp', { phone })
    const rows = await query('select token_type from one_time_tokens where user_id = $1', [id])
    assert.deepEqual(rows.map((row) => row.token_type).toSorted(), [
      'confirmation',
      'phone_confirmation',
    ])
    assert.equal((await post('/verify', { type: 'signup', token })).status, 200)
  })

  await t.test('a phone code is accepted only with its type and phone number', async () => {
    const { phone } = await server.newPerson()
    await post('/otp', { phone })
    const token = await codeTo(phone)
    for (const [body, message] of [
      [{ type: 'signup', phone, token }, 'Unsupported verification type'],
      [{ type: 'sms', email: 'a@example.com', token }, 'Unsupported verification type'],
      [{ type: 'sms', token }, 'Type provided requires a phone number'],
      [{ type: 'sms', token_hash: token }, 'Invalid email verification type'],
      [
        { type: 'sms', phone, email: 'a@example.com', token },
        'Only an email address or phone number should be provided on verify',
      ],
      [
        { type: 'sms', phone, token_hash: token },
        'Only the token_hash and type should be provided',
      ],
      [{ type: 'sms', phone }, 'Verify requires either a token or a token hash'],
      [{ type: 'sms', phone: 'x', token }, 'Invalid phone number format (E.164 required)'],
      [
        { type: 'sms', phone, token, redirect_to: 'https://evil.example' },
        'redirect_to is not permitted',
      ],
    ] as const) {
      assert.deepEqual(errorOf(await post('/verify', body)), [400, 'validation_failed', message])
    }
    const redirect_to = 'https://site.example/in'
    assert.equal((await post('/verify', { type: 'sms', phone, token, redirect_to })).status, 200)
  })

  await t.test('a password from before the confirmation stops working', async () => {
    const phone = newPhone()
    // An attacker has signed up first and waits for the owner to confirm the phone number.
    const attacker = await post('/signup', { phone, password })
    clock.aheadMs += 61_000
    await post('/otp', { phone })
    const token = await codeTo(phone)
    const { body } = await post('/verify', { type: 'sms', phone, token })
    assert.equal(body.user.id, attacker.body.id)
    const late = await post('/token?grant_type=password', { phone, password })
    assert.equal(late.body.error_code, 'invalid_credentials')
  })

  await t.test('a banned user cannot sign in', async () => {
    const { id, phone } = await server.newPerson()
    await post('/otp', { phone })
    await query("update users set banned_until = now() + interval '1 hour' where id = $1", [id])
    const token = await codeTo(phone)
    const answer = await post('/verify', { type: 'sms', phone, token })
    assert.deepEqual(errorOf(answer), [403, 'user_banned', 'User is banned'])
  })

  await t.test('only one of many concurrent requests with the same code succeeds', async () => {
    const { phone } = await server.newPerson()
    await post('/otp', { phone })
    const token = await codeTo(phone)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => post('/verify', { type: 'sms', phone, token })),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [200, 403, 403, 403])
  })

  await t.test('POST /resend sends pending messages again', async () => {
    const phone = newPhone()
    await post('/signup', { phone, password })
    const resend = (fields: object) => post('/resend', { type: 'sms', ...fields })
    assert.equal((await resend({ phone })).body.error_code, 'over_sms_send_rate_limit')
    assert.equal((await textsTo(phone)).length, 1)
    clock.aheadMs += 61_000
    assert.deepEqual((await resend({ phone: `+${phone}` })).body, {})
    assert.equal((await textsTo(phone)).length, 2)
    const token = await codeTo(phone)
    assert.equal((await post('/verify', { type: 'sms', phone, token })).status, 200)
    clock.aheadMs += 61_000
    for (const recipient of [phone, newPhone()]) {
      for (const type of ['sms', 'phone_change']) {
        const answer = await post('/resend', { type, phone: recipient })
        assert.deepEqual([answer.status, answer.body], [200, {}])
      }
    }
    assert.equal((await textsTo(phone)).length, 2)
    assert.equal((await resend({ phone: 'x' })).status, 400)
  })
})

test('test phone numbers get no messages, and their fixed code works', async (t) => {
  const [phone, over] = [newPhone(), newPhone()]
  const server = await openPhoneServer(t, {
    AUTH_SMS_PROVIDER: '',
    AUTH_SMS_TEST_OTP: `+${phone}:424242,${over}:1234`,
    AUTH_SMS_TEST_OTP_VALID_UNTIL: new Date(Date.now() + 3_600_000).toISOString(),
    AUTH_RATE_LIMIT_SMS_SENT: '0',
  })
  if (!server) return
  const { post, clock, query } = server
  // There is no cooldown, because no message is sent.
  for (let time = 0; time < 2; time++) {
    assert.deepEqual((await post('/otp', { phone })).body, {})
    assert.equal((await post('/verify', { type: 'sms', phone, token: '424243' })).status, 403)
    const { status } = await post('/verify', { type: 'sms', phone, token: '424242' })
    assert.equal(status, 200)
  }
  assert.equal((await post('/verify', { type: 'sms', phone, token: '424242' })).status, 403)
  const signup = await post('/signup', { phone: over, password })
  assert.equal(signup.body.phone, over)
  assert.equal((await post('/verify', { type: 'sms', phone: over, token: '1234' })).status, 200)
  assert.deepEqual(await query('select from outbox'), [])
  const other = await post('/otp', { phone: newPhone() })
  assert.equal(other.body.msg, 'Unable to get SMS provider')
  clock.aheadMs = 3_700_000
  const ended = await post('/otp', { phone })
  assert.deepEqual([ended.status, ended.body.msg], [500, 'Unable to get SMS provider'])
})

test('a misconfigured gateway is reported at once, for known and unknown phone numbers', async (t) => {
  const server = await openPhoneServer(t, {
    AUTH_SMS_PROVIDER: 'gatewayA',
    AUTH_SMS_TEST_OTP: `${newPhone()}:123456`,
  })
  const unknown = await openPhoneServer(t, { AUTH_SMS_PROVIDER: '' })
  if (!server || !unknown) return
  const phone = newPhone()
  await send(server.url, '/admin/users', {
    token: server.serviceToken,
    body: { phone, phone_confirm: true },
  })
  const problem = 'missing Twilio account SID'
  const message = `Error sending confirmation OTP to provider: ${problem}`
  for (const number of [phone, newPhone()]) {
    for (const [path, body] of [
      ['/otp', { phone: number }],
      ['/otp', { phone: number, create_user: true }],
      ['/otp', { phone: number, channel: 'whatsapp' }],
      ['/signup', { phone: number, password }],
    ] as const) {
      const answer: HttpAnswer = await server.post(path, body)
      assert.deepEqual(errorOf(answer), [422, 'sms_send_failed', message], path)
    }
    const resent: HttpAnswer = await server.post('/resend', { type: 'sms', phone: number })
    assert.deepEqual([resent.status, resent.body], [200, {}])
  }
  const missing = await unknown.post('/otp', { phone })
  assert.deepEqual(errorOf(missing).slice(0, 3), [
    500,
    'unexpected_failure',
    'Unable to get SMS provider',
  ])
  assert.ok(unknown.log.some((line) => line.includes('sms Provider  could not be found')))
  const whatsapp = await unknown.post('/otp', { phone, channel: 'whatsapp' })
  assert.match(whatsapp.body.msg, /^Invalid channel, /)
})

test('the limit on text messages applies to the whole server', async (t) => {
  const server = await openPhoneServer(t, { AUTH_RATE_LIMIT_SMS_SENT: '1' })
  if (!server) return
  const { post, query } = server
  const { phone } = await server.newPerson()
  const over = [429, 'over_sms_send_rate_limit', 'SMS rate limit exceeded']
  const fresh = newPhone()
  for (const [path, body] of [
    ['/otp', { phone: fresh }],
    ['/otp', { phone }],
    ['/otp', { phone: fresh, create_user: true }],
    ['/signup', { phone: fresh, password }],
    ['/signup', { phone, password }],
    ['/resend', { type: 'sms', phone }],
  ] as const) {
    const answer: HttpAnswer = await post(path, body)
    assert.deepEqual(errorOf(answer), over, JSON.stringify(body))
    assert.ok(Number(answer.headers.get('retry-after')) > 3_000)
  }
  assert.deepEqual(await query('select from users where phone = $1', [fresh]), [])
  // Email has a separate limit.
  assert.equal((await post('/otp', { email: 'unknown@example.com' })).status, 200)
})

test('POST /otp with a phone when sign-up or phone confirmation is disabled', async (t) => {
  const closed = await openPhoneServer(t, { AUTH_DISABLE_SIGNUP: 'true' })
  const open = await openPhoneServer(t, { AUTH_SMS_AUTOCONFIRM: 'true' })
  if (!closed || !open) return
  const phone = newPhone()
  assert.equal((await closed.post('/otp', { phone })).status, 200)
  assert.deepEqual(await closed.textsTo(phone), [])
  assert.deepEqual(await closed.query('select from users'), [])
  assert.equal((await open.post('/otp', { phone })).status, 200)
  const [row] = await open.query('select phone_confirmed_at from users where phone = $1', [phone])
  assert.ok(row.phone_confirmed_at)
  const token = await open.codeTo(phone)
  const { body } = await open.post('/verify', { type: 'sms', phone, token })
  assert.equal(body.user.user_metadata.phone_verified, true)
})
