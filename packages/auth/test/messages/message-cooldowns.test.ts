/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthServer } from '../support/auth-server.ts'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, type RequestOptions, sdk, send } from '../support/http-client.ts'

test('the cooldown between two messages to an address', async (t) => {
  const server = await openFlowServer(t, { AUTH_JWT_ALLOWED_AUDIENCES: 'elsewhere' })
  if (!server) return
  const { post, query, mailsTo } = server
  const statusesOf = (answers: readonly { readonly status: number }[]) =>
    answers.map(({ status }) => status).toSorted()

  await t.test('allows only one of several concurrent requests to any endpoint', async () => {
    const known = await server.newUser()
    const paths = ['/signup', '/resend', '/signup', '/resend']
    for (const email of [known.email, newEmail()]) {
      const body = { email, password, type: 'signup' }
      const answers = await Promise.all(paths.map((path) => post(path, body)))
      assert.deepEqual(statusesOf(answers), [200, 429, 429, 429])
      const links = await Promise.all(
        ['/otp', '/magiclink', '/magiclink', '/otp'].map((path) => post(path, { email })),
      )
      assert.deepEqual(statusesOf(links), [200, 429, 429, 429])
      const recoveries = ['/recover', '/recover'].map((path) => post(path, { email }))
      assert.deepEqual(statusesOf(await Promise.all(recoveries)), [200, 429])
    }
    const failures = server.log.filter((line) => line.includes('status=500'))
    assert.deepEqual(failures, [])
  })

  await t.test('is shared by all servers with the same database', async (t) => {
    const { databaseUrl: url, schema } = server
    const other = await openAuthServer(t, { database: { url, schema }, clock: server.clock })
    if (!other) return
    const email = newEmail()
    assert.equal((await post('/recover', { email })).status, 200)
    assert.equal((await send(other.url, '/recover', { body: { email } })).status, 429)
  })

  await t.test('is separate for each address and audience', async () => {
    const email = newEmail()
    assert.equal((await post('/recover', { email })).status, 200)
    assert.equal((await post('/recover', { email: email.toUpperCase() })).status, 429)
    const elsewhere = { 'x-jwt-aud': 'elsewhere' }
    assert.equal((await post('/recover', { email }, elsewhere)).status, 200)
    assert.equal((await post('/recover', { email: newEmail() })).status, 200)
  })

  await t.test('starts with a message and not with a failed request', async () => {
    const email = newEmail()
    const failing: readonly (readonly [string, object, object])[] = [
      ['/signup', { email, password: '1' }, {}],
      ['/signup?redirect_to=https://evil.example', { email, password }, {}],
      ['/otp', { email, create_user: false }, sdk],
      ['/otp', { email, channel: 'sms' }, {}],
      ['/recover?redirect_to=https://evil.example', { email }, {}],
    ]
    for (const [path, body, headers] of failing) {
      const { status } = await post(path, body, { ...headers })
      assert.ok(status === 400 || status === 422, `${path} ${status}`)
    }
    assert.equal((await post('/signup', { email, password })).status, 200)
    assert.equal((await post('/otp', { email })).status, 200)
  })

  await t.test('does not apply to administrators, and they do not start it', async () => {
    const email = newEmail()
    const admin = { authorization: `Bearer ${server.serviceToken}` }
    for (let times = 0; times < 2; times += 1) {
      assert.equal((await post('/invite', { email }, admin)).status, 200)
      const link = await post('/admin/generate_link', { type: 'magiclink', email }, admin)
      assert.equal(link.status, 200)
    }
    assert.equal((await post('/resend', { type: 'signup', email })).status, 200)
    assert.equal((await post('/otp', { email })).status, 200)
    assert.equal((await mailsTo(email)).length, 4)
    assert.equal((await post('/invite', { email }, admin)).status, 200)
  })

  await t.test('is stored without the address', async () => {
    const email = newEmail()
    await query('delete from message_gaps')
    await post('/recover', { email })
    const rows = await query('select * from message_gaps')
    assert.deepEqual(Object.keys(rows[0]), ['key', 'sent_at'])
    assert.deepEqual([rows.length, rows[0].key.length], [1, 32])
  })
})

test('without a cooldown no request waits, and nothing is stored', async (t) => {
  const server = await openFlowServer(t, { AUTH_SMTP_MAX_FREQUENCY: '0' })
  if (!server) return
  const { email } = await server.newUser()
  for (let times = 1; times <= 2; times += 1) {
    assert.equal((await server.post('/recover', { email })).status, 200)
    assert.equal((await server.mailsTo(email)).length, times)
  }
  assert.deepEqual(await server.query('select * from message_gaps'), [])
  const { body } = await server.post('/token?grant_type=password', { email, password })
  const call = (path: string, options: RequestOptions = {}) =>
    send(server.url, path, { token: body.access_token, ...options })
  // Of two concurrent requests, the second one may have the earlier time.
  for (const aheadMs of [0, -1_000]) {
    server.clock.aheadMs = aheadMs
    const change = { method: 'PUT', body: { email: newEmail() } }
    assert.equal((await call('/user', change)).status, 200)
    assert.equal((await call('/reauthenticate')).status, 200)
  }
})

test('a sign-up over the message limit does not start the cooldown', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_EMAIL_SENT: '0' })
  if (!server) return
  const email = newEmail()
  for (const path of ['/signup', '/signup', '/otp', '/recover']) {
    const expected = [429, 'over_email_send_rate_limit', 'email rate limit exceeded']
    assert.deepEqual(errorOf(await server.post(path, { email, password })), expected, path)
  }
  assert.deepEqual(await server.query('select * from message_gaps'), [])
  assert.deepEqual(await server.query('select * from users'), [])
})
