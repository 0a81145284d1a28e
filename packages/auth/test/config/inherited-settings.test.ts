import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../src/config/config.ts'
import { testEnvironment } from '../support/auth-server.ts'

type Env = Readonly<Record<string, string>>

const required = { ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth' }
const mail = {
  AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
  AUTH_SMTP_HOST: 'mail.example',
  AUTH_SMTP_PORT: '25',
}
const configOf = (env: Env) => {
  const { config, faults } = parseConfig({ ...required, ...env })
  assert.deepEqual(faults, [])
  return config
}
const faultsOf = (env: Env) => parseConfig({ ...required, ...env }).faults.map(toFaultText)
const notesOf = (env: Env) => parseConfig({ ...required, ...env }).notes

const prefix = 'GOTRUE_SECURITY_DB_ENCRYPTION'
const newKey = () => randomBytes(32).toString('base64url')

test('GOTRUE_SECURITY_DB_ENCRYPTION_* name the key that encrypts and those that decrypt', () => {
  const [first, second] = [newKey(), newKey()]
  const env = {
    AUTH_SECRETS_KEY: '',
    [`${prefix}_ENCRYPT`]: 'true',
    [`${prefix}_ENCRYPTION_KEY_ID`]: 'b',
    [`${prefix}_ENCRYPTION_KEY`]: second,
    [`${prefix}_DECRYPTION_KEYS`]: `a:${first},b:${second}`,
  }
  const byId = new Map([
    ['a', first],
    ['b', second],
  ])
  assert.deepEqual(configOf(env).secrets, {
    encryption: second,
    all: [second, first],
    hashes: { currentId: 'b', byId },
  })
  assert.ok(!notesOf(env).some((note) => note.includes('AUTH_SECRETS_KEY')), 'no key is missing')
  const stopped = { ...env, [`${prefix}_ENCRYPT`]: 'false' }
  const kept = { currentId: undefined, byId }
  assert.deepEqual(configOf(stopped).secrets, {
    encryption: undefined,
    all: [first, second],
    hashes: kept,
  })
  assert.ok(notesOf(stopped).some((note) => note.startsWith('AUTH_SECRETS_KEY is not set')))
  const own = required.AUTH_SECRETS_KEY
  const moved = configOf({ ...stopped, AUTH_SECRETS_KEY: own })
  assert.deepEqual(moved.secrets, { encryption: own, all: [own, first, second], hashes: kept })
})

test('all faults of GOTRUE_SECURITY_DB_ENCRYPTION_* are reported at once, without the keys', () => {
  const found = faultsOf({
    [`${prefix}_ENCRYPT`]: 'true',
    [`${prefix}_ENCRYPTION_KEY`]: 'too-short-secret',
    [`${prefix}_DECRYPTION_KEYS`]: `a:${'x'.repeat(42)}`,
  })
  assert.equal(found.length, 4, found.join('\n'))
  const text = found.join('\n')
  assert.match(text, /DECRYPTION_KEYS=.+the key a must be 32 bytes in base64url without padding/)
  assert.match(text, /ENCRYPTION_KEY_ID is required if GOTRUE_\w+_ENCRYPT is true/)
  assert.match(text, /ENCRYPTION_KEY=.+must be 32 bytes in base64url/)
  assert.match(text, /_ENCRYPT=.+must not be true together with AUTH_SECRETS_KEY/)
  assert.doesNotMatch(text, /too-short-secret|xxx/)
  const key = newKey()
  const absent = faultsOf({
    AUTH_SECRETS_KEY: '',
    [`${prefix}_ENCRYPT`]: 'true',
    [`${prefix}_ENCRYPTION_KEY_ID`]: 'a',
    [`${prefix}_ENCRYPTION_KEY`]: key,
    [`${prefix}_DECRYPTION_KEYS`]: `b:${key}`,
  })
  assert.match(
    absent.join(),
    /must contain the value of GOTRUE_\w+_ENCRYPTION_KEY under the name a/,
  )
})

test('GOTRUE_SMTP_HEADERS is a JSON object with lists, and cannot replace the headers of the server', () => {
  const headers = '{"X-Tag": ["a", "$messageType"], "List-Id": []}'
  const { smtp } = configOf({ ...mail, GOTRUE_SMTP_HEADERS: headers }).mail
  assert.deepEqual(smtp?.headers, { 'X-Tag': ['a', '$messageType'], 'List-Id': [] })
  assert.deepEqual(configOf(mail).mail.smtp?.headers, {})
  for (const [value, reason] of [
    ['{', /must be a JSON object with a list of strings for each header/],
    ['["X-Tag"]', /must be a JSON object/],
    ['{"X-Tag": "a"}', /must be a JSON object/],
    ['{"X Tag": ["a"]}', /"X Tag" is not a valid header name/],
    [
      '{"X-Tag": ["a\\r\\nBcc: x@example.com"]}',
      /the values of X-Tag must not contain line breaks/,
    ],
    ['{"bcc": ["x@example.com"], "Content-Type": ["x"]}', /must not contain bcc, Content-Type/],
  ] as const) {
    const found = faultsOf({ ...mail, AUTH_SMTP_HEADERS: value })
    assert.equal(found.length, 1, value)
    assert.match(found[0] ?? '', reason)
  }
})

test('GOTRUE_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS excludes autoconfirm', () => {
  const name = 'GOTRUE_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS'
  assert.match(
    faultsOf({ [name]: 'true', AUTH_MAILER_AUTOCONFIRM: 'true' }).join(),
    new RegExp(`^${name}="true": must not be true together with AUTH_MAILER_AUTOCONFIRM`),
  )
  const env = { ...mail, AUTH_MAILER_AUTOCONFIRM: 'false' }
  assert.equal(configOf({ ...env, [name]: 'true' }).mail.allowsUnverified, true)
  assert.equal(configOf(env).mail.allowsUnverified, false)
})

test('GOTRUE_MAILER_EMAIL_VALIDATION_* are checked, and those without effect are noted', () => {
  const name = 'GOTRUE_MAILER_EMAIL_VALIDATION'
  assert.deepEqual(
    configOf({
      [`${name}_EXTENDED`]: 'true',
      [`${name}_SERVICE_URL`]: 'https://check.example/email',
      [`${name}_SERVICE_HEADERS`]: '{"Authorization": ["Bearer x"]}',
      [`${name}_BLOCKED_MX`]: '["MX.example.net.", "192.0.2.1"]',
    }).emailValidation,
    {
      extended: true,
      service: {
        url: 'https://check.example/email',
        headers: { Authorization: ['Bearer x'] },
      },
      blockedMx: ['mx.example.net', '192.0.2.1'],
    },
  )
  const found = faultsOf({
    [`${name}_SERVICE_URL`]: 'check.example',
    [`${name}_SERVICE_HEADERS`]: 'Bearer secret-word',
    [`${name}_BLOCKED_MX`]: 'mx.example.net',
  })
  assert.equal(found.length, 3, found.join('\n'))
  assert.doesNotMatch(found.join(), /secret-word/)
  const notes = notesOf({
    [`${name}_SERVICE_HEADERS`]: '{"A": ["b"]}',
    [`${name}_BLOCKED_MX`]: '["mx.example.net"]',
  }).join('\n')
  assert.match(notes, /SERVICE_HEADERS has no effect: \w+_SERVICE_URL is not set/)
  assert.match(notes, /BLOCKED_MX has no effect: \w+_EXTENDED is false/)
})

test('GOTRUE_JWT_VALID_METHODS must be supported and contain the algorithm that signs', () => {
  const name = 'GOTRUE_JWT_VALID_METHODS'
  assert.deepEqual(configOf({ [name]: 'HS256,ES256' }).tokens.validMethods, ['HS256', 'ES256'])
  assert.deepEqual(configOf({}).tokens.validMethods, [])
  const found = faultsOf({ [name]: 'none,ES256' }).join('\n')
  assert.match(found, /must contain only HS256, .*, not none/)
  assert.match(found, /must contain HS256, the algorithm of the key that signs/)
})

test('GOTRUE_SECURITY_REFRESH_TOKEN_ALLOW_REUSE causes a warning', () => {
  const name = 'GOTRUE_SECURITY_REFRESH_TOKEN_ALLOW_REUSE'
  assert.equal(configOf({ [name]: 'true' }).tokens.allowsReuse, true)
  assert.match(notesOf({ [name]: 'true' }).join('\n'), new RegExp(`${name} is true: a stolen`))
})

test('GOTRUE_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS must be URLs, and a missing audience is noted', () => {
  const name = 'GOTRUE_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS'
  const usual = 'https://appleid.apple.com,https://accounts.google.com'
  assert.deepEqual(notesOf({ [name]: usual }), notesOf({}))
  const issuer = 'https://id.example'
  assert.match(notesOf({ [name]: issuer }).join('\n'), /issued to any other app are accepted too/)
  const bound = { [name]: issuer, AUTH_EXTERNAL_ALLOWED_ID_TOKEN_CLIENT_IDS: 'app' }
  assert.deepEqual(notesOf(bound), notesOf({}))
  assert.match(faultsOf({ [name]: 'id.example' }).join(), /must be an absolute URL/)
})

test('GOTRUE_DB_HEALTH_CHECK_PERIOD and GOTRUE_DB_CONN_PERCENTAGE accept 0', () => {
  const { database } = configOf({
    GOTRUE_DB_HEALTH_CHECK_PERIOD: '1m',
    GOTRUE_DB_CONN_PERCENTAGE: '0',
  })
  assert.deepEqual([database.healthCheckMs, database.connectionPercentage], [60_000, 50])
  assert.equal(configOf({ GOTRUE_DB_HEALTH_CHECK_PERIOD: '0' }).database.healthCheckMs, 0)
  assert.match(faultsOf({ GOTRUE_DB_HEALTH_CHECK_PERIOD: '1ms' }).join(), /at least 100ms, or 0/)
})

test('GOTRUE_PROFILER_* are off by default, and access from other machines causes a warning', () => {
  assert.equal(configOf({}).profiler, undefined)
  const enabled = { GOTRUE_PROFILER_ENABLED: 'true' }
  assert.deepEqual(configOf(enabled).profiler, { host: 'localhost', port: 9_998 })
  assert.deepEqual(notesOf(enabled), notesOf({}))
  const open = { ...enabled, GOTRUE_PROFILER_HOST: '0.0.0.0', GOTRUE_PROFILER_PORT: '7000' }
  assert.deepEqual(configOf(open).profiler, { host: '0.0.0.0', port: 7_000 })
  assert.match(notesOf(open).join('\n'), /GOTRUE_PROFILER_HOST is 0\.0\.0\.0: anyone who can reach/)
})
