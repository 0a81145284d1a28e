/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { runAuth } from '../support/auth-program.ts'
import { testEnvironment } from '../support/auth-server.ts'

const good = { ...testEnvironment, DATABASE_URL: 'postgres://u:hidden-word@db.example/x' }

function openFolder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'auth-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

test('config check accepts a valid configuration', async () => {
  const { code, stdout, stderr } = await runAuth(['config', 'check'], { env: good })
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^warning: No email is sent: AUTH_SMTP_ADMIN_EMAIL, /)
  assert.match(stdout, /^note: The compatibility mode is auto, because .* no GOTRUE_ variables: /m)
  assert.match(stdout, /^The configuration is valid\.$/m)
})

test('config check says that GOTRUE_ names choose the behaviour of Supabase Auth', async () => {
  const { AUTH_SITE_URL: site, ...others } = good
  const { code, stdout } = await runCommand(['config', 'check'], {
    env: { ...others, GOTRUE_SITE_URL: site },
  })
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^note: The compatibility mode is upstream, because .* such as GOTRUE_SITE_URL: all requests /m,
  )
})

test('config check reports all errors at once, by name, without secrets', async () => {
  const { code, stdout, stderr } = await runCommand(['config', 'check'], {
    env: {
      AUTH_JWT_EXP: 'soon',
      AUTH_DISABLE_SIGNUP: 'yes',
      GOTRUE_JWT_KEYS: 'a-key-not-to-be-printed',
      DATABASE_URL: 'mysql://root:hidden-word@db.example/x',
      AUTH_DB_DRIVER: 'mysql',
      AUTH_PASSWORD_MIN_LENGTH: '4',
    },
  })
  assert.deepEqual([code, stdout], [2, ''])
  const names = [...stderr.matchAll(/^ {2}([A-Z_]+)/gm)].map(([, name]) => name)
  assert.deepEqual(names.toSorted(), [
    'AUTH_API_EXTERNAL_URL',
    'AUTH_DB_DRIVER',
    'AUTH_DISABLE_SIGNUP',
    'AUTH_JWT_EXP',
    'AUTH_JWT_SECRET',
    'AUTH_SITE_URL',
    'AUTH_SMTP_ADMIN_EMAIL',
    'AUTH_SMTP_HOST',
    'AUTH_SMTP_PORT',
    'DATABASE_URL',
    'GOTRUE_JWT_KEYS',
  ])
  assert.match(stderr, /^warning: AUTH_PASSWORD_MIN_LENGTH is 4/m)
  assert.doesNotMatch(stderr, /hidden-word|not-to-be-printed|^\s+at /m)
})

test('config check also checks the log file and the listen address', async (t) => {
  const folder = openFolder(t, { 'there.log': '' })
  const check = async (env: Readonly<Record<string, string>>) => {
    const { code, stderr } = await runCommand(['config', 'check'], { env: { ...good, ...env } })
    return { code, faults: stderr.split('\n').filter((line) => line.startsWith('  AUTH_')) }
  }
  const missing = join(folder, 'missing/auth.log')
  const both = await check({ AUTH_LOG_FILE: missing, AUTH_API_HOST: '192.0.2.1' })
  assert.equal(both.code, 2)
  const [log = '', host = '', ...others] = both.faults
  assert.deepEqual(others, [])
  assert.ok(log.startsWith(`  AUTH_LOG_FILE=${JSON.stringify(missing)}: the folder `), log)
  assert.match(log, /missing does not exist; create it first$/)
  assert.match(host, /^ {2}AUTH_API_HOST="192\.0\.2\.1": .*EADDRNOTAVAIL/)
  assert.match((await check({ AUTH_LOG_FILE: folder })).faults.join(), /is a folder/)
  for (const path of ['there.log', 'new.log']) {
    assert.equal((await check({ AUTH_LOG_FILE: join(folder, path) })).code, 0, path)
  }
  assert.deepEqual(readdirSync(folder), ['there.log'])
  assert.equal((await check({ AUTH_API_HOST: '' })).code, 0)
})

test('config check reports a weak secret and a wrong role', async () => {
  const check = (env: Readonly<Record<string, string>>) =>
    runCommand(['config', 'check'], { env: { ...good, ...env } })
  const weak = await check({ AUTH_JWT_SECRET: 'secret' })
  assert.equal(weak.code, 0)
  assert.match(weak.stdout, /^warning: AUTH_JWT_SECRET is shorter than 32 bytes.*node -p ".+"$/m)
  const wrong = await check({ AUTH_JWT_DEFAULT_GROUP_NAME: 'service_role' })
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /^ {2}AUTH_JWT_DEFAULT_GROUP_NAME="service_role": is one of/m)
})

