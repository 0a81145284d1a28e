/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { testEnvironment } from '../support/auth-server.ts'

const quiet = {
  DATABASE_URL: 'postgres://localhost/db',
  AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
  AUTH_SMTP_HOST: 'localhost',
  AUTH_SMTP_PORT: '25',
}
const read = (env: Readonly<Record<string, string>>) =>
  parseConfig({ ...testEnvironment, ...quiet, ...env })
const on = { AUTH_PASSKEY_ENABLED: 'true' }

test('the relying party is derived from AUTH_SITE_URL by default', () => {
  const { config, faults, notes } = read({ ...on, AUTH_SITE_URL: 'https://Shop.example:8443/in' })
  assert.deepEqual([faults, notes], [[], []])
  assert.deepEqual(config.passkeys, {
    enabled: true,
    mostPerUser: 10,
    challengeExpiresInMs: 300_000,
    relyingParty: {
      id: 'shop.example',
      name: 'shop.example',
      origins: ['https://shop.example:8443'],
      requiresUserVerification: false,
    },
  })
  assert.equal(config.limits.passkey, 30)
  assert.equal(read({}).config.passkeys.enabled, false)
})

test('the relying party can be configured, also with the older names', () => {
  const { config, faults, notes } = read({
    GOTRUE_PASSKEY_ENABLED: 'true',
    GOTRUE_WEBAUTHN_RP_ID: 'Example.com',
    GOTRUE_WEBAUTHN_RP_DISPLAY_NAME: 'Example',
    GOTRUE_WEBAUTHN_RP_ORIGINS:
      'https://example.com/,https://app.example.com,android:apk-key-hash:abc',
    GOTRUE_WEBAUTHN_CHALLENGE_EXPIRY_DURATION: '90s',
    GOTRUE_PASSKEY_MAX_PASSKEYS_PER_USER: '2',
    AUTH_WEBAUTHN_REQUIRE_USER_VERIFICATION: 'true',
  })
  assert.deepEqual([faults, notes], [[], []])
  assert.deepEqual(config.passkeys, {
    enabled: true,
    mostPerUser: 2,
    challengeExpiresInMs: 90_000,
    relyingParty: {
      id: 'example.com',
      name: 'Example',
      origins: ['https://example.com', 'https://app.example.com', 'android:apk-key-hash:abc'],
      requiresUserVerification: true,
    },
  })
})

test('a relying party that no browser would accept stops the start', () => {
  const wrongIds = ['127.0.0.1', 'https://example.com', 'example.com:8080', 'a b', '-a.com']
  for (const id of wrongIds) {
    const { faults } = read({ ...on, AUTH_WEBAUTHN_RP_ID: id })
    assert.deepEqual(
      faults.map(({ variable }) => variable),
      ['AUTH_WEBAUTHN_RP_ID'],
      id,
    )
  }
  for (const siteUrl of ['http://127.0.0.1:3000', 'http://[::1]:3000']) {
    const [fault, ...more] = read({ ...on, AUTH_SITE_URL: siteUrl }).faults
    assert.deepEqual([fault?.variable, more], ['AUTH_WEBAUTHN_RP_ID', []])
    assert.match(fault?.message ?? '', /do not accept an IP address/)
  }
  for (const origin of ['example.com', 'https://example.com/login', '*']) {
    const { faults } = read({
      ...on,
      AUTH_WEBAUTHN_RP_ID: 'example.com',
      AUTH_WEBAUTHN_RP_ORIGINS: origin,
    })
    assert.deepEqual(
      faults.map(({ variable }) => variable),
      ['AUTH_WEBAUTHN_RP_ORIGINS'],
      origin,
    )
  }
})

test('WebAuthn factors need the relying party too; if both are off it is not checked', () => {
  const site = { AUTH_SITE_URL: 'http://127.0.0.1:3000' }
  assert.deepEqual(read(site).faults, [])
  for (const name of ['AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED', 'AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED']) {
    assert.equal(read({ ...site, [name]: 'true' }).faults.length, 1)
  }
})

test('origins on which browsers would refuse the passkeys cause a warning', () => {
  const site = { ...on, AUTH_WEBAUTHN_RP_ID: 'example.com' }
  const notesOn = (origin: string) => read({ ...site, AUTH_WEBAUTHN_RP_ORIGINS: origin }).notes
  assert.match(notesOn('http://example.com').join(), /does not use TLS/)
  assert.match(notesOn('https://badexample.com').join(), /not part of example.com/)
  const local = read({ ...on, AUTH_SITE_URL: 'http://localhost:3000' })
  assert.deepEqual([local.faults, local.notes], [[], []])
})
