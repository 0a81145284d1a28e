/**
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { openMigratedEnvironment, startAuth } from '../support/auth-program.ts'
import { newEmail, send } from '../support/http-client.ts'
import { openConnection } from '../support/kept-connection.ts'
import { openMailServer } from '../support/mail-server.ts'
import { until } from '../support/outbox.ts'
import { signup, startReloadable } from '../support/reloadable-server.ts'

for (const workers of ['1', '2']) {
  const where = workers === '1' ? 'one process' : 'two workers'

  test(`a changed file is applied without closing connections (${where})`, async (t) => {
    const environment = { AUTH_RELOADING_NOTIFY_ENABLED: 'true', WORKERS: workers }
    const server = await startReloadable(t, { AUTH_DISABLE_SIGNUP: 'false' }, environment)
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
    const server = await startReloadable(t, { AUTH_JWT_EXP: '600' }, manual)
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
  const server = await startReloadable(
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
  const env = await openMigratedEnvironment(t)
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
  const server = await startReloadable(t, { AUTH_JWT_EXP: '600' }, { WORKERS: '2' })
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
  const server = await startReloadable(t, { AUTH_JWT_EXP: '600' })
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
    const server = await startReloadable(t, { AUTH_JWT_EXP: '600' }, { WORKERS: workers })
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
  const server = await startReloadable(t, { AUTH_RATE_LIMIT_OTP: '20' })
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
  const server = await startReloadable(t, toFile(mails.port), {
    AUTH_RELOADING_NOTIFY_ENABLED: 'false',
  })
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
  const server = await startReloadable(t, { AUTH_JWT_EXP: '600' })
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
