/**
 * @servers postgres
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AnyVariable, toFaultText } from '@portcullis/service-kit/settings/env'
import { chapters, parseConfig } from '../../src/config/config.ts'
import { createSmsChannel } from '../../src/messages/sending/sms-channel.ts'
import type { SmsGatewayName } from '../../src/plugins/sms/index.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { errorOf } from '../support/flow-server.ts'
import { password } from '../support/http-client.ts'
import { openPhoneInbox } from '../support/phone-inbox.ts'
import { newPhone, openPhoneServer } from '../support/phone-server.ts'
import { gatewayShapes, openGatewayServer } from '../support/sms-gateways.ts'
import { rfc3339 } from './people.ts'

type Env = Readonly<Record<string, string>>

const all: readonly AnyVariable[] = Object.values(chapters).flatMap(({ variables }) =>
  Object.values(variables),
)
const defaultOf = (name: string) =>
  all.find((variable) => variable.name === `AUTH_${name}`)?.defaultText
const parse = (env: Env) =>
  parseConfig({ ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth', ...env })
const faultsOf = (env: Env) => parse(env).faults.map(toFaultText)

test('Phones', async (t) => {
  const server = await openPhoneServer(t)
  if (!server) return
  const { post, call, clock, textsTo, codeTo } = server
  t.afterEach(() => {
    clock.aheadMs = 0
  })

  await t.test('Endpoints › POST /signup: {phone (E.164), password}, user record', async () => {
    const phone = newPhone()
    const { status, body } = await post('/signup', { phone: `+${phone}`, password })
    assert.deepEqual([status, body.phone, body.access_token], [200, phone, undefined])
    assert.match(body.confirmation_sent_at, rfc3339)
  })

  await t.test(
    'Endpoints › POST /verify: for SMS {type: sms, token, phone, redirect_to}',
    async () => {
      const phone = `+${newPhone()}`
      await post('/signup', { phone, password })
      const token = await codeTo(phone.slice(1))
      const redirect_to = 'https://site.example/welcome'
      const { status, body } = await post('/verify', { type: 'sms', token, phone, redirect_to })
      assert.equal(status, 200)
      assert.deepEqual([body.token_type, body.expires_in], ['bearer', 3600])
      assert.ok(body.access_token && body.refresh_token)
    },
  )

  await t.test('Endpoints › POST /otp: {phone} sends an SMS OTP', async () => {
    const phone = newPhone()
    const { status, body } = await post('/otp', { phone: `+${phone}` })
    assert.deepEqual([status, body], [200, {}])
    assert.match(await codeTo(phone), /^\d{6}$/)
  })

  await t.test(
    'Endpoints › PUT /user: `phone`; user record with `phone_change_sent_at`',
    async () => {
      const { token } = await server.newPerson()
      const phone = newPhone()
      const { status, body } = await call(token, '/user', { phone: `+${phone}` }, 'PUT')
      assert.equal(status, 200)
      assert.match(body.phone_change_sent_at, rfc3339)
      assert.equal((await textsTo(phone)).length, 1)
    },
  )

  await t.test('Endpoints › GET /reauthenticate: sends a nonce to the phone', async () => {
    const { token, phone } = await server.newPerson()
    const { status, body } = await call(token, '/reauthenticate')
    assert.deepEqual([status, body], [200, {}])
    assert.deepEqual(
      (await textsTo(phone)).map(({ kind }) => kind),
      ['reauthentication'],
    )
  })

  await t.test('Limits › minimum gap between SMS OTPs: 60 seconds by default', async () => {
    const phone = newPhone()
    await post('/otp', { phone })
    clock.aheadMs += 45_000
    await post('/otp', { phone })
    assert.equal((await textsTo(phone)).length, 1)
    clock.aheadMs += 15_500
    await post('/otp', { phone })
    assert.equal((await textsTo(phone)).length, 2)
  })
})

test('Phones without confirmation', async (t) => {
  const server = await openPhoneServer(t, { AUTH_SMS_AUTOCONFIRM: 'true', AUTH_SMS_PROVIDER: '' })
  if (!server) return
  const phone = newPhone()
  const signUp = () => server.post('/signup', { phone, password })

  await t.test('Configuration › SMS_AUTOCONFIRM: default false', async () => {
    assert.equal(defaultOf('SMS_AUTOCONFIRM'), 'false')
    assert.equal(faultsOf({ AUTH_SMS_AUTOCONFIRM: 'maybe' }).length, 1)
    const { status, body } = await signUp()
    assert.equal(status, 200)
    assert.ok(body.access_token && body.user.phone_confirmed_at)
  })

  await t.test(
    'Endpoints › POST /signup: with autoconfirm on and a duplicate phone signup, error body',
    async () => {
      const { status, body } = await signUp()
      assert.deepEqual([status, body.code, body.msg], [400, 400, 'User already registered'])
    },
  )
})

test('SMS settings', async (t) => {
  const inbox = await openPhoneInbox(t)
  const server = await openPhoneServer(t, {
    ...inbox.env,
    AUTH_SMS_MAX_FREQUENCY: '90',
    AUTH_SMS_OTP_EXP: '300',
    AUTH_SMS_OTP_LENGTH: '8',
  })
  if (!server) return
  const { post, query, clock } = server
  t.afterEach(() => {
    clock.aheadMs = 0
  })
  const sentAt = async (phone: string) =>
    (await query('select confirmation_sent_at as at from users where phone = $1', [phone]))[0].at

  await t.test(
    'What the service does › sends SMS (through one configured SMS gateway)',
    async () => {
      const phone = newPhone()
      await post('/otp', { phone })
      assert.match((await inbox.readNext(phone)).text, /^Your code is \d{8}$/)
    },
  )

  await t.test('Events › SMS OTP: POST /otp with phone, phone signup', async () => {
    const [forCode, signedUp] = [newPhone(), newPhone()]
    await post('/otp', { phone: forCode })
    await post('/signup', { phone: signedUp, password })
    for (const phone of [forCode, signedUp]) {
      const { text } = await inbox.readNext(phone)
      const [token] = /\d{8}/.exec(text) ?? []
      assert.equal((await post('/verify', { type: 'sms', phone, token })).status, 200)
    }
  })

  await t.test('Configuration › SMS_MAX_FREQUENCY: number seconds, default 60', async () => {
    assert.equal(defaultOf('SMS_MAX_FREQUENCY'), '60')
    for (const good of ['0', '90', '2m']) {
      assert.deepEqual(faultsOf({ AUTH_SMS_MAX_FREQUENCY: good }), [], good)
    }
    assert.equal(faultsOf({ AUTH_SMS_MAX_FREQUENCY: 'often' }).length, 1)
    const phone = newPhone()
    await post('/otp', { phone })
    const first = await sentAt(phone)
    clock.aheadMs += 65_000
    await post('/otp', { phone })
    assert.equal(await sentAt(phone), first)
    clock.aheadMs += 26_000
    await post('/otp', { phone })
    assert.notEqual(await sentAt(phone), first)
  })

  await t.test('Configuration › SMS_OTP_EXP: number, SMS_OTP_LENGTH: number', async () => {
    assert.deepEqual([defaultOf('SMS_OTP_EXP'), defaultOf('SMS_OTP_LENGTH')], ['60', '6'])
    assert.equal(faultsOf({ AUTH_SMS_OTP_EXP: 'long' }).length, 1)
    assert.equal(faultsOf({ AUTH_SMS_OTP_LENGTH: 'some' }).length, 1)
    const phone = newPhone()
    const send = async () => {
      await post('/otp', { phone })
      const [token = ''] = /\d+/.exec((await inbox.readNext(phone)).text) ?? []
      assert.match(token, /^\d{8}$/)
      return () => post('/verify', { type: 'sms', phone, token })
    }
    const early = await send()
    clock.aheadMs += 250_000
    assert.equal((await early()).status, 200)
    const late = await send()
    clock.aheadMs += 301_000
    const expired = [403, 'otp_expired', 'Token has expired or is invalid']
    assert.deepEqual(errorOf(await late()), expired)
  })
})

/** Sends one message through the configured gateway to a server with its documented protocol. */
async function sendBy(t: TestContext, name: SmsGatewayName, provider: string): Promise<void> {
  const { env, assertCall, accepted } = gatewayShapes[name]
  const gateway = await openGatewayServer(t, accepted)
  const { config, faults } = parse({ ...env, AUTH_SMS_PROVIDER: provider })
  assert.deepEqual(faults, [])
  const message = { to: newPhone(), text: 'Your code is 123456', code: '123456' }
  await createSmsChannel({ config, baseUrl: gateway.url })(
    {
      id: 1,
      channel: 'sms',
      kind: 'confirmation',
      recipient: message.to,
      payload: { Code: message.code },
      attempts: 1,
      created_at: '',
      expires_in_ms: 60_000,
    },
    new AbortController().signal,
  )
  const [call] = gateway.calls
  assert.ok(call)
  assertCall(call, message)
}

