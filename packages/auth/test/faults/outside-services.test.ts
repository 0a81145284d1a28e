/**
 * @legs safety
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthServer } from '../support/auth-server.ts'
import { openCaptchaService, toCaptchaEnvironment } from '../support/captcha-service.ts'
import { newAccount, openExternalServer } from '../support/external-server.ts'
import { type HttpBehaviour, openFaultyHttpServer } from '../support/faulty-http-server.ts'
import { fragmentOf } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { openMailServer } from '../support/mail-server.ts'
import { until } from '../support/outbox.ts'
import { newPhone, openPhoneServer } from '../support/phone-server.ts'

/**
 * With one connection, a request that kept it while it waits for a service would block all others.
 */
const oneConnection = { AUTH_DB_MAX_POOL_SIZE: '1' } as const

/** Makes messages that wait for a retry due; running attempts have a longer lease. */
const makeRetriesDue = `update outbox set next_attempt_at = now()
  where failed_at is null and next_attempt_at < now() + interval '60 seconds'`

const requestCount = 6
const hanging: readonly HttpBehaviour[] = ['never responds', 'starts a response and stalls']
const failing: readonly HttpBehaviour[] = [
  'responds with 500',
  'responds with 503 and a page',
  'disconnects',
  'starts a response and disconnects',
]

test('requests do not wait for a gateway, and no text message is lost, when it', async (t) => {
  const gateway = await openFaultyHttpServer(t)
  const mail = await openMailServer(t)
  const server = await openPhoneServer(t, {
    ...oneConnection,
    AUTH_SMS_WEBHOOK_URL: gateway.url,
    AUTH_SMTP_PORT: `${mail.port}`,
  })
  if (!server) return
  const { post, query } = server
  const countTo = (phone: string) =>
    gateway.bodies.filter((body) => body.includes(`+${phone}`)).length
  const requestTexts = async () => {
    const phones = Array.from({ length: requestCount }, newPhone)
    for (const phone of phones) assert.equal((await post('/otp', { phone })).status, 200)
    return phones
  }
  const untilGone = () => until(async () => (await query('select from outbox')).length === 0)
  const deliver = async () => {
    gateway.behave('works')
    await until(async () => {
      const claimed = await query(
        "select from outbox where failed_at is null and next_attempt_at > now() + interval '60 seconds'",
      )
      return claimed.length === 0
    })
    await query(makeRetriesDue)
    await post('/otp', { phone: newPhone() })
    await untilGone()
  }

  for (const behaviour of hanging) {
    await t.test(behaviour, async () => {
      gateway.behave(behaviour)
      const phones = await requestTexts()
      await until(() => gateway.open > 0)
      assert.equal((await query('select from outbox')).length, requestCount)
      // Email is not delayed.
      const before = mail.received.length
      assert.equal((await post('/otp', { email: newEmail() })).status, 200)
      await mail.waitFor(before + 1)
      assert.equal((await query("select from outbox where channel = 'sms'")).length, requestCount)
      await deliver()
      for (const phone of phones) assert.ok(countTo(phone) >= 1)
    })
  }

  for (const behaviour of failing) {
    await t.test(behaviour, async () => {
      gateway.behave(behaviour)
      const phones = await requestTexts()
      await until(async () => {
        const failed = await query('select from outbox where last_error is not null')
        return failed.length === requestCount
      })
      await deliver()
      for (const phone of phones) assert.ok(countTo(phone) >= 2)
      const [{ failed }] = await query(
        'select count(*)::integer as failed from outbox where failed_at is not null',
      )
      assert.equal(failed, 0)
    })
  }
})

test('a failing provider affects only its own sign-ins', async (t) => {
  const server = await openExternalServer(t, ['keycloak'], {
    ...oneConnection,
    // The timeout for providers is four fifths of this duration.
    AUTH_API_MAX_REQUEST_DURATION: '6s',
  })
  if (!server) return
  const { url, post } = server
  const provider = server.at('keycloak')
  const { email } = await server.newUser()
  const { body } = await post('/token?grant_type=password', { email, password })
  const failures = [
    'no response',
    'token endpoint fails',
    'API fails',
    'oversized response',
  ] as const

  for (const failure of failures) {
    await t.test(failure, async () => {
      const account = newAccount()
      const before = server.log.length
      provider.failure = failure
      let isAnswered = false
      const coming = server.signInWith('keycloak', account).finally(() => {
        isAnswered = true
      })
      const others = await Promise.all(
        Array.from({ length: 8 }, () => send(url, '/user', { token: body.access_token })),
      )
      assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([200]))
      if (failure === 'no response') assert.equal(isAnswered, false)
      const answer = await coming
      assert.equal(answer.status, 302)
      assert.equal(fragmentOf(answer)['error'], 'server_error')
      const logged = server.log.slice(before).join('')
      assert.match(logged, /OutgoingError: (?:the response of )?127\.0\.0\.1/)
      provider.failure = undefined
      const again = await server.signInWith('keycloak', account)
      assert.ok(fragmentOf(again)['access_token'])
    })
  }
})

test('a captcha service that never responds affects only the requests that need it', async (t) => {
  const service = await openCaptchaService(t, 'turnstile')
  const server = await openAuthServer(t, {
    env: {
      ...oneConnection,
      ...toCaptchaEnvironment('turnstile'),
      // The timeout is long enough to see other requests served, even on a busy machine.
      AUTH_SECURITY_CAPTCHA_TIMEOUT: '5s',
    },
    checkers: { captchaUrl: service.url },
  })
  if (!server) return
  const { url, serviceToken: token } = server
  const signUp = () => {
    const gotrue_meta_security = { captcha_token: service.solve() }
    return send(url, '/signup', { body: { email: newEmail(), password, gotrue_meta_security } })
  }
  service.failure = 'never responds'
  let answered = 0
  const waiting = Array.from({ length: 4 }, () => signUp().finally(() => answered++))
  await until(() => service.forms.length > 0)
  assert.equal((await send(url, '/admin/users', { token })).status, 200)
  assert.equal(answered, 0)
  for (const { status, body } of await Promise.all(waiting)) {
    assert.deepEqual([status, body.error_code], [500, 'unexpected_failure'])
  }
  service.failure = undefined
  assert.equal((await signUp()).status, 200)
})
