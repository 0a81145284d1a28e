/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containsSecret } from '../../support/contains-secret.ts'
import { claimsOf, createFactorCalls, factorEnvironment, methodsOf } from '../../support/factors.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { type HttpAnswer, send } from '../../support/http-client.ts'

test('phone factors', async (t) => {
  const server = await openFlowServer(t, { ...factorEnvironment, AUTH_MFA_PHONE_OTP_LENGTH: '8' })
  if (!server) return
  const { query, clock } = server
  const calls = createFactorCalls(server)
  const { enroll, challenge, call, take } = calls
  let last = 0
  const newPhone = () => `1555${String(++last).padStart(7, '0')}`
  const enrollPhone = async (who: { readonly token: string }) => {
    const phone = newPhone()
    const { body } = await enroll(who, { factor_type: 'phone', phone: `+${phone}` })
    return { id: body.id as string, phone }
  }
  const messagesTo = (phone: string) =>
    query('select * from outbox where recipient = $1 order by id desc', [phone])
  const verify = (
    who: { readonly token: string },
    id: string,
    challenge_id: string,
    code: string,
  ) => call(who, `/factors/${id}/verify`, { challenge_id, code })

  await t.test('a code is sent by SMS and raises the session to aal2', async () => {
    const who = await calls.newSignedInUser()
    const phone = newPhone()
    const enrolled = await enroll(who, {
      factor_type: 'phone',
      phone: `+${phone}`,
      friendly_name: 'Mobile',
    })
    const { id } = enrolled.body
    assert.deepEqual(enrolled.body, { id, type: 'phone', friendly_name: 'Mobile', phone })
    server.takeStatements()
    const challenged = await challenge(who, id, { channel: 'sms', factorId: id })
    assert.deepEqual(server.takeStatements(), ['find_caller', 'challenge_factor'])
    assert.deepEqual(Object.keys(challenged.body), ['id', 'type', 'expires_at'])
    const [message] = await messagesTo(phone)
    assert.deepEqual([message.channel, message.kind], ['sms', 'mfa_code'])
    assert.equal(message.payload.Channel, 'sms')
    const { Code: code } = message.payload
    assert.match(code, /^\d{8}$/)
    const [stored] = await query(
      'select to_json(c)::text as text from mfa_challenges c where id = $1',
      [challenged.body.id],
    )
    assert.ok(!containsSecret(stored.text, code))
    server.takeStatements()
    take(who, await verify(who, id, challenged.body.id, code))
    assert.deepEqual(server.takeStatements(), ['find_caller', 'try_challenge', 'accept_factor'])
    assert.equal(claimsOf(who.token).aal, 'aal2')
    assert.deepEqual(new Set(methodsOf(who.token)), new Set(['mfa/phone', 'otp']))
    const [factor] = (await calls.user(who)).factors
    assert.deepEqual(
      [factor.factor_type, factor.phone, factor.status],
      ['phone', phone, 'verified'],
    )
    assert.deepEqual(errorOf(await enroll(who, { factor_type: 'phone', phone })), [
      422,
      'mfa_verified_factor_exists',
      'A verified phone factor already exists, unenroll the existing factor to continue',
    ])
  })

  await t.test('a wrong code and the code of another challenge are refused', async (t) => {
    t.after(() => {
      clock.aheadMs = 0
    })
    const who = await calls.newSignedInUser()
    const { id, phone } = await enrollPhone(who)
    const { body: first } = await challenge(who, id)
    clock.aheadMs = 61_000
    const { body: second } = await challenge(who, id)
    const [late, early] = await messagesTo(phone)
    const wrong = [422, 'mfa_verification_failed', 'Invalid MFA Phone code entered']
    assert.deepEqual(errorOf(await verify(who, id, second.id, '1')), wrong)
    if (late.payload.Code !== early.payload.Code) {
      assert.deepEqual(errorOf(await verify(who, id, second.id, early.payload.Code)), wrong)
    }
    assert.deepEqual(errorOf(await verify(who, id, second.id, ' ')), [
      400,
      'validation_failed',
      'Code needs to be non-empty',
    ])
    assert.equal((await verify(who, id, first.id, ` ${early.payload.Code} `)).status, 200)
  })

  await t.test('messages to one factor are at least a minute apart', async (t) => {
    t.after(() => {
      clock.aheadMs = 0
    })
    const who = await calls.newSignedInUser()
    const { id, phone } = await enrollPhone(who)
    const challenged = await Promise.all([
      challenge(who, id),
      challenge(who, id),
      challenge(who, id),
    ])
    assert.deepEqual(challenged.map(({ status }) => status).toSorted(), [200, 429, 429])
    assert.equal((await messagesTo(phone)).length, 1)
    const early = await challenge(who, id)
    assert.deepEqual([early.status, early.body.error_code], [429, 'over_sms_send_rate_limit'])
    assert.match(
      early.body.msg,
      /^For security purposes, you can only request this after \d+ seconds\.$/,
    )
    assert.ok(Number(early.headers.get('retry-after')) > 0)
    clock.aheadMs = 61_000
    assert.equal((await challenge(who, id)).status, 200)
  })

  await t.test('invalid phone numbers and channels are refused', async () => {
    const who = await calls.newSignedInUser()
    for (const phone of [undefined, '']) {
      assert.deepEqual(errorOf(await enroll(who, { factor_type: 'phone', phone })), [
        400,
        'validation_failed',
        'Phone number required to enroll Phone factor',
      ])
    }
    assert.deepEqual(errorOf(await enroll(who, { factor_type: 'phone', phone: 'abc' })), [
      400,
      'validation_failed',
      'Invalid phone number format (E.164 required)',
    ])
    const { id, phone } = await enrollPhone(who)
    assert.match((await challenge(who, id, { channel: 'pigeon' })).body.msg, /^Invalid channel, /)
    assert.equal((await challenge(who, id, { channel: 'whatsapp' })).status, 200)
    assert.equal((await messagesTo(phone))[0].payload.Channel, 'whatsapp')
    // Enrolling the same phone number again replaces the unverified factor.
    const again = await enroll(who, { factor_type: 'phone', phone })
    const ids = (await calls.user(who)).factors.map((factor: { id: string }) => factor.id)
    assert.deepEqual(ids, [again.body.id])
  })

  await t.test('pending messages of a deleted user are not sent', async () => {
    for (const should_soft_delete of [true, false]) {
      const who = await calls.newSignedInUser()
      const { id, phone } = await enrollPhone(who)
      await challenge(who, id)
      assert.equal((await messagesTo(phone)).length, 1)
      const deleted: HttpAnswer = await send(server.url, `/admin/users/${who.id}`, {
        method: 'DELETE',
        token: server.serviceToken,
        body: { should_soft_delete },
      })
      assert.equal(deleted.status, 200)
      assert.equal((await messagesTo(phone)).length, 0)
      assert.deepEqual(await query('select from mfa_factors where user_id = $1', [who.id]), [])
    }
  })
})

test('no challenge is created over the SMS limit or without a gateway', async (t) => {
  const env = { ...factorEnvironment, AUTH_RATE_LIMIT_SMS_SENT: '1' }
  const full = await openFlowServer(t, env)
  const bare = await openFlowServer(t, { ...env, AUTH_SMS_PROVIDER: '' })
  if (!full || !bare) return
  const calls = createFactorCalls(full)
  const who = await calls.newSignedInUser()
  const phones = ['15550101', '15550102']
  const ids = []
  for (const phone of phones)
    ids.push((await calls.enroll(who, { factor_type: 'phone', phone })).body.id)
  assert.equal((await calls.challenge(who, ids[0])).status, 200)
  const refused = await calls.challenge(who, ids[1])
  assert.deepEqual(errorOf(refused), [429, 'over_sms_send_rate_limit', 'SMS rate limit exceeded'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  const others = createFactorCalls(bare)
  const other = await others.newSignedInUser()
  const { body } = await others.enroll(other, { factor_type: 'phone', phone: '15550103' })
  assert.deepEqual(errorOf(await others.challenge(other, body.id)), [
    500,
    'unexpected_failure',
    'Unable to get SMS provider',
  ])
})
