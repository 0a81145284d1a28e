/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sdk, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { newPhone, openPhoneServer } from '../support/phone-server.ts'

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/

test('clients of Supabase Auth get the ID of a text message, whether the number has an account or not', async (t) => {
  const server = await openPhoneServer(t, { AUTH_SMS_MAX_FREQUENCY: '0' })
  if (!server) return
  const known = await server.newPerson()
  for (const phone of [known.phone, newPhone()]) {
    for (const [path, body] of [
      ['/otp', { phone }],
      ['/otp', { phone, create_user: true }],
      ['/resend', { type: 'sms', phone }],
      ['/resend', { type: 'phone_change', phone }],
    ] as const) {
      const answer = await server.post(path, body, sdk)
      assert.deepEqual([answer.status, Object.keys(answer.body)], [200, ['message_id']], path)
      assert.match(answer.body.message_id, uuid)
      assert.deepEqual((await server.post(path, body)).body, {}, 'other clients get none')
    }
  }
  const nonce = await send(server.url, '/reauthenticate', { token: known.token, headers: sdk })
  assert.match(nonce.body.message_id, uuid)
  const other = await send(server.url, '/reauthenticate', { token: known.token })
  assert.deepEqual(other.body, {})
})

test('the stored message has the ID, and so has the log of a failed one', async (t) => {
  const server = await openPhoneServer(t)
  if (!server) return
  const phone = newPhone()
  const { message_id } = (await server.post('/otp', { phone }, sdk)).body
  const [row] = await server.query('select payload from outbox where recipient = $1', [phone])
  assert.equal(row.payload.MessageID, message_id)
  await until(() => server.log.some((line) => line.includes(`message_id ${message_id}`)))
})

test('a test number has the ID test-otp, and a hook has none', async (t) => {
  const phone = newPhone()
  const tested = await openPhoneServer(t, { AUTH_SMS_TEST_OTP: `${phone}:123456` })
  const hooked = await openPhoneServer(t, {
    AUTH_HOOK_SEND_SMS_ENABLED: 'true',
    AUTH_HOOK_SEND_SMS_URI: 'pg-functions://postgres/public/send_sms',
  })
  if (!tested || !hooked) return
  assert.deepEqual((await tested.post('/otp', { phone }, sdk)).body, { message_id: 'test-otp' })
  assert.deepEqual((await hooked.post('/otp', { phone: newPhone() }, sdk)).body, {})
})

test('without a gateway, a resend has the same response for every number, and the failure is logged', async (t) => {
  const server = await openPhoneServer(t, {
    AUTH_SMS_PROVIDER: '',
    AUTH_SMS_AUTOCONFIRM: 'true',
    AUTH_SMS_MAX_FREQUENCY: '0',
  })
  if (!server) return
  const phone = newPhone()
  const created = await send(server.url, '/admin/users', {
    token: server.serviceToken,
    body: { phone },
  })
  assert.equal(created.status, 200)
  for (const number of [phone, newPhone()]) {
    for (const type of ['sms', 'phone_change']) {
      for (const headers of [{}, sdk]) {
        const answer = await server.post('/resend', { type, phone: number }, headers)
        assert.deepEqual([answer.status, answer.body], [200, {}], `${type} ${number}`)
      }
    }
  }
  await until(() => server.log.some((line) => /\(confirmation\) failed permanently/.test(line)))
})
