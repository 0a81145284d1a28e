/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containsSecret } from '../support/contains-secret.ts'
import { createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { until } from '../support/outbox.ts'
import { newPhone, openPhoneServer } from '../support/phone-server.ts'
import { openGatewayServer } from '../support/sms-gateways.ts'

const dueNow = 'update outbox set next_attempt_at = now() where failed_at is null'

test('text messages are sent through the gateway', async (t) => {
  const gateway = await openGatewayServer(t, { status: 200, body: {} })
  const server = await openPhoneServer(t, {
    ...factorEnvironment,
    AUTH_SMS_WEBHOOK_URL: `${gateway.url}/sms`,
  })
  if (!server) return
  const { post, query } = server
  const callsTo = (phone: string) =>
    gateway.calls.map(({ body }) => JSON.parse(body)).filter(({ to }) => to === `+${phone}`)
  const isEmpty = async () => (await query('select from outbox')).length === 0

  await t.test('as soon as they are requested, and only once', async () => {
    const phone = newPhone()
    await post('/otp', { phone })
    await until(() => callsTo(phone).length > 0)
    const [{ code, message, channel }] = callsTo(phone)
    assert.deepEqual([message, channel], [`Your code is ${code}`, 'sms'])
    assert.equal((await post('/verify', { type: 'sms', phone, token: code })).status, 200)
    await until(isEmpty)
    assert.equal(callsTo(phone).length, 1)
    assert.ok(!containsSecret(server.log.join(''), code))
  })

  await t.test(
    'a temporary failure is retried, and the request does not fail because of it',
    async () => {
      const phone = newPhone()
      gateway.reply = { status: 500, body: '' }
      assert.equal((await post('/otp', { phone })).status, 200)
      const failed = async () =>
        (await query('select last_error from outbox where last_error is not null')).length > 0
      await until(failed)
      gateway.reply = { status: 200, body: '' }
      await query(dueNow)
      // Another message wakes the sender.
      await post('/otp', { phone: newPhone() })
      await until(() => callsTo(phone).length >= 2)
      const [first, second] = callsTo(phone)
      assert.deepEqual(first, second)
      await until(isEmpty)
    },
  )

  await t.test('a phone number that the gateway refuses is not retried', async (t) => {
    t.after(() => {
      gateway.reply = { status: 200, body: '' }
    })
    const phone = newPhone()
    gateway.reply = { status: 422, body: '' }
    await post('/otp', { phone })
    const given = async () => await query('select * from outbox where failed_at is not null')
    await until(async () => (await given()).length === 1)
    const [row] = await given()
    assert.deepEqual([row.recipient, row.payload], ['', {}])
    assert.equal(row.last_error, 'the webhook responded with 422')
    const { code } = callsTo(phone)[0]
    const logged = server.log.filter((line) => line.includes('failed permanently after 1 attempt'))
    assert.equal(logged.length, 1)
    assert.ok(!logged.some((line) => line.includes(phone)))
    assert.ok(!containsSecret(server.log.join(''), code))
  })

  await t.test('including the messages of a phone factor', async () => {
    const calls = createFactorCalls(server)
    const who = await calls.newSignedInUser()
    const phone = newPhone()
    const { body } = await calls.enroll(who, { factor_type: 'phone', phone })
    const challenged = await calls.challenge(who, body.id, { channel: 'whatsapp' })
    await until(() => callsTo(phone).length > 0)
    const [{ code, channel }] = callsTo(phone)
    assert.equal(channel, 'whatsapp')
    const answer = { challenge_id: challenged.body.id, code }
    assert.equal((await calls.call(who, `/factors/${body.id}/verify`, answer)).status, 200)
  })
})

test('a phone factor with a test phone number uses its fixed code', async (t) => {
  const phone = newPhone()
  const server = await openPhoneServer(t, {
    ...factorEnvironment,
    AUTH_SMS_PROVIDER: 'twilio',
    AUTH_SMS_TEST_OTP: `${phone}:123456`,
  })
  if (!server) return
  const calls = createFactorCalls(server)
  const who = await calls.newSignedInUser()
  const { body } = await calls.enroll(who, { factor_type: 'phone', phone })
  const challenged = await calls.challenge(who, body.id)
  assert.equal(challenged.status, 200)
  assert.deepEqual(await server.query('select from outbox'), [])
  const answer = { challenge_id: challenged.body.id, code: '123456' }
  assert.equal((await calls.call(who, `/factors/${body.id}/verify`, answer)).status, 200)
  const another = await calls.newSignedInUser()
  const other = await calls.enroll(another, { factor_type: 'phone', phone: newPhone() })
  const refused = await calls.challenge(another, other.body.id)
  assert.deepEqual([refused.status, refused.body.msg], [500, 'error sending message'])
  assert.ok(server.log.some((line) => line.includes('missing Twilio account SID')))
})
