/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf } from '../../support/flow-server.ts'
import { newEmail, password, sdk, send } from '../../support/http-client.ts'
import { newPhone, openPhoneServer, toWrongCode } from '../../support/phone-server.ts'

test('phone numbers of users', async (t) => {
  const server = await openPhoneServer(t, {
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
  })
  if (!server) return
  const { post, query, clock, call, textsTo, codeTo } = server
  const update = (token: string, body: object) => call(token, '/user', body, 'PUT')
  t.afterEach(() => {
    clock.aheadMs = 0
  })

  await t.test('a new phone number takes effect once its code is verified', async () => {
    const { id, phone: before, token } = await server.newPerson()
    const phone = newPhone()
    server.takeStatements()
    const { status, body } = await update(token, { phone: `+${phone}` })
    assert.deepEqual(server.takeStatements(), ['find_caller', 'check_user_update', 'update_user'])
    assert.equal(status, 200)
    assert.deepEqual([body.phone, body.new_phone], [before, phone])
    assert.ok(body.phone_change_sent_at)
    const [text] = await textsTo(phone)
    assert.deepEqual([text?.kind, text?.channel], ['phone_change', 'sms'])
    assert.deepEqual(await textsTo(before), [])
    const verify = (fields: object) =>
      post('/verify', { type: 'phone_change', phone, token: text?.code, ...fields })
    assert.equal((await verify({ type: 'sms' })).status, 403)
    assert.equal((await verify({ phone: before })).status, 403)
    assert.equal((await verify({ token: toWrongCode(text?.code ?? '') })).status, 403)
    server.takeStatements()
    const verified = await verify({})
    assert.deepEqual(server.takeStatements(), ['change_phone_by_digits'])
    const { user } = verified.body
    assert.deepEqual([user.id, user.phone, user.new_phone], [id, phone, undefined])
    assert.equal(user.phone_change_sent_at, undefined)
    assert.equal(user.user_metadata.phone, phone)
    const [identity] = user.identities
    assert.deepEqual([identity.provider, identity.identity_data.phone], ['phone', phone])
    assert.equal((await verify({})).status, 403)
    assert.equal((await server.actionsOf(id)).filter((each) => each === 'user_modified').length, 2)
    assert.equal((await post('/otp', { phone: before, create_user: true })).status, 200)
    assert.deepEqual(await textsTo(before), [])
  })

  await t.test('for Supabase Auth clients, a resend hides the cooldown of a change', async () => {
    const { token, phone: before } = await server.newPerson()
    const next = newPhone()
    await update(token, { phone: next })
    clock.aheadMs += 61_000
    for (const phone of [before, newPhone()]) {
      for (const _ of [1, 2]) {
        const { status, body } = await post('/resend', { type: 'phone_change', phone }, sdk)
        assert.deepEqual([status, Object.keys(body)], [200, ['message_id']])
      }
      const other = await post('/resend', { type: 'phone_change', phone })
      assert.deepEqual([other.status, other.body.error_code], [429, 'over_sms_send_rate_limit'])
    }
    assert.equal((await textsTo(next)).length, 2)
  })

  await t.test('a second message can be requested a minute after the first', async () => {
    const { token, phone: before } = await server.newPerson()
    const [wrong, right] = [newPhone(), newPhone()]
    await update(token, { phone: wrong })
    const early = await update(token, { phone: right })
    assert.deepEqual([early.status, early.body.error_code], [429, 'over_sms_send_rate_limit'])
    assert.match(
      early.body.msg,
      /^For security purposes, you can only request this after \d+ seconds\.$/,
    )
    assert.ok(Number(early.headers.get('retry-after')) > 0)
    await post('/resend', { type: 'phone_change', phone: before })
    assert.equal((await textsTo(wrong)).length, 1)
    clock.aheadMs += 61_000
    await post('/resend', { type: 'phone_change', phone: `+${before}` })
    assert.equal((await textsTo(wrong)).length, 2)
    clock.aheadMs += 61_000
    const { body } = await update(token, { phone: right, channel: 'whatsapp' })
    assert.equal(body.new_phone, right)
    assert.equal((await textsTo(right))[0]?.channel, 'whatsapp')
    // The code sent to the previous phone number is no longer valid.
    const old = { type: 'phone_change', phone: wrong, token: await codeTo(wrong) }
    assert.equal((await post('/verify', old)).status, 403)
    const requested = await Promise.all([1, 2, 3].map(() => update(token, { phone: newPhone() })))
    assert.deepEqual(
      requested.map(({ status }) => status),
      [429, 429, 429],
    )
  })

  await t.test(
    'a phone number that another user has, or takes before the code is verified, is refused',
    async () => {
      const one = await server.newPerson()
      const other = await server.newPerson()
      const taken = [
        422,
        'phone_exists',
        'A user with this phone number has already been registered',
      ]
      assert.deepEqual(errorOf(await update(one.token, { phone: other.phone })), taken)
      const wanted = newPhone()
      await update(one.token, { phone: wanted })
      const token = await codeTo(wanted)
      await send(server.url, '/admin/users', {
        token: server.serviceToken,
        body: { phone: wanted },
      })
      const late = await post('/verify', { type: 'phone_change', phone: wanted, token })
      assert.deepEqual(errorOf(late), taken)
      assert.deepEqual((await call(one.token, '/user')).body.phone, one.phone)
    },
  )

  await t.test('two users who request the same phone number get separate codes', async () => {
    const [one, other] = [await server.newPerson(), await server.newPerson()]
    const phone = newPhone()
    await update(one.token, { phone })
    await update(other.token, { phone })
    const [, first] = await textsTo(phone)
    const { body } = await post('/verify', { type: 'phone_change', phone, token: first?.code })
    assert.equal(body.user.id, one.id)
    const second = await codeTo(phone)
    const late = await post('/verify', { type: 'phone_change', phone, token: second })
    assert.equal(late.body.error_code, 'phone_exists')
  })

  await t.test('an anonymous user becomes permanent by confirming a phone number', async () => {
    const { body: anonymous } = await post('/signup', { data: { basket: [1] } })
    const { access_token: token, user } = anonymous
    assert.equal(user.is_anonymous, true)
    const phone = newPhone()
    const { body } = await update(token, { phone })
    assert.deepEqual([body.is_anonymous, body.phone, body.new_phone], [true, '', phone])
    const shown = { type: 'phone_change', phone, token: await codeTo(phone) }
    const { body: verified } = await post('/verify', shown)
    assert.equal(verified.user.id, user.id)
    assert.equal(verified.user.is_anonymous, false)
    assert.deepEqual(verified.user.app_metadata, { provider: 'phone', providers: ['phone'] })
    assert.deepEqual(verified.user.user_metadata, { basket: [1] })
    assert.ok(verified.user.phone_confirmed_at)
  })

  await t.test('an email and a phone change together send both messages or neither', async () => {
    const { token, id } = await server.newPerson()
    const [email, phone] = [newEmail(), newPhone()]
    server.takeStatements()
    const { body } = await update(token, { email, phone, data: { both: true } })
    assert.deepEqual(server.takeStatements(), [
      'find_caller',
      'check_user_update',
      'update_user',
      'update_user',
    ])
    assert.deepEqual([body.new_email, body.new_phone], [email, phone])
    assert.equal(body.user_metadata.both, true)
    assert.equal((await server.mailsTo(email)).length, 1)
    assert.equal((await textsTo(phone)).length, 1)
    const modified = (await server.actionsOf(id)).filter((each) => each === 'user_modified')
    assert.equal(modified.length, 1)
    const shown = { type: 'phone_change', phone, token: await codeTo(phone) }
    assert.equal((await post('/verify', shown)).body.user.phone, phone)
  })

  await t.test('a phone user who confirms an email address has both verified', async () => {
    const { token, phone } = await server.newPerson()
    const email = newEmail()
    await update(token, { email })
    const { code } = await server.mailTo(email)
    const { body } = await post('/verify', { type: 'email_change', email, token: code })
    const { email_verified, phone_verified, phone: copied } = body.user.user_metadata
    assert.deepEqual([email_verified, phone_verified, copied], [true, true, phone])
    assert.deepEqual(body.user.app_metadata.providers, ['phone', 'email'])
  })

  await t.test('GET /reauthenticate sends an SMS nonce to a user without email', async () => {
    const { token, phone, id } = await server.newPerson()
    const fresh = 'a better password'
    assert.equal(
      (await update(token, { password: fresh })).body.error_code,
      'reauthentication_needed',
    )
    server.takeStatements()
    const requested = await call(token, '/reauthenticate')
    assert.deepEqual(server.takeStatements(), ['find_caller', 'request_reauthentication_sent_at'])
    assert.deepEqual([requested.status, requested.body], [200, {}])
    const [text] = await textsTo(phone)
    assert.equal(text?.kind, 'reauthentication')
    const again = await call(token, '/reauthenticate')
    assert.deepEqual([again.status, again.body.error_code], [429, 'over_sms_send_rate_limit'])
    const nonce = text?.code ?? ''
    assert.equal((await post('/verify', { type: 'sms', phone, token: nonce })).status, 403)
    const wrong = await update(token, { password: fresh, nonce: toWrongCode(nonce) })
    assert.equal(wrong.body.error_code, 'reauthentication_not_valid')
    assert.equal((await update(token, { password: fresh, nonce })).status, 200)
    assert.equal((await post('/token?grant_type=password', { phone, password: fresh })).status, 200)
    assert.ok((await server.actionsOf(id)).includes('user_reauthenticate_requested'))
    await query('update users set phone_confirmed_at = null where id = $1', [id])
    assert.deepEqual(errorOf(await call(token, '/reauthenticate')), [
      422,
      'phone_not_confirmed',
      'Please verify your phone first.',
    ])
  })

  await t.test('invalid phone numbers and channels are refused', async () => {
    const { token, phone } = await server.newPerson()
    assert.equal((await update(token, { phone: '0' })).status, 400)
    const fax = await update(token, { phone: newPhone(), channel: 'fax' })
    assert.match(fax.body.msg, /^Invalid channel, /)
    const same = await update(token, { phone: `+${phone}`, channel: 'sms' })
    assert.deepEqual([same.status, same.body.new_phone], [200, undefined])
    // The client may send a channel with any update.
    assert.equal((await update(token, { data: {}, channel: 'fax' })).status, 200)
  })
})

