import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseEnv } from 'node:util'
import { provideOrSkip } from '@portcullis/test-servers'
import { parseConsoleArguments } from '../../src/commands/console-arguments.ts'
import { keyVariable } from '../../src/commands/server-arguments.ts'
import {
  composeFolder,
  readComposeFile,
  readProgram,
  readVariableNames,
} from './support/compose-file.ts'

const root = join(composeFolder, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** A copy of the folder in which make-env.sh has run; undefined if openssl is missing. */
async function openEnvironment(t: TestContext) {
  if ((await provideOrSkip(t, 'openssl')) === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-compose-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['make-env.sh', '.env.example']) {
    cpSync(join(composeFolder, name), join(folder, name))
  }
  const make = () => execFileSync('sh', [join(folder, 'make-env.sh')], { stdio: 'pipe' })
  make()
  const path = join(folder, '.env')
  return { make, path, variables: parseEnv(readFileSync(path, 'utf8')) }
}

test('make-env.sh generates all secrets, readable by their owner only, and overwrites nothing', async (t) => {
  const environment = await openEnvironment(t)
  if (!environment) return
  const { make, path, variables } = environment
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const { JWT_SECRET, JWT_KEY_SET = '', POSTGRES_PASSWORD, REDIS_PASSWORD } = variables
  assert.match(JWT_SECRET ?? '', /^[\da-f]{64}$/)
  assert.match(POSTGRES_PASSWORD ?? '', /^[\da-f]{32}$/)
  assert.match(REDIS_PASSWORD ?? '', /^[\da-f]{32}$/)
  const [key] = JSON.parse(JWT_KEY_SET).keys
  assert.equal(Buffer.from(key.k, 'base64url').toString(), JWT_SECRET)
  assert.throws(make, /\.env already exists/)
})

test('.env.example lists exactly the variables of compose.yaml', () => {
  const named = Object.keys(parseEnv(readFileSync(join(composeFolder, '.env.example'), 'utf8')))
  assert.deepEqual(named.sort(), [...readVariableNames()].sort())
})

test('without secrets nothing starts', () => {
  assert.throws(() => readComposeFile({}), /run \.\/make-env\.sh first/)
})

test('every environment variable is known to its server', async (t) => {
  const environment = await openEnvironment(t)
  if (!environment) return
  const { services } = readComposeFile(environment.variables)
  const manuals = { auth: 'docs/auth-environment.md', ratelimit: 'docs/ratelimit-environment.md' }
  for (const [service, manual] of Object.entries(manuals)) {
    const known = new Set([...read(manual).matchAll(/`([A-Za-z_]+)`/g)].map(([, name]) => name))
    const used = Object.keys(services[service]?.environment ?? {})
    assert.ok(used.length > 5)
    assert.deepEqual(
      used.filter((name) => !known.has(name)),
      [],
    )
  }
})

test('the auth server accepts its configuration, also with a mail server', async (t) => {
  const made = await openEnvironment(t)
  if (!made) return
  const { variables } = made
  const mail = {
    MAILER_AUTOCONFIRM: 'false',
    SMTP_HOST: 'mail.example.com',
    SMTP_ADMIN_EMAIL: 'hello@example.com',
  }
  const cases = [
    [
      variables,
      /^warning: No email is sent: .*\nnote: The compatibility mode .*\nThe configuration is valid\.\n$/,
    ],
    [
      { ...variables, ...mail },
      /^note: The compatibility mode .*\nThe configuration is valid\.\n$/,
    ],
  ] as const
  for (const [chosen, expected] of cases) {
    const { environment = {} } = readComposeFile(chosen).services['auth'] ?? {}
    const env = Object.entries(environment).map(([name, value]) => [name, `${value}`])
    const program = join(root, 'packages/auth/src/main.ts')
    const output = execFileSync(process.execPath, [program, 'config', 'check'], {
      env: { PATH: process.env['PATH'], ...Object.fromEntries(env) },
      encoding: 'utf8',
      cwd: tmpdir(),
    })
    assert.match(output, expected)
  }
})

test('every container is pinned, restarts and has a health check; no port is open to other machines', async (t) => {
  const environment = await openEnvironment(t)
  if (!environment) return
  const { services, networks } = readComposeFile(environment.variables)
  for (const [name, service] of Object.entries(services)) {
    if (!service.build) assert.match(service.image, /:v?\d+\.\d+/, name)
    assert.equal(service.restart, 'unless-stopped', name)
    assert.ok(service.healthcheck && service.healthcheck.test.length > 1, name)
    for (const network of service.networks) assert.ok(Object.hasOwn(networks, network), network)
  }
  const open = Object.entries(services).filter(([, { ports }]) => ports !== undefined)
  assert.deepEqual(
    open.map(([name, { ports }]) => [name, ports]),
    [
      ['envoy', ['127.0.0.1:10000:10000']],
      ['console', ['127.0.0.1:3000:3000']],
    ],
  )
})

test('the console accepts its command line', async (t) => {
  const made = await openEnvironment(t)
  if (!made) return
  const service = readComposeFile(made.variables).services['console']
  assert.ok(service)
  const { command = [], environment = {} } = service
  const { program, args } = readProgram(service)
  assert.deepEqual([program, ...args], ['packages/portcullis/src/main.ts', 'console'])
  const key = { [keyVariable]: `${environment[keyVariable]}` }
  const parsed = parseConsoleArguments(command, key)
  assert.ok(!('faults' in parsed), JSON.stringify(parsed))
  assert.deepEqual(Object.keys(parsed).toSorted(), [
    ...['allowedHosts', 'auth', 'graphql', 'host', 'port', 'ratelimit'],
  ])
})

test('the first line of compose.yaml states that Compose has not run it', () => {
  const [first = ''] = read('examples/compose/compose.yaml').split('\n')
  assert.match(first, /^# Not run by Compose yet/)
})
