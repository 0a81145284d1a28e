/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { toHelpText } from '@portcullis/service-kit/settings/settings-help'
import { findFreePort } from '@portcullis/test-servers'
import { chapters, parseConfig } from '../../src/config/config.ts'
import { runCommand } from '../support/auth-command.ts'
import { openProgramEnvironment, runAuth, startAuth } from '../support/auth-program.ts'
import { send } from '../support/http-client.ts'

const required = {
  AUTH_SITE_URL: 'https://site.example',
  AUTH_API_EXTERNAL_URL: 'https://auth.example',
  AUTH_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://db.example/auth',
  AUTH_JWT_SECRET: 'a secret of at least thirty-two bytes',
  AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
  AUTH_SMTP_HOST: 'mail.example',
  AUTH_SMTP_PORT: '25',
} as const
type Env = Readonly<Record<string, string>>

const toFile = (env: Env) =>
  Object.entries(env).reduce((text, [k, v]) => `${text}${k}="${v}"\n`, '')
const check = (env: Env, cwd = '/', run = runCommand) => run(['config', 'check'], { env, cwd })
const faultsOf = (env: Env) => parseConfig({ ...required, ...env }).faults.map(toFaultText)

function openFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'auth-specification-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('Configuration › settings come from a `.env` file, from environment variables, or both', async (t) => {
  const cwd = openFolder(t)
  assert.equal((await check(required, cwd)).code, 0)
  const { AUTH_SITE_URL, AUTH_JWT_SECRET, ...rest } = required
  writeFileSync(join(cwd, '.env'), toFile(rest))
  assert.equal((await check({ AUTH_SITE_URL, AUTH_JWT_SECRET }, cwd, runAuth)).code, 0)
  writeFileSync(join(cwd, '.env'), toFile(required))
  assert.equal((await check({}, cwd)).code, 0)
})

test('Configuration › environment variables win over the file', async (t) => {
  const cwd = openFolder(t)
  writeFileSync(join(cwd, '.env'), toFile({ ...required, AUTH_SITE_URL: 'https://file.example' }))
  const { stdout } = await runCommand(
    ['redirect', 'explain', 'https://file.example/', 'https://environment.example/'],
    { env: { AUTH_SITE_URL: 'https://environment.example' }, cwd },
  )
  assert.match(stdout, /^https:\/\/file\.example\/ is not allowed/m)
  assert.match(stdout, /^https:\/\/environment\.example\/ is allowed/m)
})

test('Configuration › variables carry the prefix `AUTH_` unless noted', async () => {
  const { AUTH_SITE_URL, DATABASE_URL, ...rest } = required
  const { code, stderr } = await check({ ...rest, SITE_URL: AUTH_SITE_URL, DATABASE_URL })
  assert.equal(code, 2)
  assert.match(stderr, /^ {2}AUTH_SITE_URL is required/m)
  assert.doesNotMatch(stderr, /DATABASE_URL/)
})

test('Configuration: required variables', async (t) => {
  const { code, stderr } = await check({})
  const isMissing = (name: string) => {
    assert.equal(code, 2)
    assert.match(stderr, new RegExp(`^ {2}AUTH_${name} is required`, 'm'))
  }
  await t.test('Configuration › SITE_URL: required', () => isMissing('SITE_URL'))
  await t.test('Configuration › API_EXTERNAL_URL: required', () => isMissing('API_EXTERNAL_URL'))
  await t.test('Configuration › DB_DRIVER: required', () => isMissing('DB_DRIVER'))
  await t.test('Configuration › DATABASE_URL or DB_DATABASE_URL: required', () =>
    isMissing('DB_DATABASE_URL'),
  )
  await t.test('Configuration › JWT_SECRET: required', () => isMissing('JWT_SECRET'))
  await t.test('Configuration › SMTP_ADMIN_EMAIL: required', () => isMissing('SMTP_ADMIN_EMAIL'))
  await t.test('Configuration › SMTP_HOST: required', () => isMissing('SMTP_HOST'))
  await t.test('Configuration › SMTP_PORT: required', () => isMissing('SMTP_PORT'))
})

test('Configuration › DB_DRIVER: the only supported SQL dialect value', () => {
  assert.deepEqual(faultsOf({ AUTH_DB_DRIVER: 'postgres' }), [])
  assert.match(
    faultsOf({ AUTH_DB_DRIVER: 'mysql' }).join(),
    /^AUTH_DB_DRIVER="mysql": must be post/,
  )
})

test('Configuration › DATABASE_URL (no prefix) or DB_DATABASE_URL: connection string', () => {
  const { DATABASE_URL, ...rest } = required
  const urlOf = (env: Env) => parseConfig({ ...rest, ...env }).config.database.url
  assert.equal(urlOf({ DATABASE_URL }), DATABASE_URL)
  assert.equal(urlOf({ AUTH_DB_DATABASE_URL: DATABASE_URL }), DATABASE_URL)
})

