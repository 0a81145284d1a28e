/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../src/config/config.ts'
import { testEnvironment } from '../support/auth-server.ts'

const parse = (env: Readonly<Record<string, string>>) =>
  parseConfig({ ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth', ...env })
const faultsOf = (env: Readonly<Record<string, string>>) => parse(env).faults.map(toFaultText)

test('by default passwords are stored with bcrypt and no leak service is used', () => {
  assert.deepEqual(parse({}).config.passwords, { hash: 'bcrypt', leaks: undefined })
  const env = { AUTH_PASSWORD_HASH: 'argon2id', GOTRUE_PASSWORD_HIBP_ENABLED: 'true' }
  assert.deepEqual(parse(env).config.passwords, {
    hash: 'argon2id',
    leaks: { failsClosed: false, userAgent: 'portcullis-auth' },
  })
  assert.match(faultsOf({ AUTH_PASSWORD_HASH: 'md5' }).join(), /^AUTH_PASSWORD_HASH="md5": must be/)
})

test('the user agent for the leak service must be a valid header value', () => {
  assert.deepEqual(faultsOf({ AUTH_PASSWORD_HIBP_USER_AGENT: 'Site (https://site.example)' }), [])
  const [fault] = faultsOf({ AUTH_PASSWORD_HIBP_USER_AGENT: 'Sïte' })
  assert.match(fault ?? '', /^AUTH_PASSWORD_HIBP_USER_AGENT="Sïte": must be/)
})

test('the CAPTCHA timeout must be longer than zero', () => {
  const env = { AUTH_SECURITY_CAPTCHA_ENABLED: 'true', AUTH_SECURITY_CAPTCHA_SECRET: 'secret' }
  assert.deepEqual(faultsOf({ ...env, AUTH_SECURITY_CAPTCHA_TIMEOUT: '1ms' }), [])
  const [fault] = faultsOf({ ...env, AUTH_SECURITY_CAPTCHA_TIMEOUT: '0s' })
  assert.match(fault ?? '', /^AUTH_SECURITY_CAPTCHA_TIMEOUT="0s": must be longer than 0/)
})

test('authorized addresses are compared case-insensitively', () => {
  const env = { AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'Ada@Team.example,b@c.example' }
  const { authorizedAddresses } = parse(env).config.mail
  assert.deepEqual(authorizedAddresses, ['ada@team.example', 'b@c.example'])
})
