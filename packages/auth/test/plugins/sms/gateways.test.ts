/**
 * @servers postgres
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../../src/config/config.ts'
import { describeFailure, UndeliverableError } from '../../../src/messages/sending/failures.ts'
import { createSmsChannel } from '../../../src/messages/sending/sms-channel.ts'
import type { OutboxRow } from '../../../src/messages/statements/outbox.ts'
import { gateways, type SmsGatewayName } from '../../../src/plugins/sms/index.ts'
import { testEnvironment } from '../../support/auth-server.ts'
import {
  type GatewayServer,
  gatewayShapes,
  openGatewayServer,
  withUrl,
} from '../../support/sms-gateways.ts'

const to = '15550100001'
const code = '246810'

function toRow(fields: Partial<OutboxRow> = {}): OutboxRow {
  return {
    id: 1,
    channel: 'sms',
    kind: 'confirmation',
    recipient: to,
    payload: { Code: code, Channel: 'sms' },
    attempts: 1,
    created_at: '2026-01-01T00:00:00Z',
    expires_in_ms: 60_000,
    ...fields,
  }
}

interface Sending {
  readonly env?: Readonly<Record<string, string>>
  readonly row?: OutboxRow
  readonly timeoutMs?: number
  readonly maxBytes?: number
}

/** Sends one message through the outbox channel to a local server. */
async function send(
  name: SmsGatewayName,
  server: Pick<GatewayServer, 'url'>,
  sending: Sending = {},
) {
  const { env = {}, row = toRow(), timeoutMs = 10_000, maxBytes = 65_536 } = sending
  const { config, faults } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://nowhere/x',
    ...withUrl(gatewayShapes[name].env, server.url),
    ...env,
  })
  assert.deepEqual(faults, [])
  const deliver = createSmsChannel({
    config,
    baseUrl: server.url,
    limits: { timeoutMs, maxBytes },
  })
  await deliver(row, new AbortController().signal)
}

const names = Object.keys(gatewayShapes).filter((name): name is SmsGatewayName => name in gateways)

test('every gateway in the registry has a test shape', () => {
  assert.deepEqual(names.toSorted(), Object.keys(gateways).toSorted())
})

test('every gateway uses its documented URL', () => {
  const message = { to, text: 'x', code, channel: 'sms' } as const
  const urls = names
    .filter((name) => name !== 'webhook')
    .map((name) => {
      const { gateway } = parseConfig({ ...gatewayShapes[name].env }).config.sms
      assert.ok(gateway.isReady, name)
      return gateways[name].toRequest(message, gateway.settings, gateways[name].baseUrl).url
    })
  assert.deepEqual(urls, [
    'https://api.twilio.com/2010-04-01/Accounts/AC00000000000000000000000000000001/Messages.json',
    'https://verify.twilio.com/v2/Services/VA00000000000000000000000000000003/Verifications',
    'https://rest.messagebird.com/messages',
    'https://api.textlocal.in/send',
    'https://rest.nexmo.com/sms/json',
  ])
})

