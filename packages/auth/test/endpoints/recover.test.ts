import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, fragmentOf, openFlowServer } from '../support/flow-server.ts'
import { ask, newEmail, sdk } from '../support/http-client.ts'

/** Headers that say nothing about the user. */
const varying = new Set(['date', 'x-supabase-api-version'])

test('POST /recover', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, mailTo, mailsTo, query } = server

  await t.test('sends a link that signs in for a new password', async () => {
    const { id, email } = await server.newUser()
    const answer = await post('/recover?redirect_to=https://site.example/new-password', { email })
    assert.deepEqual([answer.status, answer.body], [200, {}])
    const mail = await mailTo(email)
    assert.equal(mail.kind, 'recovery')
    assert.equal(mail.url.searchParams.get('type'), 'recovery')
    const followed = await ask(url, mail.path)
    assert.match(followed.headers.get('location') ?? '', /^https:\/\/site\.example\/new-password#/)
    assert.equal(fragmentOf(followed)['type'], 'recovery')
    assert.deepEqual(await query('select is_recovery from sessions where user_id = $1', [id]), [
      { is_recovery: true },
    ])
    assert.deepEqual((await server.actionsOf(id)).slice(-2), ['user_recovery_requested', 'login'])
  })

  await t.test('answers alike whether there is such a user, and whether one was sent', async () => {
    const { email } = await server.newUser()
    const answers = []
    for (const address of [email, email, newEmail()]) {
      for (const headers of [{}, sdk]) {
        server.takeStatements()
        const {
          status,
          body,
          headers: received,
        } = await post('/recover', { email: address }, headers)
        assert.equal(server.takeStatements().length, 2)
        const kept = [...received].filter(([name]) => !varying.has(name))
        answers.push(JSON.stringify([status, body, kept]))
      }
    }
    assert.equal(new Set(answers).size, 1, answers.join('\n'))
    assert.equal((await mailsTo(email)).length, 1)
  })

  await t.test('sends one in 900 seconds, and one to many requests at once', async () => {
    const { email } = await server.newUser()
    await Promise.all(Array.from({ length: 10 }, () => post('/recover', { email })))
    assert.equal((await mailsTo(email)).length, 1)
    server.clock.aheadMs += 899_000
    await post('/recover', { email })
    assert.equal((await mailsTo(email)).length, 1)
    server.clock.aheadMs += 1_000
    await post('/recover', { email })
    assert.equal((await mailsTo(email)).length, 2)
  })

  await t.test('does nothing where the redirect is not permitted', async () => {
    const { email } = await server.newUser()
    const answer = await post('/recover?redirect_to=https://evil.example', { email })
    assert.deepEqual(errorOf(answer), [400, 'validation_failed', 'redirect_to is not permitted'])
    assert.deepEqual(await mailsTo(email), [])
  })

  await t.test('says what is wrong with a request', async () => {
    const required = [400, 'validation_failed', 'Password recovery requires an email']
    assert.deepEqual(errorOf(await post('/recover', {})), required)
    assert.deepEqual(errorOf(await post('/recover', { email: null })), required)
    assert.deepEqual(errorOf(await post('/recover', { email: 'nobody' })), [
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ])
  })
})

test('POST /recover stops at the hourly limit alike for everybody', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_EMAIL_SENT: '2/30m' })
  if (!server) return
  const [known, other] = [await server.newUser(), await server.newUser()]
  server.clock.aheadMs += 3_600_000
  for (const { email } of [known, other]) {
    assert.equal((await server.post('/recover', { email })).status, 200)
  }
  const answers = []
  for (const email of [known.email, newEmail()])
    answers.push(await server.post('/recover', { email }))
  for (const answer of answers) {
    const expected = [429, 'over_email_send_rate_limit', 'email rate limit exceeded']
    assert.deepEqual(errorOf(answer), expected)
  }
  server.clock.aheadMs += 1_800_000
  assert.equal((await server.post('/recover', { email: known.email })).status, 200)
  assert.equal((await server.mailsTo(known.email)).length, 2)
})

test('POST /recover is limited by address', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_OTP: '1' })
  if (!server) return
  const email = newEmail()
  for (const path of ['/recover', '/otp', '/magiclink', '/resend']) {
    const first = await server.post(path, { email, type: 'signup' })
    assert.equal(first.status, 200, path)
    const second = await server.post(path, { email, type: 'signup' })
    assert.deepEqual(
      [second.status, second.body.error_code],
      [429, 'over_request_rate_limit'],
      path,
    )
  }
})