test('a phone number change over the SMS limit, or without a gateway, changes nothing', async (t) => {
  const full = await openPhoneServer(t, { AUTH_RATE_LIMIT_SMS_SENT: '1' })
  const bare = await openPhoneServer(t, {
    AUTH_EXTERNAL_PHONE_ENABLED: 'false',
    AUTH_SMS_PROVIDER: 'vonage',
  })
  if (!full || !bare) return
  const { token, phone } = await full.newPerson()
  const wanted = { email: newEmail(), phone: newPhone() }
  const over = [429, 'over_sms_send_rate_limit', 'SMS rate limit exceeded']
  const put = { method: 'PUT', token }
  assert.deepEqual(errorOf(await send(full.url, '/user', { ...put, body: wanted })), over)
  assert.deepEqual(errorOf(await full.call(token, '/reauthenticate')), over)
  const { body } = await full.call(token, '/user')
  assert.deepEqual([body.phone, body.new_email, body.new_phone], [phone, undefined, undefined])
  assert.deepEqual(await full.query('select from outbox'), [])
  const [cap] = await full.query("select sent from message_caps where channel = 'email'")
  assert.equal(cap?.sent ?? 0, 0)

  const made = { email: newEmail(), password, email_confirm: true }
  await send(bare.url, '/admin/users', { token: bare.serviceToken, body: made })
  const entered = await bare.post('/token?grant_type=password', made)
  const refused = await bare.call(entered.body.access_token, '/user', { phone: newPhone() }, 'PUT')
  assert.deepEqual(errorOf(refused), [
    422,
    'sms_send_failed',
    'Error sending phone_change OTP to provider: missing Vonage API key',
  ])
})

test('a new phone number takes effect at once when confirmation is disabled', async (t) => {
  const server = await openPhoneServer(t, { AUTH_SMS_AUTOCONFIRM: 'true', AUTH_SMS_PROVIDER: '' })
  if (!server) return
  const { body: anonymous } = await server.post('/signup', {}, sdk)
  const phone = newPhone()
  const { body } = await server.call(anonymous.access_token, '/user', { phone }, 'PUT')
  assert.deepEqual([body.phone, body.new_phone, body.is_anonymous], [phone, undefined, false])
  assert.ok(body.phone_confirmed_at)
})