for (const name of names) {
  const { assertCall, accepted, refused } = gatewayShapes[name]

  test(`${name} receives requests as documented`, async (t) => {
    const server = await openGatewayServer(t, accepted)
    await send(name, server)
    await send(name, server, {
      env: { AUTH_SMS_TEMPLATE: '{{ .Code }} – für Sie\n\n@site.example #{{ .Code }}' },
    })
    const [plain, unicode] = server.calls
    assert.ok(plain && unicode && server.calls.length === 2)
    assertCall(plain, { to, text: `Your code is ${code}`, code })
    // Browsers can fill in the code from the last line.
    assertCall(unicode, { to, text: `${code} – für Sie\n\n@site.example #${code}`, code })
  })

  test(`${name} may refuse a message temporarily or permanently`, async (t) => {
    const server = await openGatewayServer(t, accepted)
    for (const { reply, reason, isFinal } of refused) {
      server.reply = reply
      await assert.rejects(send(name, server), (error: Error) => {
        assert.match(error.message, reason)
        assert.equal(error instanceof UndeliverableError, isFinal, error.message)
        return true
      })
    }
  })

  test(`${name}: an outage is a temporary failure`, async (t) => {
    const server = await openGatewayServer(t, accepted)
    const isPassing = (pattern: RegExp) => (error: Error) => {
      assert.match(error.message, pattern)
      return !(error instanceof UndeliverableError)
    }
    for (const reply of [
      { status: 500, body: 'oops' },
      { status: 503, body: { message: 'busy' } },
      { status: 429, body: '' },
    ]) {
      server.reply = reply
      await assert.rejects(send(name, server), isPassing(/response status was|responded with|busy/))
    }
    server.reply = { status: 200, body: 'x'.repeat(2_000) }
    await assert.rejects(
      send(name, server, { maxBytes: 1_000 }),
      isPassing(/^the response of 127\.0\.0\.1:\d+ is longer than 1000 bytes$/),
    )
    server.reply = null
    await assert.rejects(
      send(name, server, { timeoutMs: 50 }),
      isPassing(/^127\.0\.0\.1:\d+ did not respond within 50 ms$/),
    )
    await assert.rejects(
      send(name, { url: 'http://127.0.0.1:1' }),
      isPassing(/^127\.0\.0\.1:1 cannot be reached: /),
    )
  })

  test(`${name}: redirects are not followed, so messages and credentials stay with the gateway`, async (t) => {
    const elsewhere = await openGatewayServer(t, accepted)
    const location = `${elsewhere.url}/`
    const server = await openGatewayServer(t, { status: 307, body: '', headers: { location } })
    await assert.rejects(send(name, server))
    assert.deepEqual([server.calls.length, elsewhere.calls.length], [1, 0])
  })
}

test('WhatsApp messages through Twilio', async (t) => {
  const server = await openGatewayServer(t, gatewayShapes.twilio.accepted)
  const row = toRow({ payload: { Code: code, Channel: 'whatsapp' } })
  await send('twilio', server, { row })
  await send('twilio', server, {
    row,
    env: {
      AUTH_SMS_GATEWAYA_MESSAGE_SERVICE_SID: '+15550199999',
      AUTH_SMS_TWILIO_CONTENT_SID: 'HX1',
    },
  })
  const forms = server.calls.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))
  const common = { To: `whatsapp:+${to}`, Channel: 'whatsapp', Body: `Your code is ${code}` }
  assert.deepEqual(forms, [
    { ...common, From: 'MG00000000000000000000000000000002' },
    {
      ...common,
      From: 'whatsapp:+15550199999',
      ContentSid: 'HX1',
      ContentVariables: `{"1":"${code}"}`,
    },
  ])
})

test('a webhook without a secret gets no authorization header, but gets the channel', async (t) => {
  const server = await openGatewayServer(t, gatewayShapes.webhook.accepted)
  const row = toRow({ payload: { Code: code, Channel: 'whatsapp' } })
  await send('webhook', server, { row, env: { AUTH_SMS_WEBHOOK_SECRET: '' } })
  const [call] = server.calls
  assert.equal(call?.headers.authorization, undefined)
  assert.equal(JSON.parse(call?.body ?? '').channel, 'whatsapp')
})

test('phone factors have a separate template', async (t) => {
  const server = await openGatewayServer(t, gatewayShapes.webhook.accepted)
  const env = { AUTH_MFA_PHONE_TEMPLATE: 'Second step: {{ .Code }}' }
  await send('webhook', server, { row: toRow({ kind: 'mfa_code' }), env })
  await send('webhook', server, { env })
  const texts = server.calls.map(({ body }) => JSON.parse(body).message)
  assert.deepEqual(texts, [`Second step: ${code}`, `Your code is ${code}`])
})

test('a message without a usable gateway is undeliverable, with the reason', async () => {
  for (const [env, problem] of [
    [{ AUTH_SMS_PROVIDER: '' }, 'sms Provider  could not be found'],
    [{ AUTH_SMS_GATEWAYA_AUTH_TOKEN: '' }, 'missing Twilio auth token'],
  ] as const) {
    const sent = send('twilio', { url: 'http://127.0.0.1:1' }, { env })
    await assert.rejects(sent, new UndeliverableError(problem))
  }
})

test('gateway errors are logged without the code and the phone number', () => {
  const error = new Error(`Cannot send "Your code is ${code}"\nto +${to}`)
  assert.equal(describeFailure(error, toRow()), 'Cannot send "Your code is …" to +…001')
})
