/**
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { openProgramEnvironment, type StartedAuth, startAuth } from '../support/auth-program.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { openConnection } from '../support/kept-connection.ts'
import { openMailServer } from '../support/mail-server.ts'
import { until } from '../support/outbox.ts'

type Env = Readonly<Record<string, string>>

interface ReloadableServer extends StartedAuth {
  readonly env: Env
  /** Replaces the configuration file, as editors do. */
  write(variables: Env): void
  /** Waits for a line of the log that was not returned before. */
  untilLogged(pattern: RegExp): Promise<string>
}

/** Starts the program with a configuration file whose variables the environment does not set. */
async function start(
  t: TestContext,
  inFile: Env,
  inEnvironment: Env = {},
): Promise<ReloadableServer | undefined> {
  const env = await openProgramEnvironment(t)
  if (!env) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'auth-reload-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'auth.env')
  const write = (variables: Env): void => {
    const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`)
    writeFileSync(`${file}.new`, lines.join(''))
    renameSync(`${file}.new`, file)
  }
  write(inFile)
  const names = Object.keys(inFile)
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))
  const server = await startAuth(t, ['up', '--config', file], {
    ...rest,
    AUTH_RELOADING_GRACE_PERIOD_INTERVAL: '20ms',
    ...inEnvironment,
  })
  let read = server.output().length
  return {
    ...server,
    env,
    write,
    async untilLogged(pattern) {
      let line: string | undefined
      await until(() => {
        line = server
          .output()
          .slice(read)
          .split('\n')
          .find((each) => pattern.test(each))
        return line !== undefined
      })
      read = server.output().length
      return line ?? ''
    },
  }
}

const signup = (url: string) => send(url, '/signup', { body: { email: newEmail(), password } })

for (const workers of ['1', '2']) {
  const where = workers === '1' ? 'one process' : 'two workers'

  test(`a changed file is applied without closing connections (${where})`, async (t) => {
    const environment = { AUTH_RELOADING_NOTIFY_ENABLED: 'true', WORKERS: workers }
    const server = await start(t, { AUTH_DISABLE_SIGNUP: 'false' }, environment)
    if (!server) return
    const connections = [openConnection(t, server.url), openConnection(t, server.url)]
    const isDisabled = async () => {
      const answers = await Promise.all(connections.map((each) => each.send('/settings')))
      return answers.map(({ body }) => JSON.parse(body).disable_signup)
    }
    assert.deepEqual(await isDisabled(), [false, false])
    assert.equal((await signup(server.url)).status, 200)

    server.write({ AUTH_DISABLE_SIGNUP: 'true' })
    await server.untilLogged(/Reloaded the configuration; changed: AUTH_DISABLE_SIGNUP/)
    await until(async () => (await isDisabled()).every((each) => each === true))
    assert.equal((await signup(server.url)).body.error_code, 'signup_disabled')
    let closed = 0
    for (const { closed: end } of connections) void end.then(() => (closed += 1))

    server.write({ AUTH_DISABLE_SIGNUP: 'maybe', AUTH_DB_MAX_POOL_SIZE: '5' })
    const refused = await server.untilLogged(/"level":"error"/)
    assert.match(refused, /AUTH_DISABLE_SIGNUP=.+must be/)
    assert.match(refused, /The previous configuration stays in effect/)
    assert.deepEqual(await isDisabled(), [true, true])

    server.write({ AUTH_DISABLE_SIGNUP: 'false', AUTH_DB_MAX_POOL_SIZE: '5' })
    await server.untilLogged(/take effect after a restart: AUTH_DB_MAX_POOL_SIZE/)
    await until(async () => (await isDisabled()).every((each) => each === false))
    assert.equal((await signup(server.url)).status, 200)
    assert.equal(closed, 0, 'a connection was closed')
    assert.equal(await server.stop('SIGTERM'), 0)
  })

  test(`SIGHUP reloads, also without a change (${where})`, async (t) => {
    const manual = { AUTH_RELOADING_NOTIFY_ENABLED: 'false', WORKERS: workers }
    const server = await start(t, { AUTH_JWT_EXP: '600' }, manual)
    if (!server) return
    const lifetime = async () => (await signup(server.url)).body.expires_in
    assert.equal(await lifetime(), 600)
    server.write({ AUTH_JWT_EXP: '700' })
    server.signal('SIGHUP')
    await server.untilLogged(/Reloaded the configuration; changed: AUTH_JWT_EXP/)
    await until(async () => (await lifetime()) === 700)
    server.signal('SIGHUP')
    await server.untilLogged(/Reloaded the configuration; no setting has changed/)
    assert.equal(await lifetime(), 700)
  })
}

test('the signal of AUTH_RELOADING_SIGNAL_NUMBER reloads as well', async (t) => {
  const server = await start(
    t,
    { AUTH_JWT_EXP: '600' },
    {
      AUTH_RELOADING_NOTIFY_ENABLED: 'false',
      GOTRUE_RELOADING_SIGNAL_ENABLED: 'true',
      GOTRUE_RELOADING_SIGNAL_NUMBER: '10',
    },
  )
  if (!server) return
  server.write({ AUTH_JWT_EXP: '700' })
  server.signal('SIGUSR1')
  await server.untilLogged(/Received SIGUSR1: reloading/)
  await server.untilLogged(/changed: AUTH_JWT_EXP/)
  assert.equal((await signup(server.url)).body.expires_in, 700)
})

test('files are added to the folder of --config-dir and removed from it', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const folder = mkdtempSync(join(tmpdir(), 'auth-folder-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, '1.env'), 'AUTH_JWT_EXP=600\n')
  const server = await startAuth(t, ['up', '--config-dir', folder], {
    ...env,
    AUTH_RELOADING_GRACE_PERIOD_INTERVAL: '20ms',
  })
  const lifetime = async () => (await signup(server.url)).body.expires_in
  assert.equal(await lifetime(), 600)
  writeFileSync(join(folder, '2.env'), 'AUTH_JWT_EXP=700\n')
  await until(async () => (await lifetime()) === 700)
  rmSync(join(folder, '2.env'))
  await until(async () => (await lifetime()) === 600)
})

test('a replaced worker starts with the reloaded configuration', async (t) => {
  const server = await start(t, { AUTH_JWT_EXP: '600' }, { WORKERS: '2' })
  if (!server) return
  server.write({ AUTH_JWT_EXP: '700' })
  await server.untilLogged(/changed: AUTH_JWT_EXP/)
  const pids = [...server.output().matchAll(/Worker \d \(pid (\d+)\) is ready/g)]
  for (const [, pid] of pids) process.kill(Number(pid), 'SIGKILL')
  const ready = () => server.output().match(/is ready/g)?.length
  await until(() => ready() === 4)
  assert.equal((await signup(server.url)).body.expires_in, 700)
})

test('requests in progress finish with the old configuration', async (t) => {
  const server = await start(t, { AUTH_JWT_EXP: '600' })
  if (!server) return
  const client = new Client({ connectionString: server.env['DATABASE_URL'] })
  await client.connect()
  t.after(() => client.end())
  const table = `${server.env['AUTH_DB_NAMESPACE']}.users`
  await client.query(`begin; lock table ${table}`)
  const slow = signup(server.url)
  const blocked = `select 1 from pg_locks where not granted and relation = '${table}'::regclass`
  await until(async () => (await client.query(blocked)).rows.length > 0)
  server.write({ AUTH_JWT_EXP: '700' })
  await server.untilLogged(/changed: AUTH_JWT_EXP/)
  await client.query('commit')
  const { status, body } = await slow
  assert.deepEqual([status, body.expires_in], [200, 600])
  assert.equal((await signup(server.url)).body.expires_in, 700)
})

for (const workers of ['1', '2']) {
  test(`no request fails while the configuration is reloaded repeatedly (WORKERS=${workers})`, async (t) => {
    const server = await start(t, { AUTH_JWT_EXP: '600' }, { WORKERS: workers })
    if (!server) return
    const { access_token: token } = (await signup(server.url)).body
    let isOver = false
    let count = 0
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const { status } = await send(server.url, '/user', { token })
        assert.equal(status, 200)
        count += 1
      }
    })
    for (let round = 1; round <= 8; round += 1) {
      server.write({ AUTH_JWT_EXP: `${600 + round}` })
      await server.untilLogged(/changed: AUTH_JWT_EXP/)
    }
    isOver = true
    await Promise.all(load)
    assert.ok(count > 8, `${count} requests`)
    await until(async () => (await signup(server.url)).body.expires_in === 608)
    assert.equal(await server.stop('SIGTERM'), 0)
  })
}

test('limits change without forgetting the requests that were counted', async (t) => {
  const server = await start(t, { AUTH_RATE_LIMIT_OTP: '20' })
  if (!server) return
  const recover = async () => {
    const { status } = await send(server.url, '/recover', { body: { email: newEmail() } })
    return status
  }
  for (let count = 0; count < 20; count += 1) assert.equal(await recover(), 200)
  assert.equal(await recover(), 429)
  server.write({ AUTH_RATE_LIMIT_OTP: '21' })
  await server.untilLogged(/changed: AUTH_RATE_LIMIT_OTP/)
  assert.equal(await recover(), 429, 'the counts were lost')
  server.write({ AUTH_RATE_LIMIT_OTP: 'off' })
  await server.untilLogged(/changed: AUTH_RATE_LIMIT_OTP/)
  assert.equal(await recover(), 200)
})

test('signing keys are replaced: tokens of the old key stay valid as long as it is listed', async (t) => {
  const toKey = (kid: string, operations: readonly string[]) => ({
    ...{ kty: 'oct', kid, alg: 'HS256', k: randomBytes(32).toString('base64url') },
    key_ops: operations,
  })
  const [first, second] = [toKey('first', ['sign', 'verify']), toKey('second', ['sign', 'verify'])]
  const server = await start(t, { AUTH_JWT_KEYS: JSON.stringify([first]) })
  if (!server) return
  const readUser = async (token: string) => (await send(server.url, '/user', { token })).status
  const kidOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
  const { access_token: old } = (await signup(server.url)).body
  assert.equal(kidOf(old), 'first')
  const verifies = { ...first, key_ops: ['verify'] }
  server.write({ AUTH_JWT_KEYS: JSON.stringify([second, verifies]) })
  await server.untilLogged(/changed: AUTH_JWT_KEYS/)
  const { access_token: current } = (await signup(server.url)).body
  assert.equal(kidOf(current), 'second')
  assert.deepEqual([await readUser(old), await readUser(current)], [200, 200])
  server.write({ AUTH_JWT_KEYS: JSON.stringify([second]) })
  await server.untilLogged(/changed: AUTH_JWT_KEYS/)
  assert.deepEqual([await readUser(old), await readUser(current)], [403, 200])
  assert.doesNotMatch(server.output(), new RegExp(first.k))
})

test('the key that encrypts the keys in the database is replaced without a restart', async (t) => {
  const [first, second] = ['first'.repeat(8), 'second'.repeat(8)]
  const server = await start(t, { AUTH_SECRETS_KEY: first })
  if (!server) return
  const { refresh_token: token } = (await signup(server.url)).body
  server.write({ AUTH_SECRETS_KEY: 'another'.repeat(8) })
  const refused = await server.untilLogged(/"level":"error"/)
  assert.match(refused, /AUTH_SECRETS_KEY has another key/)
  const refresh = (refresh_token: string) =>
    send(server.url, '/token?grant_type=refresh_token', { body: { refresh_token } })
  const kept = await refresh(token)
  assert.equal(kept.status, 200, 'the previous key stays in effect')
  server.write({ AUTH_SECRETS_KEY: `${second},${first}` })
  await server.untilLogged(/changed: AUTH_SECRETS_KEY/)
  server.write({ AUTH_SECRETS_KEY: second })
  await server.untilLogged(/changed: AUTH_SECRETS_KEY/)
  assert.equal((await refresh(kept.body.refresh_token)).status, 200)
})

test('a changed key file is applied', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'auth-key-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'key')
  writeFileSync(file, 'first'.repeat(8))
  const server = await start(t, { AUTH_SECRETS_KEY: '', AUTH_SECRETS_KEY_FILE: file })
  if (!server) return
  writeFileSync(file, `${'second'.repeat(8)}\n${'first'.repeat(8)}`)
  await server.untilLogged(/Reloaded the configuration; changed: AUTH_SECRETS_KEY_FILE/)
  assert.equal((await signup(server.url)).status, 200)
})

test('SIGHUP fetches templates again, and a changed mail server is used', async (t) => {
  const mails = await openMailServer(t)
  const other = await openMailServer(t)
  let heading = 'Version 1'
  const site = createServer((_request, response) => {
    response.end(`<h2>${heading}</h2><a href="{{ .ConfirmationURL }}">ok</a>`)
  })
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.after(() => site.close())
  const { port } = site.address() as AddressInfo
  const toFile = (mailPort: number) => ({
    AUTH_MAILER_AUTOCONFIRM: 'false',
    AUTH_SITE_URL: `http://127.0.0.1:${port}`,
    AUTH_MAILER_TEMPLATES_CONFIRMATION: '/confirmation.html',
    AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
    AUTH_SMTP_HOST: '127.0.0.1',
    AUTH_SMTP_PORT: `${mailPort}`,
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000',
  })
  const server = await start(t, toFile(mails.port), { AUTH_RELOADING_NOTIFY_ENABLED: 'false' })
  if (!server) return
  await signup(server.url)
  const [first] = await mails.waitFor(1)
  assert.match(first?.parts.get('text/html') ?? '', /Version 1/)
  heading = 'Version 2'
  server.signal('SIGHUP')
  await server.untilLogged(/no setting has changed/)
  await signup(server.url)
  const [, second] = await mails.waitFor(2)
  assert.match(second?.parts.get('text/html') ?? '', /Version 2/)
  server.write(toFile(other.port))
  server.signal('SIGHUP')
  await server.untilLogged(/changed: AUTH_SMTP_PORT/)
  await signup(server.url)
  await other.waitFor(1)
  assert.equal(mails.received.length, 2)
})

test('SIGTERM stops a server whose configuration was reloaded', async (t) => {
  const server = await start(t, { AUTH_JWT_EXP: '600' })
  if (!server) return
  for (const seconds of ['700', '800']) {
    server.write({ AUTH_JWT_EXP: seconds })
    await server.untilLogged(/changed: AUTH_JWT_EXP/)
  }
  const signer = createTokenSigner(
    createSigningKeys({
      secret: server.env['AUTH_JWT_SECRET'] ?? '',
      keyId: undefined,
      keys: undefined,
    }),
  )
  const token = signer.sign({ role: 'service_role' })
  assert.equal((await send(server.url, '/admin/users', { token })).status, 200)
  assert.equal(await server.stop('SIGTERM'), 0)
  assert.doesNotMatch(server.output(), /did not (?:close|drain)/)
})
