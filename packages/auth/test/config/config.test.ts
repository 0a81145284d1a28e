import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  type AnyVariable,
  type Environment,
  toFaultText,
} from '@portcullis/service-kit/settings/env'
import { toHelpText } from '@portcullis/service-kit/settings/settings-help'
import { type Config, chapters, parseConfig } from '../../src/config/config.ts'
import { bareNames, specifiedVariables } from '../support/specified-variables.ts'

/** The required variables, and a key whose absence causes a warning. */
const required = {
  AUTH_SECRETS_KEY: 'a key of at least thirty-two characters',
  AUTH_SITE_URL: 'https://site.example',
  AUTH_API_EXTERNAL_URL: 'https://auth.example',
  AUTH_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://db.example/auth',
  AUTH_JWT_SECRET: 'a secret of at least thirty-two bytes',
  AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
  AUTH_SMTP_HOST: 'mail.example',
  AUTH_SMTP_PORT: '25',
}

const all: AnyVariable[] = Object.values(chapters).flatMap(({ variables }) =>
  Object.values(variables),
)
const byName = new Map(all.flatMap((each) => [each.name, ...each.aliases].map((n) => [n, each])))

function read(...sources: readonly Environment[]): Config {
  const { config, faults } = parseConfig(...sources)
  assert.deepEqual(faults.map(toFaultText), [])
  return config
}

const withRequired = (env: Environment) => read({ ...required, ...env })
const faultsOf = (env: Environment) => parseConfig({ ...required, ...env }).faults.map(toFaultText)
const notesOf = (env: Environment) => parseConfig({ ...required, ...env }).notes

test('every documented variable exists under its name and under GOTRUE_', () => {
  for (const name of specifiedVariables.keys()) {
    const variable = byName.get(`AUTH_${name}`)
    assert.equal(variable?.name, `AUTH_${name}`)
    assert.ok(variable.aliases.includes(`GOTRUE_${name}`), name)
  }
})

test('every default is the documented one', () => {
  for (const [name, text] of specifiedVariables) {
    assert.equal(byName.get(`AUTH_${name}`)?.defaultText, text, name)
  }
})

test('every variable has its GOTRUE_ alias, and no name is used twice', () => {
  for (const { name, aliases } of all) {
    assert.ok(aliases.includes(name.replace(/^AUTH_/, 'GOTRUE_')), name)
  }
  const names = all.flatMap(({ name, aliases }) => [name, ...aliases])
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})

test('only the listed names are accepted without a prefix', () => {
  for (const [alias, name] of Object.entries(bareNames)) {
    assert.equal(byName.get(alias)?.name, `AUTH_${name}`, alias)
  }
  const bare = [...byName.keys()].filter((name) => !/^(?:AUTH|GOTRUE)_/.test(name))
  assert.deepEqual(
    bare.toSorted(),
    Object.keys(bareNames)
      .filter((name) => !/^(?:AUTH|GOTRUE)_/.test(name))
      .toSorted(),
  )
})

test('every variable has one line of help without a final full stop', () => {
  for (const { name, help } of all) assert.match(help, /^[\w*].*[^.\n]$/, name)
})

test('a configuration with only the required variables and a secrets key has no errors or warnings', () => {
  const { faults, notes } = parseConfig(required)
  assert.deepEqual([faults, notes], [[], []])
})

test('all missing required variables are reported together by name', () => {
  const { faults } = parseConfig({})
  assert.deepEqual(faults.map(({ variable }) => variable).toSorted(), [
    'AUTH_API_EXTERNAL_URL',
    'AUTH_DB_DATABASE_URL',
    'AUTH_DB_DRIVER',
    'AUTH_JWT_SECRET',
    'AUTH_SITE_URL',
    'AUTH_SMTP_ADMIN_EMAIL',
    'AUTH_SMTP_HOST',
    'AUTH_SMTP_PORT',
  ])
  for (const fault of faults) assert.match(toFaultText(fault), / is required/)
})

