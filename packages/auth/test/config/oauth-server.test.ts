/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { signingKeys } from '../support/signing-keys.ts'

const base = { ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth' }

/** The notes and faults about the OAuth server. */
function read(environment: Readonly<Record<string, string>>) {
  const { config, faults, notes } = parseConfig({ ...base, ...environment })
  const about = notes.filter((note) => note.includes('OAUTH_SERVER'))
  return { ...config.oauthServer, faults: faults.map(({ message }) => message), notes: about }
}

test('the OAuth server is disabled by default, and can be enabled under both names', () => {
  const off = read({})
  assert.deepEqual([off.enabled, off.notes], [false, []])
  for (const name of ['AUTH_OAUTH_SERVER_ENABLED', 'GOTRUE_OAUTH_SERVER_ENABLED']) {
    const { enabled, faults, notes } = read({ [name]: 'true', AUTH_JWT_KEYS: signingKeys })
    assert.deepEqual([enabled, faults, notes], [true, [], []])
  }
})

test('a shared secret is noted, because clients cannot verify tokens with it', () => {
  const { faults, notes } = read({ AUTH_OAUTH_SERVER_ENABLED: 'true' })
  assert.deepEqual(faults, [])
  assert.match(notes.join(), /^AUTH_OAUTH_SERVER_ENABLED is true, .* Set AUTH_JWT_KEYS to a key/)
})

test('the built-in page is refused with a CAPTCHA, which it could not show', () => {
  const environment = {
    AUTH_OAUTH_SERVER_ENABLED: 'true',
    AUTH_JWT_KEYS: signingKeys,
    AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
    AUTH_SECURITY_CAPTCHA_SECRET: 'secret',
  }
  const [fault] = read(environment).faults
  assert.match(fault ?? '', /is required if a CAPTCHA is configured/)
  const path = { AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '/consent' }
  assert.deepEqual(read({ ...environment, ...path }).faults, [])
})

test('invalid scopes, resources, URLs and durations are reported', () => {
  const { faults } = read({
    AUTH_OAUTH_SERVER_SCOPES: 'read,"write"',
    AUTH_OAUTH_SERVER_RESOURCES: 'https://api.example,api',
    AUTH_OAUTH_SERVER_PAGE_STYLESHEET: 'style.css',
    AUTH_OAUTH_SERVER_AUTHORIZATION_TTL: '2h',
  })
  assert.equal(faults.length, 4)
})
