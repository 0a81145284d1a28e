/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFactorCalls, factorEnvironment } from '../support/factors.ts'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { type HttpAnswer, newEmail, password, send } from '../support/http-client.ts'
import { newPhone, openPhoneServer, toWrongCode } from '../support/phone-server.ts'
import { newPerson, signInByLink } from './people.ts'

/** Without a cooldown, only the daily limit applies. */
const environment = { AUTH_SMTP_MAX_FREQUENCY: '0', AUTH_SMS_MAX_FREQUENCY: '0' }

const day = 86_400_000
const codeOf = ({ status, body }: HttpAnswer) => body.error_code ?? status

test('codes by email', async (t) => {
  const server = await openFlowServer(t, environment)
  if (!server) return
  const { url, clock, post } = server

  await t.test('at most thirty codes a day are sent to an address (property 15)', async (t) => {
    t.after(() => {
      clock.aheadMs = 0
    })
    const { email } = await newPerson(server)
    let sent = 0
    // Request a code every quarter of an hour, all day long.
    for (; clock.aheadMs < day; clock.aheadMs += 900_000) {
      const answer = await post('/otp', { email })
      if (answer.status === 200) sent += 1
      else assert.equal(answer.body.error_code, 'over_email_send_rate_limit')
    }
    assert.ok(sent >= 29 && sent <= 30, `${sent}`)
    assert.equal((await server.mailsTo(email)).length, sent)
  })

  await t.test(
    'all kinds of codes count, and half of them may be sent at once (property 15)',
    async () => {
      const { email } = await newPerson(server)
      const { access_token: token } = await signInByLink(server, email)
      const requests = [
        () => post('/otp', { email }),
        () => post('/magiclink', { email }),
        () => post('/recover', { email: email.toUpperCase() }),
        () => post('/resend', { type: 'signup', email }),
        () => post('/resend', { type: 'email_change', email }),
        () => post('/signup', { email, password }),
        () => send(url, '/reauthenticate', { token }),
        () => send(url, '/user', { method: 'PUT', token, body: { email: newEmail() } }),
      ]
      const answers: unknown[] = []
      for (let at = 0; at < 15; at += 1) {
        answers.push((await requests[at % requests.length]?.())?.status)
      }
      assert.deepEqual(answers, Array(15).fill(200))
      for (const [at, request] of requests.entries()) {
        const refused = await request()
        const seconds = Number(refused.headers.get('retry-after'))
        const text = `For security purposes, you can only request this after ${seconds} seconds.`
        assert.deepEqual(errorOf(refused), [429, 'over_email_send_rate_limit', text], `${at}`)
        assert.equal(seconds, 5_760)
      }
      // Requests without a code still work.
      const { status } = await send(url, '/user', { method: 'PUT', token, body: { data: {} } })
      assert.equal(status, 200)
      assert.equal((await signInByLink(server, email)).refresh_token.length > 0, true)
    },
  )

  await t.test(
    'addresses without an account are refused in the same way (property 15)',
    async () => {
      const { email } = await newPerson(server)
      const transcript = async (name: string, path: string, extra: object) => {
        const lines: unknown[] = []
        for (let at = 0; at < 17; at += 1) {
          const answer = await post(path, { email: name, ...extra })
          lines.push([answer.status, answer.body, answer.headers.get('retry-after')])
        }
        return lines
      }
      const expected = await transcript(email, '/recover', {})
      assert.equal((expected[15] as readonly unknown[])[0], 429)
      assert.deepEqual(await transcript(newEmail(), '/recover', {}), expected)
      assert.deepEqual(await transcript(newEmail(), '/otp', { create_user: true }), expected)
      assert.deepEqual(await transcript(newEmail(), '/resend', { type: 'signup' }), expected)
    },
  )

  await t.test('a request that sends nothing is not counted (property 15)', async () => {
    const { email } = await newPerson(server)
    for (let at = 0; at < 20; at += 1) {
      const body = { email, code_challenge: 'too short', code_challenge_method: 's256' }
      assert.equal((await post('/otp', body)).status, 400)
    }
    assert.equal((await post('/otp', { email })).status, 200)
  })

  await t.test('a day allows 150 guesses, a chance of one in 6,666 (property 15)', async (t) => {
    t.after(() => {
      clock.aheadMs = 0
    })
    const { email } = await newPerson(server)
    let guesses = 0
    for (; clock.aheadMs < day; clock.aheadMs += 1_800_000) {
      const { status } = await post('/otp', { email })
      if (status !== 200) continue
      const { code } = await server.mailTo(email)
      for (let at = 0; at < 5; at += 1, guesses += 1) {
        await post('/verify', { type: 'email', email, token: toWrongCode(code) })
      }
      // Further guesses are refused.
      assert.equal((await post('/verify', { type: 'email', email, token: code })).status, 403)
    }
    assert.ok(guesses >= 145 && guesses <= 150, `${guesses}`)
  })

  await t.test(
    'invitations and links of administrators are not limited (property 15)',
    async () => {
      const email = newEmail()
      const admin = { authorization: `Bearer ${server.serviceToken}` }
      for (let at = 0; at < 20; at += 1) {
        const made = await post('/admin/generate_link', { type: 'magiclink', email }, admin)
        assert.equal(made.status, 200)
      }
      assert.equal((await post('/otp', { email })).status, 200)
    },
  )
})