test('AUTH_ takes precedence over the bare name and the bare name over GOTRUE_, with a warning', () => {
  const three = { AUTH_API_PORT: '1', PORT: '2', GOTRUE_API_PORT: '3' }
  assert.equal(withRequired(three).api.port, 1)
  const { AUTH_API_PORT: _, ...two } = three
  assert.equal(withRequired(two).api.port, 2)
  assert.equal(withRequired({ GOTRUE_API_PORT: '3' }).api.port, 3)
  assert.deepEqual(notesOf(two), ['PORT and GOTRUE_API_PORT are both set: PORT is used'])
  const levels = { AUTH_LOG_LEVEL: 'error', LOG_LEVEL: 'warn', GOTRUE_LOG_LEVEL: 'debug' }
  assert.equal(withRequired(levels).observability.logLevel, 'error')
})

test('the environment takes precedence over the file, whatever the prefix', () => {
  const inFile = { ...required, AUTH_SITE_URL: 'https://file.example' }
  for (const name of ['AUTH_SITE_URL', 'GOTRUE_SITE_URL']) {
    assert.equal(read({ [name]: 'https://env.example' }, inFile).site.url, 'https://env.example')
  }
  assert.equal(read({ PORT: '1' }, { ...required, AUTH_API_PORT: '2' }).api.port, 1)
  assert.equal(read({}, inFile).site.url, 'https://file.example')
})

test('an empty variable counts as not set', () => {
  assert.equal(withRequired({ AUTH_JWT_EXP: '' }).tokens.expiresInSeconds, 3_600)
  assert.match(faultsOf({ AUTH_SITE_URL: '' }).join(), /^AUTH_SITE_URL="": is required/)
  assert.match(faultsOf({ AUTH_JWT_SECRET: ' ' }).join(), /^AUTH_JWT_SECRET="\*{5}": is required/)
})

test('an empty text that must not be empty gets its default', () => {
  const defaults = withRequired({})
  for (const blank of ['', ' ']) {
    const config = withRequired({
      AUTH_RATE_LIMIT_EMAIL_SENT: blank,
      AUTH_RATE_LIMIT_SMS_SENT: blank,
      AUTH_DB_NAMESPACE: blank,
      AUTH_JWT_ADMIN_GROUP_NAME: blank,
      AUTH_JWT_ADMIN_ROLES: blank,
      AUTH_MAILER_URLPATHS_INVITE: blank,
      AUTH_MAILER_SUBJECTS_INVITE: blank,
      AUTH_MAILER_SUBJECTS_PASSWORD_CHANGED_NOTIFICATION: blank,
      AUTH_SMS_TEMPLATE: blank,
      AUTH_MFA_PHONE_TEMPLATE: blank,
      OTEL_EXPORTER_PULL_HOST: blank,
    })
    assert.deepEqual(config, defaults)
  }
})

test('whitespace around addresses and names is ignored', () => {
  const { api, site, limits, mail } = withRequired({
    AUTH_SITE_URL: ' https://site.example ',
    AUTH_API_EXTERNAL_URL: ' https://auth.example/ ',
    AUTH_API_HOST: ' 127.0.0.1 ',
    AUTH_DB_DRIVER: 'postgres ',
    AUTH_REQUEST_ID_HEADER: ' X-Id ',
    AUTH_RATE_LIMIT_HEADER: ' X-Real-IP ',
    AUTH_SMTP_HOST: ' mail.example ',
    AUTH_SMTP_ADMIN_EMAIL: ' auth@example.com ',
  })
  assert.equal(site.url, 'https://site.example')
  assert.deepEqual([api.externalUrl, api.host], ['https://auth.example', '127.0.0.1'])
  assert.deepEqual([api.requestIdHeader, limits.header], ['x-id', 'x-real-ip'])
  assert.deepEqual(mail.smtp?.host, 'mail.example')
  assert.deepEqual(mail.smtp?.from, { name: 'auth@example.com', address: 'auth@example.com' })
})

