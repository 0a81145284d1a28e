/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, fragmentOf, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, sdk, send } from '../../support/http-client.ts'

/** These headers vary between responses and reveal nothing about the user. */
const varying = new Set(['date', 'x-request-id', 'x-supabase-api-version'])

test('POST /recover', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, mailTo, mailsTo, query } = server

  await t.test('sends a link that signs in to set a new password', async () => {
    const { id, email } = await server.newUser()
    const answer = await post('/recover?redirect_to=https://site.example/new-password', { email })
    assert.deepEqual([answer.status, answer.body], [200, {}])
    const mail = await mailTo(email)
    assert.equal(mail.kind, 'recovery')
    assert.equal(mail.url.searchParams.get('type'), 'recovery')
    const followed = await send(url, mail.path)
    assert.match(followed.headers.get('location') ?? '', /^https:\/\/site\.example\/new-password#/)
    assert.equal(fragmentOf(followed)['type'], 'recovery')
    assert.deepEqual(await query('select is_recovery from sessions where user_id = $1', [id]), [
      { is_recovery: true },
    ])
    assert.deepEqual((await server.actionsOf(id)).slice(-2), ['user_recovery_requested', 'login'])
  })

  await t.test('responds the same for unknown users, also to repeated requests', async () => {
    for (const headers of [{}, sdk]) {
      const { email } = await server.newUser()
      const answers = []
      for (const address of [email, newEmail()]) {
        for (const expected of [['defer_email'], ['defer_email', 'find_message_wait']]) {
          await server.untilAnswered()
          server.takeStatements()
          const answer = await post('/recover', { email: address }, headers)
          const statements = server.takeStatements().slice(0, expected.length)
          assert.deepEqual(statements, expected)
          const kept = [...answer.headers].filter(([name]) => !varying.has(name))
          answers.push(JSON.stringify([answer.status, answer.body, kept]))
        }
      }
      assert.deepEqual(answers.slice(2), answers.slice(0, 2))
      assert.equal((await mailsTo(email)).length, 1)
    }
  })

  await t.test('returns how long to wait before another request', async () => {
    for (const email of [(await server.newUser()).email, newEmail()]) {
      await post('/recover', { email })
      server.clock.aheadMs += 100_000
      const early = await post('/recover', { email })
      const seconds = Number(early.headers.get('retry-after'))
      assert.ok(seconds > 700 && seconds <= 800, String(seconds))
      assert.deepEqual(errorOf(early), [
        429,
        'over_email_send_rate_limit',
        `For security purposes, you can only request this after ${seconds} seconds.`,
      ])
    }
  })

  await t.test('sends one message in 900 seconds, also for concurrent requests', async () => {
    const { email } = await server.newUser()
    const [sent] = await query('select sent from message_caps')
    for (const address of [email, newEmail()]) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => post('/recover', { email: address })),
      )
      const statuses = answers.map(({ status }) => status).sort()
      assert.deepEqual(statuses, [200, ...Array(9).fill(429)])
    }
    assert.equal((await mailsTo(email)).length, 1)
    // Refused requests do not count against the hourly limit.
    assert.deepEqual(await query('select sent from message_caps'), [{ sent: sent.sent + 1 }])
    server.clock.aheadMs += 800_000
    await post('/recover', { email })
    assert.equal((await mailsTo(email)).length, 1)
    server.clock.aheadMs += 100_000
    await post('/recover', { email })
    assert.equal((await mailsTo(email)).length, 2)
  })

  await t.test('does nothing if the redirect is not permitted', async () => {
    const { email } = await server.newUser()
    const answer = await post('/recover?redirect_to=https://evil.example', { email })
    assert.deepEqual(errorOf(answer), [400, 'validation_failed', 'redirect_to is not permitted'])
    assert.deepEqual(await mailsTo(email), [])
  })

  await t.test('reports invalid requests', async () => {
    const required = [400, 'validation_failed', 'Password recovery requires an email']
    assert.deepEqual(errorOf(await post('/recover', {})), required)
    assert.deepEqual(errorOf(await post('/recover', { email: null })), required)
    assert.deepEqual(errorOf(await post('/recover', { email: 'not-an-address' })), [
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ])
  })
})

test('POST /recover stops at the hourly limit for known and unknown users alike', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_EMAIL_SENT: '2/30m' })
  if (!server) return
  const [known, other] = [await server.newUser(), await server.newUser()]
  server.clock.aheadMs += 3_600_000
  await server.newUser()
  assert.equal((await server.post('/recover', { email: other.email })).status, 200)
  await server.untilAnswered()
  const gaps = await server.query('select * from message_gaps order by key')
  for (const email of [known.email, newEmail()]) {
    assert.deepEqual(errorOf(await server.post('/recover', { email })), [
      429,
      'over_email_send_rate_limit',
      'email rate limit exceeded',
    ])
  }
  // No message was sent, so no cooldown applies.
  assert.deepEqual(await server.query('select * from message_gaps order by key'), gaps)
  server.clock.aheadMs += 1_800_000
  assert.equal((await server.post('/recover', { email: known.email })).status, 200)
  assert.equal((await server.mailsTo(known.email)).length, 1)
})

test('POST /recover is rate limited by client address', async (t) => {
  const server = await openFlowServer(t, { AUTH_RATE_LIMIT_OTP: '1' })
  if (!server) return
  for (const path of ['/recover', '/otp', '/magiclink', '/resend']) {
    const email = newEmail()
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
