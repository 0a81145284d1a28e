/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf } from '../../support/flow-server.ts'
import { password, sdk, send } from '../../support/http-client.ts'
import { newPhone, openPhoneServer, toWrongCode } from '../../support/phone-server.ts'

/** Replaces all values by their types. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
}

test('POST /signup with a phone', async (t) => {
  const server = await openPhoneServer(t)
  if (!server) return
  const { post, query, clock, textsTo, codeTo } = server
  const logIn = (phone: string) => post('/token?grant_type=password', { phone, password })

  await t.test('creates a user who is confirmed by a code', async () => {
    const phone = newPhone()
    server.takeStatements()
    const { status, body } = await post('/signup', {
      phone: `+${phone}`,
      password,
      data: { plan: 'free' },
    })
    assert.deepEqual(server.takeStatements(), ['find_user_by_phone', 'create_user'])
    assert.equal(status, 200)
    assert.deepEqual([body.phone, body.email, body.access_token], [phone, '', undefined])
    assert.ok(body.confirmation_sent_at)
    assert.equal(body.phone_confirmed_at, undefined)
    assert.deepEqual(body.app_metadata, { provider: 'phone', providers: ['phone'] })
    const data = { sub: body.id, phone, plan: 'free', phone_verified: false, email_verified: false }
    assert.deepEqual(body.user_metadata, data)
    const [identity] = body.identities
    assert.deepEqual([identity.provider, identity.id], ['phone', body.id])
    assert.deepEqual(identity.identity_data, data)
    assert.deepEqual(errorOf(await logIn(phone)), [
      400,
      'phone_not_confirmed',
      'Phone not confirmed',
    ])
    const [text] = await textsTo(phone)
    assert.deepEqual([text?.kind, text?.channel], ['confirmation', 'sms'])
    assert.match(text?.code ?? '', /^\d{6}$/)
    server.takeStatements()
    const verified = await post('/verify', { type: 'sms', phone: `+${phone}`, token: text?.code })
    assert.deepEqual(server.takeStatements(), ['confirm_phone_by_digits'])
    assert.equal(verified.status, 200)
    const { user, refresh_token, type } = verified.body
    assert.equal(user.id, body.id)
    assert.ok(user.phone_confirmed_at && user.confirmed_at && refresh_token)
    assert.equal(type, undefined)
    assert.equal(user.user_metadata.phone_verified, true)
    assert.equal(user.identities[0].identity_data.phone_verified, true)
    assert.deepEqual(await server.actionsOf(body.id), [
      'user_confirmation_requested',
      'user_signedup',
    ])
    server.takeStatements()
    const entered = await logIn(`+${phone}`)
    assert.equal(entered.status, 200)
    assert.deepEqual(server.takeStatements(), ['find_user_by_phone', 'open_session'])
    const [entry] = await query(
      `select payload from audit_log_entries where payload ->> 'actor_id' = $1
       and payload ->> 'action' = 'user_signedup'`,
      [body.id],
    )
    assert.equal(entry.payload.traits.provider, 'phone')
    assert.equal(entry.payload.actor_username, phone)
  })

  await t.test('a code works once, for its phone number, and for a minute', async (t) => {
    t.after(() => {
      clock.aheadMs = 0
    })
    const expired = [403, 'otp_expired', 'Token has expired or is invalid']
    const [phone, other] = [newPhone(), newPhone()]
    await post('/signup', { phone, password })
    await post('/signup', { phone: other, password })
    const token = await codeTo(phone)
    const verify = (body: object) => post('/verify', { type: 'sms', phone, token, ...body })
    if (token !== (await codeTo(other))) {
      assert.deepEqual(errorOf(await verify({ phone: other })), expired)
    }
    assert.deepEqual(errorOf(await verify({ phone: newPhone() })), expired)
    assert.deepEqual(errorOf(await verify({ type: 'phone_change' })), expired)
    assert.deepEqual(errorOf(await verify({ token: toWrongCode(token) })), expired)
    clock.aheadMs += 61_000
    assert.deepEqual(errorOf(await verify({})), expired)
    clock.aheadMs = 30_000
    assert.equal((await verify({})).status, 200)
    assert.deepEqual(errorOf(await verify({})), expired)
  })

  await t.test('a code is invalidated by wrong guesses', async () => {
    const phone = newPhone()
    await post('/signup', { phone, password })
    const token = await codeTo(phone)
    for (let guess = 0; guess < 5; guess++) {
      await post('/verify', { type: 'sms', phone, token: toWrongCode(token) })
    }
    assert.equal((await post('/verify', { type: 'sms', phone, token })).status, 403)
  })

  await t.test('neither reveals nor changes an existing account', async (t) => {
    t.after(() => {
      clock.aheadMs = 0
    })
    const waiting = newPhone()
    const fresh = await post('/signup', { phone: waiting, password, data: { a: 1 } })
    const { phone: confirmed } = await server.newPerson()
    clock.aheadMs += 61_000
    const again = { password: 'another password', data: { a: 1 } }
    for (const phone of [waiting, confirmed]) {
      const repeated = await post('/signup', { phone: `+${phone}`, ...again })
      assert.equal(repeated.status, 200)
      assert.deepEqual(shapeOf(repeated.body), shapeOf(fresh.body))
      assert.deepEqual([...repeated.headers.keys()], [...fresh.headers.keys()])
      assert.equal(repeated.body.phone, phone)
      assert.deepEqual(repeated.body.user_metadata.a, 1)
      assert.equal((await post('/token?grant_type=password', { phone, ...again })).status, 400)
    }
    assert.equal((await textsTo(waiting)).length, 2)
    assert.equal((await textsTo(confirmed)).length, 0)
    // The cooldown does not reveal the account either.
    const early = await Promise.all(
      [waiting, confirmed].map((phone) => post('/signup', { phone, ...again })),
    )
    for (const { status, body } of early) {
      assert.deepEqual([status, body.error_code], [429, 'over_sms_send_rate_limit'])
    }
    const [row] = await query('select id from users where phone = $1', [confirmed])
    assert.deepEqual((await server.actionsOf(row.id)).at(-1), 'user_repeated_signup')
  })

  await t.test('sends the code again after a minute, and not before', async (t) => {
    t.after(() => {
      clock.aheadMs = 0
    })
    const phone = newPhone()
    await post('/signup', { phone, password })
    const first = await codeTo(phone)
    clock.aheadMs += 30_000
    const early = await post('/signup', { phone, password })
    assert.deepEqual([early.status, early.body.error_code], [429, 'over_sms_send_rate_limit'])
    assert.match(
      early.body.msg,
      /^For security purposes, you can only request this after \d+ seconds\.$/,
    )
    assert.equal((await textsTo(phone)).length, 1)
    clock.aheadMs += 31_000
    await post('/signup', { phone, password })
    assert.equal((await textsTo(phone)).length, 2)
    const second = await codeTo(phone)
    const verify = (token: string) => post('/verify', { type: 'sms', phone, token })
    if (first !== second) assert.equal((await verify(first)).status, 403)
    assert.equal((await verify(second)).status, 200)
  })

  await t.test('refuses invalid requests', async () => {
    const phone = newPhone()
    const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 's256' }
    const format = 'Invalid phone number format (E.164 required)'
    for (const [body, message] of [
      [
        { phone, email: 'a@example.com', password },
        'Only an email address or phone number should be provided on signup.',
      ],
      [{ phone }, 'Signup requires a valid password'],
      [{ phone, password, ...challenge }, 'PKCE not supported for phone signups'],
      [{ phone: '0123', password }, format],
      [{ phone: '1234567890123456', password }, format],
      [{ phone: '++4912345', password }, format],
      [{ phone: '+49-123', password }, format],
    ] as const) {
      assert.deepEqual(errorOf(await post('/signup', body)), [400, 'validation_failed', message])
    }
    const fax = await post('/signup', { phone, password, channel: 'fax' })
    assert.match(fax.body.msg, /^Invalid channel, supported values are 'sms' or 'whatsapp'\./)
    assert.equal((await post('/signup', { phone, password: 'short' })).status, 422)
    assert.deepEqual(await query('select from users where phone = $1', [phone]), [])
    const spaced = `+${phone.slice(0, 4)} ${phone.slice(4)}`
    const written = await post('/signup', { phone: spaced, password, channel: 'whatsapp' })
    assert.equal(written.body.phone, phone)
    assert.equal((await textsTo(phone))[0]?.channel, 'whatsapp')
  })

  await t.test('concurrent requests create one user and send one message', async () => {
    const phone = newPhone()
    const answers = await Promise.all(Array.from({ length: 4 }, () => post('/otp', { phone })))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 429, 429, 429])
    assert.equal((await query('select from users where phone = $1', [phone])).length, 1)
    assert.equal((await textsTo(phone)).length, 1)
  })

  await t.test('pending messages of a deleted user are removed', async () => {
    const phone = newPhone()
    const { body } = await post('/signup', { phone, password })
    const path = `/admin/users/${body.id}`
    await send(server.url, path, { method: 'DELETE', token: server.serviceToken })
    assert.deepEqual(await textsTo(phone), [])
  })
})

test('POST /signup with a phone when confirmation is disabled', async (t) => {
  // No gateway is configured, because none is needed.
  const server = await openPhoneServer(t, { AUTH_SMS_AUTOCONFIRM: 'true', AUTH_SMS_PROVIDER: '' })
  if (!server) return
  const { post, query } = server
  const phone = newPhone()
  const { status, body } = await post('/signup', { phone: `+${phone}`, password })
  assert.equal(status, 200)
  assert.ok(body.access_token && body.user.phone_confirmed_at)
  assert.equal(body.user.user_metadata.phone_verified, true)
  assert.deepEqual(await query('select from outbox'), [])
  const taken = [400, 'user_already_exists', 'User already registered']
  assert.deepEqual(errorOf(await post('/signup', { phone, password })), taken)
  const withHeader = await post('/signup', { phone, password }, sdk)
  assert.deepEqual([withHeader.status, withHeader.body.message], [422, 'User already registered'])
  const waiting = newPhone()
  const path = '/admin/users'
  await send(server.url, path, { token: server.serviceToken, body: { phone: waiting } })
  assert.deepEqual(errorOf(await post('/signup', { phone: waiting, password })), taken)
})
