/**
 * @servers postgres
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../../src/config/config.ts'
import { testEnvironment } from '../../support/auth-server.ts'
import { hookSecret } from '../../support/hook-receiver.ts'
import { toMailEnvironment } from '../../support/mail-environment.ts'

type Env = Readonly<Record<string, string>>

const read = (env: Env) =>
  parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://localhost/shop',
    ...toMailEnvironment(25),
    ...env,
  })
const hook = (uri: string, more: Env = {}): Env => ({
  AUTH_HOOK_BEFORE_USER_CREATED_ENABLED: 'true',
  AUTH_HOOK_BEFORE_USER_CREATED_URI: uri,
  AUTH_HOOK_BEFORE_USER_CREATED_SECRETS: hookSecret,
  ...more,
})
const targetOf = (uri: string, more: Env = {}) => {
  const { config, faults } = read(hook(uri, more))
  return faults.length > 0
    ? faults.map(({ variable, message }) => [variable, message])
    : config.hooks.beforeUserCreated?.target
}

test('all hooks are off until they are enabled', () => {
  const { config, faults } = read(
    hook('https://hook.example/', { AUTH_HOOK_BEFORE_USER_CREATED_ENABLED: 'false' }),
  )
  assert.deepEqual(faults, [])
  assert.equal(Object.keys(config.hooks).length, 7)
  assert.ok(Object.values(config.hooks).every((each) => each === undefined))
})

test('each of the seven hooks has its variables, also with their older names', () => {
  const names = [
    ['SEND_SMS', 'sendSms'],
    ['SEND_EMAIL', 'sendEmail'],
    ['CUSTOM_ACCESS_TOKEN', 'customAccessToken'],
    ['MFA_VERIFICATION_ATTEMPT', 'mfaVerificationAttempt'],
    ['PASSWORD_VERIFICATION_ATTEMPT', 'passwordVerificationAttempt'],
    ['BEFORE_USER_CREATED', 'beforeUserCreated'],
    ['AFTER_USER_CREATED', 'afterUserCreated'],
  ] as const
  for (const [name, key] of names) {
    const { config, faults } = read({
      [`AUTH_HOOK_${name}_ENABLED`]: 'true',
      [`GOTRUE_HOOK_${name}_URI`]: 'https://hook.example/a?b=c',
      [`GOTRUE_HOOK_${name}_SECRETS`]: `${hookSecret}|v1,whsec_bmV3ZXI=`,
    })
    assert.deepEqual(faults, [], name)
    assert.deepEqual(config.hooks[key], {
      target: { kind: 'http', url: 'https://hook.example/a?b=c', isInternalAllowed: false },
      secrets: ['c2VjcmV0IG9mIHR3ZW50eS1mb3VyIGJ5dGVz', 'bmV3ZXI='],
    })
  }
})

test('a hook target is an https URL, a local http URL or a database function', () => {
  const http = (url: string, isInternalAllowed: boolean) => ({
    kind: 'http',
    url,
    isInternalAllowed,
  })
  const of = (schema: string, functionName: string) => ({ kind: 'function', schema, functionName })
  assert.deepEqual(targetOf('https://hook.example'), http('https://hook.example/', false))
  for (const host of ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal']) {
    assert.deepEqual(targetOf(`http://${host}:8000/x`), http(`http://${host}:8000/x`, true))
  }
  assert.deepEqual(
    targetOf('https://hooks.internal/', { AUTH_HOOK_ALLOWED_HOSTS: 'hooks.internal' }),
    http('https://hooks.internal/', true),
  )
  assert.deepEqual(targetOf('pg-functions://postgres/public/New_1$'), of('public', 'New_1$'))
  assert.deepEqual(targetOf('PG-functions://shop/hooks/check/'), of('hooks', 'check'))
})

test('an invalid hook target is refused with the name of its variable', () => {
  const name = 'AUTH_HOOK_BEFORE_USER_CREATED_URI'
  const refused = (uri: string, message: RegExp, more: Env = {}) => {
    const result = targetOf(uri, more)
    assert.ok(Array.isArray(result), uri)
    assert.equal(result.length, 1)
    assert.equal(result[0]?.[0], name)
    assert.match(result[0]?.[1] ?? '', message)
  }
  refused('', /^is required when AUTH_HOOK_BEFORE_USER_CREATED_ENABLED is true$/)
  refused('hook.example', /^must be https:\/\/… or pg-functions:/)
  refused('ftp://hook.example/', /^must be https:\/\/… or pg-functions:/)
  refused(
    'http://hook.example/',
    /^must start with https:\/\/\. http:\/\/ is allowed only for localhost, 127\.0\.0\.1/,
  )
  refused('http://localhost.evil.example/', /^must start with https/)
  const inside = /points to .* not a public address. To allow it, add it to AUTH_HOOK_ALLOWED_HOSTS/
  for (const host of ['10.0.0.1', '127.0.0.2', '0x7f000002', '[::ffff:10.0.0.1]', '[fd00::1]']) {
    refused(`https://${host}/`, inside)
  }
  const allowed = { AUTH_HOOK_ALLOWED_HOSTS: '169.254.169.254' }
  refused('https://169.254.169.254/', /which is not a public address$/, allowed)
  refused('pg-functions://postgres/public', /^must be https:\/\/… or pg-functions:/)
  refused('pg-functions://postgres/public/a/b', /^must name a schema and a function/)
  refused('pg-functions://postgres/public/a"(); drop', /^must name a schema and a function/)
  refused('pg-functions://postgres/1public/a', /^must name a schema and a function/)
  refused('pg-functions://other/public/a', /^names the database other, but .* server's own/)
})

test('secrets have the format of Standard Webhooks and are never shown', () => {
  const variable = 'AUTH_HOOK_BEFORE_USER_CREATED_SECRETS'
  for (const secrets of ['whsec_abcd', 'v1,abcd', 'v1,whsec_', 'v1,whsec_a', `${hookSecret}|x`]) {
    const { faults } = read(hook('https://hook.example/', { [variable]: secrets }))
    assert.deepEqual(
      faults.map((fault) => fault.variable),
      [variable],
    )
    assert.doesNotMatch(faults.map(toFaultText).join(), /abcd|whsec_[a-z]|twenty/)
  }
  const { faults, notes } = read(hook('https://hook.example/', { [variable]: '' }))
  assert.deepEqual(faults, [])
  assert.ok(notes.some((note) => note.startsWith(`${variable} is not set`)))
})

test('no mail server is needed with a send email hook', () => {
  const env = {
    ...testEnvironment,
    DATABASE_URL: 'postgres://localhost/shop',
    AUTH_MAILER_AUTOCONFIRM: 'false',
  }
  assert.equal(parseConfig(env).faults.length, 3)
  const { config, faults } = parseConfig({
    ...env,
    AUTH_HOOK_SEND_EMAIL_ENABLED: 'true',
    AUTH_HOOK_SEND_EMAIL_URI: 'https://hook.example/',
    AUTH_HOOK_SEND_EMAIL_SECRETS: hookSecret,
  })
  assert.deepEqual([faults, config.mail.smtp], [[], undefined])
})

test('no gateway is needed with a send SMS hook', () => {
  const { config, faults, notes } = read({
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_HOOK_SEND_SMS_ENABLED: 'true',
    AUTH_HOOK_SEND_SMS_URI: 'https://hook.example/',
    AUTH_HOOK_SEND_SMS_SECRETS: hookSecret,
  })
  assert.deepEqual([faults, notes], [[], []])
  assert.equal(config.sms.gateway.isReady, true)
})
