/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimsOf, createFactorCalls } from '../../support/factors.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { send } from '../../support/http-client.ts'
import { until } from '../../support/outbox.ts'
import { newPhone, toWrongCode } from '../../support/phone-server.ts'
import { openTwilioVerify } from '../../support/twilio-verify.ts'

test('Twilio Verify creates and checks the codes', async (t) => {
  const twilio = await openTwilioVerify(t)
  const testPhone = newPhone()
  const server = await openFlowServer(
    t,
    {
      ...twilio.env,
      AUTH_MFA_PHONE_ENROLL_ENABLED: 'true',
      AUTH_MFA_PHONE_VERIFY_ENABLED: 'true',
      AUTH_MFA_PHONE_MAX_FREQUENCY: '0',
      AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '1000000',
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
      AUTH_SMS_TEST_OTP: `${testPhone}:123456`,
    },
    { checkers: { smsUrl: twilio.url } },
  )
  if (!server) return
  const { post, clock } = server
  const verify = (phone: string, token: string, type = 'sms') =>
    post('/verify', { type, phone, token })
  const signIn = async (phone: string) => {
    assert.equal((await post('/otp', { phone })).status, 200)
    const { status, body } = await verify(phone, await twilio.codeTo(phone))
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  await t.test('a user signs in with a code of Twilio', async () => {
    const phone = newPhone()
    const { user } = await signIn(phone)
    assert.equal(user.phone, phone)
    assert.deepEqual(twilio.channelsTo(phone), ['sms'])
    const stored = await server.query('select * from one_time_tokens where relates_to = $1', [
      phone,
    ])
    assert.deepEqual(stored, [], 'the code can be used once')
  })

  await t.test('a code is valid for ten minutes, as at Twilio', async () => {
    const phone = newPhone()
    await post('/otp', { phone })
    const code = await twilio.codeTo(phone)
    clock.aheadMs += 9 * 60_000
    assert.equal((await verify(phone, code)).status, 200)
    const late = newPhone()
    await post('/otp', { phone: late })
    const expired = await twilio.codeTo(late)
    clock.aheadMs += 11 * 60_000
    assert.deepEqual(errorOf(await verify(late, expired)).slice(0, 2), [403, 'otp_expired'])
  })

  await t.test('wrong codes are refused, also after Twilio has stopped checking', async () => {
    const phone = newPhone()
    await post('/otp', { phone })
    const code = await twilio.codeTo(phone)
    const wrong = toWrongCode(code)
    for (let count = 0; count < 7; count += 1) {
      const answer = await verify(phone, wrong)
      assert.deepEqual(errorOf(answer), [403, 'otp_expired', 'Token has expired or is invalid'])
    }
    assert.equal((await verify(phone, code)).status, 403)
  })

  await t.test('neither a code without a request nor other text is accepted', async () => {
    const phone = newPhone()
    const before = twilio.checks
    for (const token of ['', '12', 'abcdef', '12345678901', '\u0000', phone]) {
      assert.notEqual((await verify(phone, token)).status, 200, JSON.stringify(token))
    }
    assert.equal(twilio.checks, before, 'nothing was sent to Twilio')
    assert.equal((await verify(phone, '123456')).status, 403)
    assert.equal(twilio.checks, before + 1)
  })

  await t.test('a new phone number is confirmed', async () => {
    const { access_token: token } = await signIn(newPhone())
    const phone = newPhone()
    const body = { phone, channel: 'whatsapp' }
    assert.equal((await send(server.url, '/user', { method: 'PUT', body, token })).status, 200)
    const code = await twilio.codeTo(phone)
    const changed = await verify(phone, code, 'phone_change')
    assert.equal(changed.body.user.phone, phone)
    assert.deepEqual(twilio.channelsTo(phone), ['whatsapp'])
  })

  await t.test('a code confirms a new password', async () => {
    const phone = newPhone()
    const { access_token: token } = await signIn(phone)
    const change = (nonce: string) =>
      send(server.url, '/user', {
        method: 'PUT',
        body: { password: 'another long password', nonce },
        token,
      })
    assert.equal((await send(server.url, '/reauthenticate', { token })).status, 200)
    const code = await twilio.codeTo(phone)
    assert.deepEqual(errorOf(await change(toWrongCode(code))).slice(0, 2), [
      422,
      'reauthentication_not_valid',
    ])
    assert.equal((await change(code)).status, 200)
  })

  await t.test('a phone factor raises the session to aal2', async () => {
    const calls = createFactorCalls(server)
    const who = await calls.newSignedInUser()
    const phone = newPhone()
    const { body: factor } = await calls.enroll(who, { factor_type: 'phone', phone })
    const answer = async (challenge_id: string, code: string) =>
      calls.call(who, `/factors/${factor.id}/verify`, { challenge_id, code })
    const { body: challenge } = await calls.challenge(who, factor.id)
    const code = await twilio.codeTo(phone)
    assert.equal((await answer(challenge.id, toWrongCode(code))).status, 422)
    calls.take(who, await answer(challenge.id, code))
    assert.equal(claimsOf(who.token).aal, 'aal2')
    assert.notEqual((await answer(challenge.id, code)).status, 200, 'the code was used')
  })

  await t.test('a test number has its own code, and Twilio is not called', async () => {
    const before = twilio.checks
    await post('/otp', { phone: testPhone })
    assert.equal((await verify(testPhone, '123456')).status, 200)
    assert.deepEqual([twilio.checks, twilio.channelsTo(testPhone)], [before, []])
  })

  await t.test('an outage is an error of the server, and the code stays valid', async () => {
    const phone = newPhone()
    await post('/otp', { phone })
    const code = await twilio.codeTo(phone)
    twilio.isDown = true
    const answer = await verify(phone, code)
    assert.deepEqual(errorOf(answer).slice(0, 2), [500, 'unexpected_failure'])
    await until(() => server.log.some((line) => line.includes('Service unavailable (20503)')))
    assert.ok(!server.log.some((line) => line.includes(code)), 'the log contains the code')
    twilio.isDown = false
    assert.equal((await verify(phone, code)).status, 200)
  })
})

test('codes of Twilio Verify are refused after a change to another gateway', async (t) => {
  const twilio = await openTwilioVerify(t)
  const first = await openFlowServer(t, twilio.env, { checkers: { smsUrl: twilio.url } })
  if (!first) return
  const phone = newPhone()
  await first.post('/otp', { phone })
  const code = await twilio.codeTo(phone)
  const { openAuthServer } = await import('../../support/auth-server.ts')
  const second = await openAuthServer(t, {
    env: {
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_SMS_PROVIDER: 'webhook',
      AUTH_SMS_WEBHOOK_URL: 'http://127.0.0.1:1/',
    },
    database: { url: first.databaseUrl, schema: first.schema },
    clock: first.clock,
  })
  const { status } = await send(second?.url ?? '', '/verify', {
    body: { type: 'sms', phone, token: code },
  })
  assert.equal(status, 403)
})
