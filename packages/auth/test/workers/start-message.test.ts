/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deserialize, serialize } from 'node:v8'
import { chapters, parseConfig } from '../../src/config/config.ts'
import { toShare } from '../../src/workers/primary.ts'
import { testEnvironment } from '../support/auth-server.ts'

test('a worker receives the complete parsed configuration', () => {
  const { config } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://db.example/auth',
    AUTH_URI_ALLOW_LIST: 'https://*.example/**',
    AUTH_PASSWORD_REQUIRED_CHARACTERS: 'abc:123',
    AUTH_MAILER_EXTERNAL_HOSTS: 'a.example',
    AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
    AUTH_SMTP_HOST: 'mail.example',
    AUTH_SMTP_PORT: '25',
    AUTH_RATE_LIMIT_EMAIL_SENT: '10/2m',
    AUTH_SMS_TEST_OTP: '15550100:123456',
    AUTH_SESSIONS_TIMEBOX: '24h',
    AUTH_HOOK_SEND_EMAIL_ENABLED: 'true',
    AUTH_HOOK_SEND_EMAIL_URI: 'https://hook.example/',
    AUTH_HOOK_SEND_EMAIL_SECRETS: 'v1,whsec_c2VjcmV0',
    AUTH_HOOK_BEFORE_USER_CREATED_ENABLED: 'true',
    AUTH_HOOK_BEFORE_USER_CREATED_URI: 'pg-functions://postgres/public/check',
  })
  assert.deepEqual(deserialize(serialize(config)), config)
})

test('no setting has a value that cannot be serialized for a worker', () => {
  const { config } = parseConfig(testEnvironment)
  const visit = (value: unknown, path: string): void => {
    assert.notEqual(typeof value, 'function', path)
    if (typeof value !== 'object' || value === null) return
    assert.ok(
      [Object, Array, Map, Set, RegExp].some((kind) => kind === value.constructor),
      path,
    )
    for (const [name, inner] of Object.entries(value)) visit(inner, `${path}.${name}`)
  }
  visit(config, 'config')
  assert.ok(Object.keys(chapters).length > 5)
})

test('workers divide the connections that PostgreSQL allows', () => {
  assert.deepEqual([toShare(100, 1), toShare(100, 3), toShare(100, 200)], [100, 33, 1])
})