test('Configuration › PORT (no prefix) or API_PORT: listen port, default 8081', () => {
  const portOf = (env: Env) => parseConfig({ ...required, ...env }).config.api.port
  assert.deepEqual(
    [portOf({}), portOf({ PORT: '8090' }), portOf({ AUTH_API_PORT: '8091' })],
    [8_081, 8_090, 8_091],
  )
})

test('Configuration › DB_NAMESPACE: default not shown (auth)', () => {
  assert.equal(parseConfig(required).config.database.namespace, 'auth')
})

test('Configuration › LOG_LEVEL: `panic`, `fatal`, `error`, `warn`, `info`, `debug`', () => {
  const levels = ['panic', 'fatal', 'error', 'warn', 'info', 'debug']
  for (const level of levels) {
    for (const name of ['LOG_LEVEL', 'AUTH_LOG_LEVEL']) {
      assert.deepEqual(faultsOf({ [name]: level }), [], level)
    }
  }
  assert.equal(faultsOf({ LOG_LEVEL: 'loud' }).length, 1)
  // The help text has the names from the specification.
  const help = toHelpText(chapters, { columns: 1_000 })
  const [, names = ''] = /AUTH_LOG_LEVEL = info\n.*\((panic.*)\)/.exec(help) ?? []
  for (const level of levels) assert.match(names, new RegExp(`\\b${level}\\b`))
})

test('Configuration: a server in a separate process', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const inherited = {
    AUTH_OPERATOR_TOKEN: 'hidden-word',
    AUTH_API_ENDPOINT: 'hidden-word',
    AUTH_MULTI_INSTANCE_MODE: 'true',
  }

  await t.test('Configuration › LOG_FILE: file path for logs', async (t) => {
    const path = join(openFolder(t), 'auth.log')
    const { stderr } = await runAuth(['serve'], { env: { ...env, AUTH_LOG_FILE: path } })
    assert.equal(stderr, '')
    assert.match(readFileSync(path, 'utf8'), /The tables do not exist/)
  })

  await t.test('Configuration › LOG_LEVEL: less severe messages are omitted', async () => {
    const logOf = async (level: string) =>
      (await runAuth(['serve'], { env: { ...env, ...inherited, LOG_LEVEL: level } })).stderr
    const [warn, error] = await Promise.all([logOf('warn'), logOf('error')])
    assert.match(warn, /is deprecated/)
    assert.doesNotMatch(error, /is deprecated/)
    assert.match(error, /The tables do not exist/)
  })

  const { AUTH_API_PORT: _, ...rest } = env
  const port = await findFreePort()
  const server = await startAuth(t, [], { ...rest, ...inherited, PORT: `${port}` })

  await t.test('Configuration › PORT (no prefix): listen port', async () => {
    const { status } = await send(`http://127.0.0.1:${port}`, '/health')
    assert.equal(status, 200)
  })

  await t.test('Configuration › LOG_LEVEL: default `info`', () => {
    assert.match(server.output(), /"level":"info"/)
    assert.doesNotMatch(server.output(), /"level":"debug"/)
  })

  await t.test(
    'Configuration › OPERATOR_TOKEN: multi-instance mode only (inherited, unsupported)',
    () => assert.match(server.output(), /AUTH_OPERATOR_TOKEN is deprecated and has no effect/),
  )

  await t.test('Configuration › API_ENDPOINT: multi-instance mode only', () => {
    assert.match(server.output(), /AUTH_API_ENDPOINT is deprecated and has no effect/)
  })

  await t.test('Versioning › deprecation notices appear in execution logs', () => {
    const notices = server.output().match(/"level":"warning","msg":"[^"]*is deprecated/g) ?? []
    assert.equal(notices.length, 3, server.output())
    assert.doesNotMatch(server.output(), /hidden-word/)
  })

  await t.test('What the service does › migrations are applied on start', () => {
    assert.match(server.output(), /Applied migration 0001-init/)
  })

  await t.test('What the service does › a `migrate` command reruns them', async () => {
    const { code, stdout } = await runCommand(['migrate'], { env })
    assert.deepEqual([code, stdout], [0, 'The tables are up to date.\n'])
  })

  await t.test('Versioning › the server uses semantic versioning', async () => {
    const { body } = await send(server.url, '/health')
    const semantic = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[\w.-]+)?(?:\+[\w.-]+)?$/
    assert.match(body.version, semantic)
    const { stdout } = await runAuth(['--version'])
    assert.ok(stdout.includes(body.version), stdout)
  })
})
