/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { createUser, logIn, signIn } from './people.ts'

test('Errors', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_PASSWORD_REQUIRED_CHARACTERS: 'abcdefghijklmnopqrstuvwxyz:0123456789:\\:;',
  })
  if (!server) return
  const { url, post, serviceToken } = server
  const good = 'abc123:'

  await t.test('Errors › a password shorter than PASSWORD_MIN_LENGTH fails', async () => {
    const email = newEmail()
    const answer = await post('/signup', { email, password: 'ab1:' })
    const expected = [422, 'weak_password', 'Password should be at least 6 characters.']
    assert.deepEqual(errorOf(answer), expected)
    assert.equal((await post('/signup', { email, password: good })).status, 200)
  })

  await t.test('Errors › a password missing required character sets fails', async () => {
    const sets = 'abcdefghijklmnopqrstuvwxyz, 0123456789, :;'
    const msg = `Password should contain at least one character of each: ${sets}.`
    for (const weak of ['abcdef:', '123456:', 'abc1234']) {
      const answer = await post('/signup', { email: newEmail(), password: weak })
      assert.deepEqual(errorOf(answer), [422, 'weak_password', msg], weak)
    }
    const { token } = await signIn(server)
    const put = await send(url, '/user', { method: 'PUT', token, body: { password: 'abcdefg' } })
    assert.deepEqual(errorOf(put), [422, 'weak_password', msg])
  })

  await t.test('Errors › a `redirect_to` outside the permitted set fails', async () => {
    const outside = 'https://other.example/'
    const expected = [400, 'validation_failed', 'redirect_to is not permitted']
    const { id, token, email } = await signIn(server)
    const newcomer = newEmail()
    const link = await send(url, '/admin/generate_link', {
      token: serviceToken,
      body: { type: 'recovery', email },
    })
    const proof = { type: 'recovery', token: link.body.hashed_token }
    const inQuery = `redirect_to=${encodeURIComponent(outside)}`
    const answers = {
      signup: await post(`/signup?${inQuery}`, { email: newcomer, password: good }),
      otp: await post(`/otp?${inQuery}`, { email: newcomer }),
      magiclink: await post(`/magiclink?${inQuery}`, { email: newcomer }),
      recover: await post(`/recover?${inQuery}`, { email }),
      invite: await send(url, `/invite?${inQuery}`, {
        token: serviceToken,
        body: { email: newcomer },
      }),
      put: await send(url, `/user?${inQuery}`, { method: 'PUT', token, body: { email: newcomer } }),
      link: await send(url, '/admin/generate_link', {
        token: serviceToken,
        body: { type: 'invite', email: newcomer, redirect_to: outside },
      }),
      'POST /verify': await post('/verify', { ...proof, redirect_to: outside }),
      'GET /verify': await send(url, `/verify?${new URLSearchParams(proof)}&${inQuery}`),
    }
    for (const [name, answer] of Object.entries(answers)) {
      assert.deepEqual(errorOf(answer), expected, name)
    }
    assert.deepEqual(await server.query('select from users where email = $1', [newcomer]), [])
    assert.deepEqual([await server.mailsTo(newcomer), await server.mailsTo(email)], [[], []])
    // The failed request had no effect, so the token is still valid.
    assert.equal((await post('/verify', proof)).body.user.id, id)
  })

  await t.test('Errors › missing credentials fail', async () => {
    const { email } = await createUser(server)
    const missing = [
      [await send(url, '/user'), 401],
      [await send(url, '/user', { method: 'PUT', body: {} }), 401],
      [await send(url, '/reauthenticate'), 401],
      [await send(url, '/logout', { method: 'POST' }), 401],
      [await send(url, '/invite', { body: { email: newEmail() } }), 401],
      [await post('/token?grant_type=password', { email }), 400],
      [await post('/token?grant_type=password', { password }), 400],
      [await post('/token?grant_type=refresh_token', {}), 400],
      [await post('/verify', { type: 'signup' }), 400],
    ] as const
    for (const [answer, status] of missing) {
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      assert.equal(answer.body.code, status)
      assert.ok(answer.body.msg)
    }
  })

  await t.test('Errors › insufficient credentials fail', async () => {
    const { token } = await signIn(server)
    const answer = await send(url, '/admin/users', { token })
    assert.deepEqual(errorOf(answer), [403, 'not_admin', 'User not allowed'])
    const { email } = await createUser(server, { email_confirm: false, password: good })
    const unconfirmed = await logIn(url, email, good)
    assert.deepEqual(errorOf(unconfirmed), [400, 'email_not_confirmed', 'Email not confirmed'])
  })
})