test('a request refused by the cooldown does not count for the day (property 15)', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { email } = await newPerson(server)
  assert.equal((await server.post('/otp', { email })).status, 200)
  for (let at = 0; at < 30; at += 1) {
    const refused = await server.post('/otp', { email })
    assert.match(refused.body.msg, /after 60 seconds/)
  }
  server.clock.aheadMs += 60_000
  assert.equal((await server.post('/otp', { email })).status, 200)
})

test('codes by text message', async (t) => {
  const tested = newPhone()
  const server = await openPhoneServer(t, {
    ...environment,
    ...factorEnvironment,
    AUTH_MFA_PHONE_MAX_FREQUENCY: '0',
    AUTH_SMS_TEST_OTP: `${tested}:123456`,
  })
  if (!server) return
  const { post } = server
  const calls = createFactorCalls(server)

  await t.test('a phone number has the same limit as an email address (property 15)', async () => {
    const phone = newPhone()
    const answers: unknown[] = []
    for (let at = 0; at < 16; at += 1)
      answers.push(codeOf(await post('/otp', { phone: `+${phone}` })))
    assert.deepEqual(answers, [...Array(15).fill(200), 'over_sms_send_rate_limit'])
    assert.equal(codeOf(await post('/signup', { phone, password })), 'over_sms_send_rate_limit')
    // No messages are sent to test phone numbers.
    for (let at = 0; at < 20; at += 1) {
      assert.equal((await post('/otp', { phone: tested })).status, 200)
    }
  })

  await t.test('codes of a phone factor count too (property 15)', async () => {
    const who = await calls.newSignedInUser()
    const phone = newPhone()
    const { body } = await calls.enroll(who, { factor_type: 'phone', phone })
    const answers: unknown[] = []
    for (let at = 0; at < 16; at += 1) answers.push(codeOf(await calls.challenge(who, body.id)))
    assert.deepEqual(answers, [...Array(15).fill(200), 'over_sms_send_rate_limit'])
    assert.equal(codeOf(await post('/otp', { phone })), 'over_sms_send_rate_limit')
  })
})

test('the code limit can be set and disabled (property 15)', async (t) => {
  const few = await openFlowServer(t, { ...environment, AUTH_RATE_LIMIT_CODES: '4' })
  const none = await openFlowServer(t, { ...environment, AUTH_RATE_LIMIT_CODES: 'off' })
  if (!few || !none) return
  const email = newEmail()
  const statuses: number[] = []
  for (let at = 0; at < 3; at += 1) statuses.push((await few.post('/recover', { email })).status)
  assert.deepEqual(statuses, [200, 200, 429])
  for (let at = 0; at < 40; at += 1) {
    assert.equal((await none.post('/recover', { email })).status, 200)
  }
})
