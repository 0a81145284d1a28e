/**
 * @servers postgres
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../../src/config/config.ts'
import { gateways } from '../../../src/plugins/sms/index.ts'
import { testEnvironment } from '../../support/auth-server.ts'
import { gatewayShapes } from '../../support/sms-gateways.ts'

function read(env: Readonly<Record<string, string>>) {
  const { config, faults, notes } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://db.example/auth',
    ...env,
  })
  return {
    sms: config.sms,
    faults: faults.map(toFaultText),
    notes: notes.filter((note) => note.includes('_SMS_')),
  }
}

test('every gateway works with its settings, and the missing one is named', () => {
  for (const [name, { channels, required }] of Object.entries(gateways)) {
    const { env } = Object.entries(gatewayShapes).find(([each]) => each === name)?.[1] ?? {}
    assert.ok(env, name)
    const ready = read({ ...env, AUTH_SMS_WEBHOOK_URL: 'https://sms.example/' })
    assert.deepEqual([ready.sms.gateway.isReady, ready.faults, ready.notes], [true, [], []], name)
    const bare = read({ AUTH_SMS_PROVIDER: name })
    const [problem] = Object.values(required)
    assert.deepEqual(bare.sms.gateway, { isReady: false, isKnown: true, channels, problem })
    assert.deepEqual(bare.faults, [])
    const note = `AUTH_SMS_PROVIDER is ${name}: ${problem}. No text message can be sent`
    assert.deepEqual(bare.notes, [note])
    const fault = `AUTH_SMS_PROVIDER="${name}": cannot send text messages: ${problem}`
    for (const needed of [
      'AUTH_EXTERNAL_PHONE_ENABLED',
      'AUTH_MFA_PHONE_ENROLL_ENABLED',
      'AUTH_MFA_PHONE_VERIFY_ENABLED',
    ]) {
      const used = { AUTH_SMS_PROVIDER: name, [needed]: 'true' }
      assert.deepEqual([read(used).faults, read(used).notes], [[fault], []], needed)
      const hooked = {
        AUTH_HOOK_SEND_SMS_ENABLED: 'true',
        AUTH_HOOK_SEND_SMS_URI: 'pg-functions://postgres/public/send_sms',
      }
      assert.deepEqual(read({ ...used, ...hooked }).faults, [], needed)
    }
    const upstream = read({ GOTRUE_SMS_PROVIDER: name, GOTRUE_EXTERNAL_PHONE_ENABLED: 'true' })
    assert.deepEqual([upstream.faults, upstream.notes], [[], [note.replace('AUTH_', 'GOTRUE_')]])
    const tested = { AUTH_SMS_TEST_OTP: '15550100:123456', AUTH_EXTERNAL_PHONE_ENABLED: 'true' }
    assert.deepEqual(read({ AUTH_SMS_PROVIDER: name, ...tested }).faults, [])
    const confirmed = { AUTH_EXTERNAL_PHONE_ENABLED: 'true', AUTH_SMS_AUTOCONFIRM: 'true' }
    assert.deepEqual(read({ AUTH_SMS_PROVIDER: name, ...confirmed }).faults, [])
  }
})

test('an unknown gateway is an error, except in upstream mode, and a missing one is a warning', () => {
  const { sms, faults, notes } = read({ AUTH_SMS_PROVIDER: 'Pigeon' })
  const problem = 'sms Provider pigeon could not be found'
  assert.deepEqual(sms.gateway, { isReady: false, isKnown: false, channels: ['sms'], problem })
  const names = 'twilio, messagebird, textlocal, vonage, webhook, twilio_verify'
  assert.deepEqual(faults, [`AUTH_SMS_PROVIDER="Pigeon": must be one of: ${names}`])
  assert.deepEqual(notes, [])
  const upstream = read({ GOTRUE_SMS_PROVIDER: 'Pigeon' })
  assert.deepEqual([upstream.sms.gateway, upstream.faults], [sms.gateway, []])
  assert.deepEqual(upstream.notes, [
    `GOTRUE_SMS_PROVIDER must be one of: ${names}. No text message can be sent`,
  ])
  assert.deepEqual(read({}).notes, [])
  for (const used of ['AUTH_EXTERNAL_PHONE_ENABLED', 'AUTH_MFA_PHONE_VERIFY_ENABLED']) {
    const without = read({ [used]: 'true' })
    assert.deepEqual(without.faults, [])
    assert.deepEqual(without.notes, ['AUTH_SMS_PROVIDER is not set. No text message can be sent'])
  }
  assert.equal(read({ AUTH_SMS_PROVIDER: 'GATEWAYA' }).sms.provider, 'twilio')
})

test('test codes are parsed by phone number, with an expiry', () => {
  const codes = '+15550100:123456, 15550101:654321'
  const end = '2030-01-31T12:00:00+01:00'
  const { sms, faults, notes } = read({
    AUTH_SMS_TEST_OTP: codes,
    AUTH_SMS_TEST_OTP_VALID_UNTIL: end,
  })
  assert.deepEqual([faults, notes], [[], []])
  assert.deepEqual(
    [...sms.testCodes.byPhone],
    [
      ['15550100', '123456'],
      ['15550101', '654321'],
    ],
  )
  assert.equal(sms.testCodes.validUntilMs, Date.parse(end))
  const endless = read({ AUTH_SMS_TEST_OTP: codes })
  assert.equal(endless.sms.testCodes.validUntilMs, Number.POSITIVE_INFINITY)
  assert.equal(endless.notes.length, 1)
  for (const bad of ['0123:1', 'x:1', '15550100:']) {
    const [fault = ''] = read({ AUTH_SMS_TEST_OTP: bad }).faults
    assert.match(fault, /^AUTH_SMS_TEST_OTP="\S+:\*{5}": .+ (?:is not a phone number|has no code)/)
  }
  for (const bad of ['tomorrow', '2030-01-31', '2030-01-31T12:00:00']) {
    const [fault = ''] = read({ AUTH_SMS_TEST_OTP_VALID_UNTIL: bad }).faults
    assert.match(fault, /must be a time with a time zone/)
  }
})

test('message texts must be templates, and the webhook must be a URL', () => {
  for (const name of ['AUTH_SMS_TEMPLATE', 'AUTH_MFA_PHONE_TEMPLATE']) {
    const [fault = ''] = read({ [name]: '{{ .Code' }).faults
    assert.match(fault, new RegExp(`^${name}="{{ .Code": is not a valid template: `))
  }
  for (const url of ['sms.example', 'ftp://sms.example']) {
    assert.ok(read({ AUTH_SMS_WEBHOOK_URL: url }).faults.length > 0, url)
  }
})