test('Errors with restrictive settings', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_DISABLE_SIGNUP: 'true',
    AUTH_RATE_LIMIT_EMAIL_SENT: '2',
    AUTH_RATE_LIMIT_TOKEN_REFRESH: '3',
    AUTH_SMTP_MAX_FREQUENCY: '60',
  })
  if (!server) return
  const { url, post } = server

  await t.test('Errors › signup while DISABLE_SIGNUP is true fails', async () => {
    const email = newEmail()
    const answer = await post('/signup', { email, password })
    const expected = [422, 'signup_disabled', 'Signups not allowed for this instance']
    assert.deepEqual(errorOf(answer), expected)
    assert.deepEqual(await server.query('select from users where email = $1', [email]), [])
  })

  await t.test('Errors › an exceeded rate limit fails: requests', async () => {
    const body = { refresh_token: 'unknown' }
    const statuses = []
    for (let i = 0; i < 4; i++) {
      statuses.push((await post('/token?grant_type=refresh_token', body)).status)
    }
    assert.deepEqual(statuses, [400, 400, 400, 429])
    const answer = await post('/token?grant_type=refresh_token', body)
    const expected = [429, 'over_request_rate_limit', 'Request rate limit reached']
    assert.deepEqual(errorOf(answer), expected)
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  })

  await t.test('Errors › an exceeded rate limit fails: the cooldown of a message', async () => {
    const { token } = await signIn(server)
    assert.equal((await send(url, '/reauthenticate', { token })).status, 200)
    const answer = await send(url, '/reauthenticate', { token })
    assert.deepEqual([answer.status, answer.body.code], [429, 429])
    assert.match(answer.body.msg, /^For security purposes, you can only request this after \d+ sec/)
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    // The limit also applies without a session, whether or not the user exists.
    for (const email of [newEmail(), (await createUser(server)).email]) {
      await post('/recover', { email })
      const early = await post('/recover', { email })
      assert.deepEqual([early.status, early.body.code], [429, 429])
      assert.match(
        early.body.msg,
        /^For security purposes, you can only request this after \d+ sec/,
      )
      assert.match(early.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    }
  })

  await t.test('Errors › an exceeded rate limit fails: messages in an hour', async () => {
    // A message counts in the hour in which it is queued, which is after the response.
    await server.untilAnswered()
    server.clock.aheadMs += 3_600_000
    for (let i = 0; i < 2; i++) {
      const { email } = await createUser(server)
      assert.equal((await post('/recover', { email })).status, 200)
      await server.untilAnswered()
    }
    const { email } = await createUser(server)
    const answer = await post('/recover', { email })
    const expected = [429, 'over_email_send_rate_limit', 'email rate limit exceeded']
    assert.deepEqual(errorOf(answer), expected)
  })
})

test('Limits', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { post, mailsTo } = server

  await t.test('Limits › password minimum length: 6 by default', async () => {
    const email = newEmail()
    assert.equal((await post('/signup', { email, password: '12345' })).status, 422)
    assert.equal((await post('/signup', { email, password: '123456' })).status, 200)
  })

  await t.test(
    'Limits › minimum gap between confirmation emails: 900 seconds by default',
    async () => {
      const email = newEmail()
      const sent = async () => (await mailsTo(email)).length
      await post('/signup', { email, password })
      server.clock.aheadMs += 850_000
      assert.equal((await post('/signup', { email, password })).status, 429)
      assert.equal(await sent(), 1)
      server.clock.aheadMs += 50_500
      await post('/signup', { email, password })
      assert.equal(await sent(), 2)
    },
  )

  await t.test('Limits › minimum gap between reset emails: 900 seconds by default', async () => {
    const { email } = await createUser(server)
    const sent = async () => (await mailsTo(email)).length
    await post('/recover', { email })
    server.clock.aheadMs += 850_000
    assert.equal((await post('/recover', { email })).status, 429)
    assert.equal(await sent(), 1)
    server.clock.aheadMs += 50_500
    await post('/recover', { email })
    assert.equal(await sent(), 2)
  })
})