test('a host and port without a scheme is not a URL, and links must be http or https', () => {
  for (const text of ['localhost:3000', 'site.example:80/x', 'javascript:alert(1)', '//x']) {
    assert.match(
      faultsOf({ AUTH_SITE_URL: text }).join(),
      /^AUTH_SITE_URL=.*must be an absolute URL/,
    )
  }
  assert.deepEqual(faultsOf({ AUTH_SITE_URL: 'myapp://home' }), [])
  for (const text of ['localhost:8081', 'myapp://home', 'ftp://auth.example']) {
    const fault = faultsOf({ API_EXTERNAL_URL: text, AUTH_API_EXTERNAL_URL: undefined }).join()
    assert.match(fault, /^API_EXTERNAL_URL=.*starts with https:\/\/ or http:\/\//, text)
  }
})

test('an invalid database URL is reported by name, without the password', () => {
  for (const url of ['postgres://u:hidden@db.example:99999/x', 'postgres://u:hi/d@db.example/x']) {
    const fault = faultsOf({ DATABASE_URL: url }).join()
    assert.match(
      fault,
      /^DATABASE_URL=.*(?:must be postgres:\/\/user:password@host:port\/name|has a port)/,
    )
    assert.doesNotMatch(fault, /hidden|hi\/d/)
  }
  const good = ['postgres://u:a%40b@db.example/x', 'postgres://u@/x?host=/folder', 'postgres:///x']
  for (const url of good) assert.deepEqual(faultsOf({ DATABASE_URL: url }), [], url)
})

test('values that are too large for a timer or the database are refused at start', () => {
  const tooLong = {
    AUTH_MAILER_OTP_EXP: '315360001',
    AUTH_SMS_OTP_EXP: '9007199254740991',
    AUTH_SMTP_MAX_FREQUENCY: '87601h',
    AUTH_SMS_MAX_FREQUENCY: '2000000h',
    AUTH_RATE_LIMIT_EMAIL_SENT: '5/2000000h',
    AUTH_MFA_CHALLENGE_EXPIRY_DURATION: '2000000h',
    AUTH_MFA_PHONE_MAX_FREQUENCY: '2000000h',
    AUTH_SECURITY_CAPTCHA_TIMEOUT: '600h',
    AUTH_DRAIN_TIMEOUT: '600h',
    AUTH_DB_CONN_MAX_IDLE_TIME: '600h',
    AUTH_PASSWORD_MIN_LENGTH: '73',
  }
  const captcha = { AUTH_SECURITY_CAPTCHA_ENABLED: 'true', AUTH_SECURITY_CAPTCHA_SECRET: 'x' }
  const { faults } = parseConfig({ ...required, ...captcha, ...tooLong })
  const named = faults.map(({ variable }) => variable)
  assert.deepEqual(named.toSorted(), Object.keys(tooLong).toSorted())
  assert.deepEqual(faultsOf({ AUTH_SMTP_MAX_FREQUENCY: '87600h', AUTH_DRAIN_TIMEOUT: '24h' }), [])
})

test('the default role cannot be an administrator role', () => {
  const roleOfAll = (role: string, env = {}) =>
    faultsOf({ AUTH_JWT_DEFAULT_GROUP_NAME: role, ...env })
  for (const role of ['service_role', 'supabase_admin', ' service_role ']) {
    assert.match(
      roleOfAll(role).join(),
      /^AUTH_JWT_DEFAULT_GROUP_NAME=.*is one of AUTH_JWT_ADMIN_ROLES: every user/,
    )
  }
  const own = { GOTRUE_JWT_ADMIN_ROLES: 'boss,authenticated' }
  assert.match(roleOfAll('authenticated', own).join(), /is one of GOTRUE_JWT_ADMIN_ROLES/)
  assert.match(roleOfAll('service_role', own).join(), /is a role that may invite users/)
  assert.deepEqual([roleOfAll('authenticated'), roleOfAll('')], [[], []])
  const notes = notesOf({ AUTH_JWT_DEFAULT_GROUP_NAME: 'admin' })
  assert.match(notes.join(), /^AUTH_JWT_DEFAULT_GROUP_NAME equals AUTH_JWT_ADMIN_GROUP_NAME/)
})

test('audiences are limited to 255 characters, which fit into the index', () => {
  const [fits, tooLong] = ['a'.repeat(255), 'a'.repeat(256)]
  assert.deepEqual(faultsOf({ AUTH_JWT_AUD: fits, AUTH_JWT_ALLOWED_AUDIENCES: `b,${fits}` }), [])
  assert.match(faultsOf({ AUTH_JWT_AUD: tooLong }).join(), /^AUTH_JWT_AUD=.*at most 255 characters/)
  const listed = faultsOf({ AUTH_JWT_ALLOWED_AUDIENCES: `b,${tooLong}` })
  assert.match(listed.join(), /^AUTH_JWT_ALLOWED_AUDIENCES=.*at most 255 characters/)
})

test('templates are http or https URLs or paths on the site', () => {
  const names = all.map(({ name }) => name).filter((name) => name.includes('_MAILER_TEMPLATES_'))
  assert.ok(names.length > 10)
  for (const name of names) {
    for (const url of ['ftp://site.example/x', 'file:///etc/passwd', 'data:text/html,x', 'C:\\x']) {
      const [fault = ''] = faultsOf({ [name]: url })
      assert.ok(fault.startsWith(`${name}=`), `${name} ${url}`)
      assert.match(fault, /must be an absolute URL that starts with https:\/\/ or http:\/\//)
    }
    for (const url of [
      'https://site.example/x.html',
      'HTTP://site.example',
      '/x.html',
      'x.html',
      '',
    ]) {
      assert.deepEqual(faultsOf({ [name]: url }), [], url)
    }
  }
})

test('hosts are host names or IP addresses', () => {
  for (const name of ['AUTH_SMTP_HOST', 'AUTH_API_HOST']) {
    for (const host of ['localhost', 'mail.example.', 'a_b.example', '127.0.0.1', '::', ' ::1 ']) {
      assert.deepEqual(faultsOf({ [name]: host }), [], host)
    }
    for (const host of [
      'mail example',
      'http://mail.example',
      'mail.example:25',
      'mail.example/x',
      '256.1.1.1',
      '[::1]',
      '-x.example',
      'a..b',
      `${'a'.repeat(64)}.example`,
    ]) {
      const [fault = ''] = faultsOf({ [name]: host })
      assert.ok(fault.startsWith(`${name}=`), host)
      assert.match(fault, /must be a host name or an address/)
    }
  }
})

test('header names are validated', () => {
  for (const name of ['AUTH_REQUEST_ID_HEADER', 'AUTH_RATE_LIMIT_HEADER']) {
    assert.deepEqual(faultsOf({ [name]: 'X-Id_1' }), [])
    assert.match(faultsOf({ [name]: 'X Id' }).join(), /must be the name of a header.*not X Id$/)
  }
  const [fault] = faultsOf({ AUTH_CORS_ALLOWED_HEADERS: 'x-one, Zwei→' })
  assert.match(fault ?? '', /^AUTH_CORS_ALLOWED_HEADERS=.*not Zwei→$/)
})

test('a sender that is not an email address causes a warning', () => {
  assert.match(notesOf({ AUTH_SMTP_ADMIN_EMAIL: 'Auth' }).join(), /^AUTH_SMTP_ADMIN_EMAIL is no/)
})

test('booleans have the spellings of Go, and no others', () => {
  for (const text of ['1', 't', 'T', 'TRUE', 'true', 'True']) {
    assert.equal(withRequired({ AUTH_DISABLE_SIGNUP: text }).site.disableSignup, true, text)
  }
  for (const text of ['0', 'f', 'F', 'FALSE', 'false', 'False']) {
    assert.equal(withRequired({ AUTH_DISABLE_SIGNUP: text }).site.disableSignup, false, text)
  }
  assert.match(faultsOf({ AUTH_DISABLE_SIGNUP: 'yes' }).join(), /^AUTH_DISABLE_SIGNUP="yes": must/)
})

test('SMTP_MAX_FREQUENCY accepts seconds and durations, and has two defaults when unset', () => {
  const gapsOf = (env: Environment) => {
    const { cooldownMs, magicLinkCooldownMs } = withRequired(env).mail
    return [cooldownMs, magicLinkCooldownMs]
  }
  assert.deepEqual(gapsOf({}), [900_000, 60_000])
  for (const text of ['900', '900s', '15m']) {
    assert.deepEqual(gapsOf({ AUTH_SMTP_MAX_FREQUENCY: text }), [900_000, 900_000], text)
  }
  assert.match(faultsOf({ AUTH_SMTP_MAX_FREQUENCY: 'often' }).join(), /^AUTH_SMTP_MAX_FREQUENCY/)
})

test('the SMS cooldown and the reuse interval accept seconds and durations', () => {
  for (const text of ['20', '20s', '20000ms']) {
    const config = withRequired({
      AUTH_SMS_MAX_FREQUENCY: text,
      AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: text,
    })
    assert.deepEqual([config.sms.maxFrequencyMs, config.tokens.reuseIntervalMs], [20_000, 20_000])
  }
  const { sms, tokens } = withRequired({})
  assert.deepEqual([sms.maxFrequencyMs, tokens.reuseIntervalMs], [60_000, 10_000])
})

test('a mail server is required if email must be confirmed; otherwise its absence causes a warning', () => {
  const { AUTH_SMTP_HOST: _, ...rest } = required
  const needed = parseConfig(rest)
  assert.match(
    needed.faults.map(toFaultText).join(),
    /^AUTH_SMTP_HOST is required to send email \(or set AUTH_MAILER_AUTOCONFIRM=true\)/,
  )
  for (const off of [
    { AUTH_MAILER_AUTOCONFIRM: 'true' },
    { AUTH_EXTERNAL_EMAIL_ENABLED: 'false' },
  ]) {
    const { config, faults, notes } = parseConfig({ ...rest, ...off })
    assert.deepEqual([faults, config.mail.smtp], [[], undefined])
    assert.deepEqual(notes, ['No email is sent: AUTH_SMTP_HOST is not set'])
  }
})

test('a minimum password length below 6 causes a warning', () => {
  assert.equal(withRequired({ AUTH_PASSWORD_MIN_LENGTH: '4' }).site.passwordMinLength, 4)
  assert.match(notesOf({ AUTH_PASSWORD_MIN_LENGTH: '4' }).join(), /^AUTH_PASSWORD_MIN_LENGTH is 4/)
  assert.deepEqual(notesOf({ AUTH_PASSWORD_MIN_LENGTH: '6' }), [])
  assert.equal(faultsOf({ AUTH_PASSWORD_MIN_LENGTH: '0' }).length, 1)
})

test('deprecated variables have no effect and cause a warning without their value', () => {
  for (const name of ['OPERATOR_TOKEN', 'API_ENDPOINT', 'MULTI_INSTANCE_MODE']) {
    for (const prefix of ['AUTH_', 'GOTRUE_', '']) {
      const notes = notesOf({ [`${prefix}${name}`]: 'hidden-word' })
      assert.equal(notes.length, 1, name)
      assert.match(notes.join(), new RegExp(`^${prefix}${name} is deprecated and has no effect`))
      assert.doesNotMatch(notes.join(), /hidden-word/)
    }
  }
})

test('character sets are split at unescaped colons', () => {
  const { site } = withRequired({ AUTH_PASSWORD_REQUIRED_CHARACTERS: 'abc:123:\\:!:' })
  assert.deepEqual(site.passwordRequiredSets, ['abc', '123', ':!'])
})

test('the message limit is a number per hour or a number per duration', () => {
  const capOf = (text: string) =>
    withRequired({ AUTH_RATE_LIMIT_EMAIL_SENT: text }).limits.emailSent
  assert.deepEqual(capOf('0'), { most: 0, refillMs: undefined })
  assert.deepEqual(capOf('5'), { most: 5, refillMs: undefined })
  assert.deepEqual(capOf('5/1h30m'), { most: 5, refillMs: 5_400_000 })
  for (const text of ['many', '-1', '5/', '5/soon', '5/0s']) {
    assert.match(
      faultsOf({ AUTH_RATE_LIMIT_EMAIL_SENT: text }).join(),
      /must be off, a number such as 30/,
      text,
    )
  }
})

test('log levels are the documented ones, ignoring case', () => {
  for (const text of ['panic', 'fatal', 'error', 'warn', 'info', 'debug', 'DEBUG', 'Info']) {
    assert.deepEqual(faultsOf({ LOG_LEVEL: text }), [], text)
  }
  assert.match(faultsOf({ LOG_LEVEL: 'loud' }).join(), /^LOG_LEVEL="loud"/)
})

test('invalid values are reported by name and value', () => {
  const wrong: Readonly<Record<string, string>> = {
    AUTH_SITE_URL: 'site.example',
    AUTH_API_EXTERNAL_URL: 'auth.example',
    AUTH_DB_DRIVER: 'mysql',
    AUTH_DB_NAMESPACE: 'a-b',
    AUTH_JWT_EXP: '0',
    AUTH_API_PORT: '70000',
    AUTH_TRACING_EXPORTER: 'jaeger',
    AUTH_METRICS_EXPORTER: 'statsd',
    AUTH_SECURITY_CAPTCHA_PROVIDER: 'mine',
    AUTH_URI_ALLOW_LIST: 'https://[x',
    AUTH_API_PATH_PREFIX: 'auth v1',
    AUTH_DB_MAX_POOL_SIZE: '-1',
    AUTH_RATE_LIMIT_SERVICE_URL: 'http://x',
  }
  const named = new Set(parseConfig({ ...required, ...wrong }).faults.map((each) => each.variable))
  assert.deepEqual([...named].toSorted(), Object.keys(wrong).toSorted())
})

test('an enabled provider needs id, secret and redirect URI, and keycloak needs its URL', () => {
  assert.deepEqual(faultsOf({ AUTH_EXTERNAL_GITHUB_ENABLED: 'true' }), [
    'AUTH_EXTERNAL_GITHUB_CLIENT_ID: missing OAuth client ID',
    'AUTH_EXTERNAL_GITHUB_SECRET: missing OAuth secret',
    'AUTH_EXTERNAL_GITHUB_REDIRECT_URI: missing redirect URI',
  ])
  const keycloak = {
    GOTRUE_EXTERNAL_KEYCLOAK_ENABLED: 'true',
    GOTRUE_EXTERNAL_KEYCLOAK_CLIENT_ID: 'id',
    GOTRUE_EXTERNAL_KEYCLOAK_SECRET: 'secret',
    GOTRUE_EXTERNAL_KEYCLOAK_REDIRECT_URI: 'https://auth.example/callback',
  }
  assert.deepEqual(faultsOf(keycloak), [
    'AUTH_EXTERNAL_KEYCLOAK_URL must be the URL of your keycloak',
  ])
})

test('an invalid subject template is refused at start with the position of the error', () => {
  assert.deepEqual(faultsOf({ AUTH_MAILER_SUBJECTS_INVITE: 'Welcome {{ .Email' }), [
    'AUTH_MAILER_SUBJECTS_INVITE="Welcome {{ .Email": is not a valid template: ' +
      'line 1, column 9: this {{ has no }}',
  ])
  const notification = { GOTRUE_MAILER_SUBJECTS_PHONE_CHANGED_NOTIFICATION: '{{ .Phone' }
  assert.deepEqual(faultsOf(notification), [
    'GOTRUE_MAILER_SUBJECTS_PHONE_CHANGED_NOTIFICATION="{{ .Phone": is not a valid template: ' +
      'line 1, column 1: this {{ has no }}',
  ])
})

test('session limits are off by default, and zero means no limit', () => {
  const off = { timeboxMs: undefined, inactivityMs: undefined, lowAalMs: undefined }
  const { config } = parseConfig({ AUTH_SESSIONS_ALLOW_LOW_AAL: '0s' })
  assert.deepEqual(config.tokens.sessions, { ...off, singlePerUser: false, tags: [] })
  const set = { GOTRUE_SESSIONS_ALLOW_LOW_AAL: '15m', GOTRUE_SESSIONS_TAGS: 'web, phone' }
  const { lowAalMs, tags } = parseConfig(set).config.tokens.sessions
  assert.deepEqual([lowAalMs, tags], [900_000, ['web', 'phone']])
})

test('an enabled CAPTCHA needs a secret', () => {
  assert.deepEqual(faultsOf({ AUTH_SECURITY_CAPTCHA_ENABLED: 'true' }), [
    'AUTH_SECURITY_CAPTCHA_SECRET: captcha provider secret is empty',
  ])
})

test('a secret shorter than 32 bytes causes a warning, and an invalid code length becomes 6', () => {
  const [note = ''] = notesOf({ AUTH_JWT_SECRET: 'x'.repeat(31) })
  assert.match(note, /^AUTH_JWT_SECRET is shorter than 32 bytes/)
  assert.deepEqual(notesOf({ AUTH_JWT_SECRET: 'x'.repeat(32) }), [])
  assert.deepEqual(notesOf({ AUTH_JWT_SECRET: 'ü'.repeat(16) }), [])
  // The command in the warning generates a valid secret.
  const [, command = ''] = / -p "(.+)"$/.exec(note) ?? []
  const made = execFileSync(process.execPath, ['-p', command], { encoding: 'utf8' }).trim()
  assert.deepEqual(notesOf({ AUTH_JWT_SECRET: made }), [])
  const lengths = { AUTH_SMS_OTP_LENGTH: '4', AUTH_MAILER_OTP_LENGTH: '11' }
  const { sms, mail } = withRequired(lengths)
  assert.deepEqual([sms.otpLength, mail.otpLength], [6, 6])
  assert.equal(notesOf(lengths).length, 2)
})

test('a misspelt variable name causes a warning', () => {
  assert.deepEqual(notesOf({ AUTH_SITE_ULR: 'x' }), [
    'AUTH_SITE_ULR is not a variable of this service: did you mean AUTH_SITE_URL?',
  ])
})

test('an unsupported GOTRUE_ variable causes a warning if it would have an effect', () => {
  assert.deepEqual(
    notesOf({
      GOTRUE_LOG_SQL: 'all',
      GOTRUE_EXPERIMENTAL_SCIM_ENABLED: 'false',
      GOTRUE_SECURITY_DB_ENCRYPTION_ENCRYPT: 'false',
      GOTRUE_SAML_PRIVATE_KEY: '',
      GOTRUE_OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      AUTH_OF_ANOTHER_PROGRAM: 'x',
    }),
    ['GOTRUE_LOG_SQL has no effect: the format of the log is fixed. Remove it'],
  )
  assert.deepEqual(notesOf({ GOTRUE_NO_SUCH_THING: 'x' }), [
    'GOTRUE_NO_SUCH_THING has no effect: this server has no such variable. Remove it, or see docs/auth-migration-behaviours.md',
  ])
  assert.equal(notesOf({ GOTRUE_SITE_ULR: 'x' }).length, 1)
})

test('no message or help text contains a secret', () => {
  const secrets = all.filter(
    ({ name, type }) => /_(?:SECRET|PASS|TOKEN|KEYS?|API_KEY)$/.test(name) && type.name !== 'path',
  )
  assert.ok(secrets.length > 20)
  for (const variable of secrets) assert.doesNotMatch(variable.mask('hidden-word'), /hidden/)
  const { faults, notes } = parseConfig(
    {
      AUTH_JWT_SECRET: 'hidden-word',
      GOTRUE_JWT_SECRET: 'hidden-word-2',
      AUTH_JWT_KEYS: '[{"kty":"oct","k":"hidden-word"}]',
      DATABASE_URL: 'mysql://u:hidden-word@db.example/x',
    },
    { AUTH_SMTP_PASS: 'hidden-word' },
  )
  assert.ok(faults.length > 3 && notes.length > 0)
  assert.doesNotMatch([...faults.map(toFaultText), ...notes].join('\n'), /hidden-word/)
  assert.doesNotMatch(toHelpText(chapters), /hidden-word/)
})

test('the code length of phone factors is limited, and factors have the documented defaults', () => {
  const name = 'AUTH_MFA_PHONE_OTP_LENGTH'
  assert.deepEqual(notesOf({ [name]: '3' }), [`${name} must be from 6 to 10: 6 is used`])
  assert.equal(withRequired({ [name]: '3' }).mfa.kinds.phone.otpLength, 6)
  assert.deepEqual(withRequired({ AUTH_MFA_CHALLENGE_EXPIRY_DURATION: '120' }).mfa, {
    kinds: {
      totp: { enroll: true, verify: true },
      phone: {
        enroll: false,
        verify: false,
        otpLength: 6,
        maxFrequencyMs: 60_000,
        template: 'Your code is {{ .Code }}',
      },
      webauthn: { enroll: false, verify: false },
    },
    recoveryCodes: { enroll: true, verify: true },
    challengeExpiresInMs: 120_000,
    factorExpiresInMs: 300_000,
    mostEnrolled: 10,
    mostVerified: 10,
    requestsPerMinute: 15,
  })
})

test('secrets keys come from a variable or a file, and their absence causes a warning', (t) => {
  const [first, second] = ['first'.repeat(8), 'second'.repeat(8)]
  const folder = mkdtempSync(join(tmpdir(), 'secrets-key-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const toFile = (text: string) => {
    const path = join(folder, 'key')
    writeFileSync(path, text)
    return { AUTH_SECRETS_KEY: '', AUTH_SECRETS_KEY_FILE: path }
  }
  assert.deepEqual(withRequired({ AUTH_SECRETS_KEY: `${first}, ${second}` }).secrets.all, [
    first,
    second,
  ])
  assert.deepEqual(withRequired(toFile(`${first}\n${second}\n`)).secrets, {
    encryption: first,
    all: [first, second],
    hashes: { currentId: undefined, byId: new Map() },
  })
  assert.match(
    notesOf({ AUTH_SECRETS_KEY: '' }).join(),
    /^AUTH_SECRETS_KEY is not set: anyone who can read/,
  )
  assert.deepEqual(notesOf(toFile(first)), [])
  const short = faultsOf({ AUTH_SECRETS_KEY: `${first},short` }).join()
  assert.match(short, /AUTH_SECRETS_KEY.*must have at least 32 characters in each key/)
  assert.doesNotMatch(short, /short,|first/)
  assert.match(faultsOf(toFile('')).join(), /AUTH_SECRETS_KEY_FILE.*contains no key/)
  const nowhere = { AUTH_SECRETS_KEY: '', AUTH_SECRETS_KEY_FILE: join(folder, 'none') }
  assert.match(faultsOf(nowhere).join(), /AUTH_SECRETS_KEY_FILE=.*names a file that does not exist/)
  const both = { ...toFile(first), AUTH_SECRETS_KEY: second }
  assert.match(
    faultsOf(both).join(),
    /AUTH_SECRETS_KEY_FILE.*not be set together with AUTH_SECRETS_KEY/,
  )
})
