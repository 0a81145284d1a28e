/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { testEnvironment } from '../support/auth-server.ts'

const base = { ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth' }

test('the OAuth server is disabled, and enabling it warns that users cannot sign in', () => {
  const off = parseConfig(base)
  assert.equal(off.config.oauthServer.enabled, false)
  assert.ok(!off.notes.some((note) => note.includes('OAUTH_SERVER')))
  for (const name of ['AUTH_OAUTH_SERVER_ENABLED', 'GOTRUE_OAUTH_SERVER_ENABLED']) {
    const { config, faults, notes } = parseConfig({ ...base, [name]: 'true' })
    assert.deepEqual([config.oauthServer.enabled, faults], [true, []])
    assert.deepEqual(
      notes.filter((note) => note.includes('OAUTH_SERVER')),
      [
        `${name} allows administrators to register OAuth clients, but users cannot sign in to them: /oauth/authorize and /oauth/token are not supported`,
      ],
    )
  }
})