test('every command that needs a configuration refuses an invalid one in the same way', async () => {
  const all = [['up'], ['serve'], ['migrate'], ['redirect', 'explain', 'x'], ['admin', 'listusers']]
  // Without this key a warning would be printed first.
  const env = { AUTH_SECRETS_KEY: 'k'.repeat(32) }
  for (const args of [...all, ['keys', 'list']]) {
    const { code, stderr } = await runCommand(args, { env })
    assert.equal(code, 2, args.join(' '))
    assert.match(stderr, /^The configuration is invalid:\n {2}AUTH_/)
  }
})

test('.env is read, --config reads another file, and the environment takes precedence over both', async (t) => {
  const { AUTH_SITE_URL: _, ...rest } = good
  const cwd = openFolder(t, {
    '.env': 'AUTH_SITE_URL=https://of-the-file.example\n',
    'other.env': 'GOTRUE_SITE_URL="https://of-the-other.example"\n',
  })
  const explain = async (
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    run = runCommand,
  ) => {
    const sites = ['of-the-file', 'of-the-other', 'of-the-environment']
    const urls = sites.map((site) => `https://${site}.example/`)
    const { stdout } = await run(['redirect', 'explain', ...urls, ...args], { env, cwd })
    return [...stdout.matchAll(/^https:..([\w-]+)\S* is allowed/gm)].map(([, site]) => site)
  }
  assert.deepEqual(await explain(['--config', 'other.env'], rest), ['of-the-other'])
  assert.deepEqual(await explain(['-c', 'other.env'], rest), ['of-the-other'])
  const inEnvironment = { ...rest, GOTRUE_SITE_URL: 'https://of-the-environment.example' }
  assert.deepEqual(await explain([], inEnvironment), ['of-the-environment'])
  assert.deepEqual(await explain([], rest, runAuth), ['of-the-file'])
})

test('--config-dir also reads all files of a folder, and the last one takes precedence', async (t) => {
  const folder = openFolder(t, {
    '10-site.env': 'AUTH_SITE_URL=https://of-the-first.example\nAUTH_JWT_EXP=soon\n',
    '20-site.env': 'AUTH_SITE_URL=https://of-the-last.example\nAUTH_JWT_EXP=60\nodd line\n',
    '30-site.txt': 'AUTH_JWT_EXP=later\n',
  })
  const { AUTH_SITE_URL: _, AUTH_JWT_EXP: __, ...rest } = { AUTH_JWT_EXP: '', ...good }
  const cwd = openFolder(t, { '.env': 'AUTH_SITE_URL=https://of-env.example\n' })
  const { code, stdout } = await runCommand(
    ['redirect', 'explain', 'https://of-the-last.example/', '--config-dir', folder],
    { env: rest, cwd },
  )
  assert.equal(code, 0)
  assert.match(stdout, /^https:..of-the-last\.example\S* is allowed/m)
  const checked = await runCommand(['config', 'check', '-d', folder], { env: rest, cwd })
  assert.match(checked.stdout, /20-site\.env, line 3 is not NAME=value/)
  const missing = await runCommand(['config', 'check', '-d', 'nowhere'], { env: rest, cwd })
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /^nowhere cannot be read: /)
})

test('an invalid line in a file is reported with its number', async (t) => {
  const cwd = openFolder(t, { '.env': 'AUTH_JWT_EXP=60\nAUTH_DISABLE_SIGNUP: true\n' })
  const { code, stdout } = await runCommand(['config', 'check'], { env: good, cwd })
  assert.equal(code, 0)
  assert.match(stdout, /^warning: \.env, line 2 is not NAME=value and is ignored$/m)
})

test('a file that cannot be read is named', async (t) => {
  const cwd = openFolder(t, {})
  const { code, stderr } = await runCommand(['config', 'check', '-c', 'none.env'], {
    env: good,
    cwd,
  })
  assert.equal(code, 2)
  assert.match(stderr, /^none\.env cannot be read: no such file or directory\n/)
})

test('config without check reports that the verb is missing, and refers to the help', async () => {
  const { code, stderr } = await runCommand(['config'], { env: good })
  assert.equal(code, 2)
  assert.equal(stderr, 'The verb is missing. Verbs: check.\nSee: auth config --help\n')
})
