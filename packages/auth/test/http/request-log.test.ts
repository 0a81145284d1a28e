/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { test } from 'node:test'
import { Client } from 'pg'
import { openMigratedEnvironment, startAuth } from '../support/auth-program.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'

const loaded = new URL('../telemetry/support/print-loaded.ts', import.meta.url).href

test('the log is JSON, with a line for each request and each audit entry', async (t) => {
  const env = await openMigratedEnvironment(t)
  if (!env) return
  const server = await startAuth(t, ['up'], {
    ...env,
    REQUEST_ID_HEADER: 'x-request-id',
    AUTH_TRUSTED_HOPS: '1',
    NODE_OPTIONS: `--import ${loaded}`,
  })
  const { url } = server
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary fields of log lines
  const lines = (): any[] =>
    server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line))
  const logged = async (requestId: string, message = 'request completed') => {
    const find = () =>
      lines().find(({ msg, request_id }) => msg === message && request_id === requestId)
    await until(() => find() !== undefined)
    return find()
  }
  const email = newEmail()

  await t.test('for a sign-up: the user, the action and the result', async () => {
    const requestId = randomUUID()
    const { body } = await send(url, '/signup?note=secret', {
      body: { email, password },
      headers: {
        'x-request-id': requestId,
        'x-forwarded-for': '203.0.113.5',
        referer: 'https://app.example.com/join?token=secret#more',
        'user-agent': 'Test/1',
      },
    })
    const { duration, time, ...line } = await logged(requestId)
    const actor_id = body.id
    assert.deepEqual(line, {
      level: 'info',
      msg: 'request completed',
      component: 'api',
      method: 'POST',
      path: '/signup',
      route: '/signup',
      remote_addr: '203.0.113.5',
      referer: 'https://app.example.com/join',
      request_id: requestId,
      status: 200,
      auth_event: { action: 'login', actor_id, log_type: 'account' },
    })
    assert.ok(Number.isInteger(duration) && duration > 0)
    assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const audited = lines().filter(
      ({ msg, request_id }) => msg === 'auth_audit_event' && request_id === requestId,
    )
    assert.deepEqual(
      audited.map(({ action }) => action),
      ['user_signedup', 'login'],
    )
    const { time: _, audit_log_id, ...entry } = audited[0]
    assert.match(audit_log_id, /^[\da-f-]{36}$/)
    assert.deepEqual(entry, {
      level: 'info',
      msg: 'auth_audit_event',
      component: 'audit',
      request_id: requestId,
      user_agent: 'Test/1',
      ip_address: '203.0.113.5',
      actor_id,
      actor_via_sso: false,
      actor_username: email,
      action: 'user_signedup',
      log_type: 'team',
      traits: { provider: 'email' },
    })
  })

  await t.test('for a refusal: a warning with the error code', async () => {
    const requestId = randomUUID()
    const headers = { 'x-request-id': requestId }
    await send(url, '/token?grant_type=password', { body: { email, password: 'wrong' }, headers })
    const line = await logged(requestId)
    assert.deepEqual(
      [line.level, line.status, line.grant_type, line.error_code, line.error],
      ['warning', 400, 'password', 'invalid_credentials', 'Invalid login credentials'],
    )
    const { actor_id: actorId, ...event } = line.auth_event
    assert.match(actorId, /^[\da-f-]{36}$/)
    const failure = { action: 'login_failed', reason: 'wrong_password', log_type: 'account' }
    assert.deepEqual(event, failure)
  })

  await t.test('for an invalid body: an error without the body', async () => {
    const requestId = randomUUID()
    const headers = { 'x-request-id': requestId }
    await send(url, '/signup', { body: '{"password":"hunter22hunter22", ', headers })
    const line = await logged(requestId)
    assert.equal(line.error, 'Could not parse request body as JSON')
    assert.ok(!server.output().includes('hunter22'))
  })

  await t.test('for a server error: an error, and a separate line with the reason', async () => {
    const client = new Client({ connectionString: env['DATABASE_URL'] })
    await client.connect()
    t.after(() => client.end())
    const table = `${env['AUTH_DB_NAMESPACE']}.users`
    await client.query(`alter table ${table} rename to users_away`)
    const requestId = randomUUID()
    await send(url, '/token?grant_type=password', {
      body: { email, password },
      headers: { 'x-request-id': requestId },
    })
    await client.query(`alter table ${env['AUTH_DB_NAMESPACE']}.users_away rename to users`)
    const line = await logged(requestId)
    assert.deepEqual(
      [line.level, line.status, line.error_code],
      ['error', 500, 'unexpected_failure'],
    )
    const why = lines().find(({ msg }) => msg.startsWith(`request ${requestId} failed: `))
    assert.match(why.msg, /users" does not exist/)
  })

  await t.test('for an unknown or malformed path: without the query', async () => {
    for (const path of ['/nowhere/7', '/%zz']) {
      const requestId = randomUUID()
      await send(url, `${path}?token=abc`, { headers: { 'x-request-id': requestId } })
      const line = await logged(requestId)
      assert.deepEqual([line.path, line.route, line.status], [path, 'noroute', 404])
    }
  })

  await t.test(
    'for a client that disconnects while sending the body: one line, no error',
    async () => {
      const requestId = randomUUID()
      const before = lines().length
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.write(
        `POST /signup HTTP/1.1\r\nhost: x\r\nx-request-id: ${requestId}\r\ncontent-length: 99\r\n\r\n{`,
      )
      await until(async () => (await send(url, '/health')).status === 200)
      socket.destroy()
      const line = await logged(requestId)
      assert.deepEqual([line.status, line.level, line.error_code], [499, 'info', undefined])
      // Log lines are in order, so a later line shows that everything about the first request was
      // logged.
      const next = randomUUID()
      await send(url, '/settings', { headers: { 'x-request-id': next } })
      await logged(next)
      const about = lines()
        .slice(before)
        .filter((each) => JSON.stringify(each).includes(requestId))
      assert.equal(about.length, 1)
    },
  )

  await t.test('no line for /health, and OpenTelemetry is not loaded', async () => {
    await send(url, '/health')
    assert.equal(await server.stop('SIGTERM'), 0)
    assert.ok(!lines().some(({ path }) => path === '/health'))
    assert.doesNotMatch(server.output(), /loaded @opentelemetry/)
  })
})