test('Configuration › SMS_PROVIDER: one of four gateway identifiers', async (t) => {
  for (const name of ['twilio', 'messagebird', 'textlocal', 'vonage'] as const) {
    await sendBy(t, name, name)
  }
  // The server does not start with any other value.
  const [fault] = parse({ AUTH_SMS_PROVIDER: 'pigeon' }).faults
  assert.equal(fault?.variable, 'AUTH_SMS_PROVIDER')
})

test('Configuration › SMS_GATEWAYA_…: credentials of the first gateway', async (t) => {
  await sendBy(t, 'twilio', 'gatewaya')
  const { AUTH_SMS_GATEWAYA_AUTH_TOKEN: _, ...rest } = gatewayShapes.twilio.env
  const { gateway } = parse(rest).config.sms
  assert.ok(!gateway.isReady && gateway.problem === 'missing Twilio auth token')
})

test('Configuration › SMS_GATEWAYB_…: credentials of the second gateway', async (t) => {
  await sendBy(t, 'messagebird', 'gatewayb')
  const { AUTH_SMS_GATEWAYB_ORIGINATOR: _, ...rest } = gatewayShapes.messagebird.env
  const { gateway } = parse(rest).config.sms
  assert.ok(!gateway.isReady && gateway.problem === 'missing Messagebird originator')
})
