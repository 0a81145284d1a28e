/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SignJWT } from 'jose'
import { jwtSecret, openAuthServer } from '../support/auth-server.ts'
import { openCaptchaService, toCaptchaEnvironment } from '../support/captcha-service.ts'
import { errorOf } from '../support/flow-server.ts'
import {
  newEmail,
  password,
  type RequestOptions,
  send as sendHttp,
} from '../support/http-client.ts'
import { newPerson, signInByLink } from './people.ts'

/** Each request has another client address, because rate limits are not tested here. */
const send = (url: string, path: string, options: RequestOptions) =>
  sendHttp(url, path, { ...options, headers: { 'x-client': crypto.randomUUID() } })

/** The response to a request without a valid token. */
const refused = (why: string) => [
  400,
  'captcha_failed',
  `captcha protection: request disallowed (${why})`,
]

test('a CAPTCHA protects every endpoint that can be abused in bulk', async (t) => {
  const service = await openCaptchaService(t, 'hcaptcha')
  const server = await openAuthServer(t, {
    env: {
      ...toCaptchaEnvironment('hcaptcha'),
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
      AUTH_PASSKEY_ENABLED: 'true',
      AUTH_RATE_LIMIT_HEADER: 'x-client',
      AUTH_SMTP_MAX_FREQUENCY: '0',
      AUTH_RATE_LIMIT_CODES: 'off',
    },
    checkers: { captchaUrl: service.url },
  })
  if (!server) return
  const { url, serviceToken } = server
  t.after(() => assert.deepEqual(service.faults, []))

  const { email } = await newPerson(server)
  /** A valid body without a token for each endpoint, and the status of an accepted request. */
  const guarded = {
    '/signup': [() => ({ email: newEmail(), password }), 200],
    '/recover': [() => ({ email }), 200],
    '/resend': [() => ({ type: 'signup', email }), 200],
    '/magiclink': [() => ({ email }), 200],
    '/otp': [() => ({ email }), 200],
    '/token?grant_type=password': [() => ({ email, password }), 400],
    '/token?grant_type=web3': [() => ({}), 422],
    '/passkeys/authentication/options': [() => ({}), 200],
  } as const
  const paths = Object.entries(guarded)

  await t.test('a token that is missing, empty or wrong is refused (property 31)', async () => {
    for (const [path, [toBody]] of paths) {
      server.takeStatements()
      const forms = service.forms.length
      for (const extra of [
        {},
        { captcha_token: '' },
        { captcha_token: ' \t ' },
        { captcha_token: null },
        { captcha_token: 5 },
        { gotrue_meta_security: {} },
        { gotrue_meta_security: { captcha_token: null } },
        { gotrue_meta_security: 'x' },
      ]) {
        const answer = await send(url, path, { body: { ...toBody(), ...extra } })
        assert.deepEqual(errorOf(answer), refused('no captcha_token found'), path)
      }
      assert.equal(service.forms.length, forms, 'the service is not called without a token')
      const wrong = await send(url, path, { body: { ...toBody(), captcha_token: 'made up' } })
      assert.deepEqual(errorOf(wrong), refused('invalid-input-response'), path)
      assert.deepEqual(server.takeStatements(), [], path)
    }
  })

  await t.test('a token is accepted in both places, once (property 31)', async () => {
    for (const [path, [toBody, status]] of paths) {
      for (const toExtra of [
        (token: string) => ({ captcha_token: token }),
        (token: string) => ({ gotrue_meta_security: { captcha_token: token } }),
        (token: string) => ({ captcha_token: ` ${token}\n` }),
        (token: string) => ({ captcha_token: '', gotrue_meta_security: { captcha_token: token } }),
      ]) {
        const extra = toExtra(service.solve())
        const first = await send(url, path, { body: { ...toBody(), ...extra } })
        assert.equal(first.status, status, `${path}: ${JSON.stringify(first.body)}`)
        assert.notEqual(first.body.error_code, 'captcha_failed', path)
        const replayed = await send(url, path, { body: { ...toBody(), ...extra } })
        assert.deepEqual(errorOf(replayed), refused('invalid-or-already-seen-response'), path)
      }
    }
  })

  await t.test(
    'if both places have a token, only `captcha_token` is used (property 31)',
    async () => {
      const body = { email: newEmail(), password }
      const good = service.solve()
      const nested = { captcha_token: 'made up', gotrue_meta_security: { captcha_token: good } }
      const kept = await send(url, '/signup', { body: { ...body, ...nested } })
      assert.deepEqual(errorOf(kept), refused('invalid-input-response'))
      const top = { captcha_token: good, gotrue_meta_security: { captcha_token: 'made up' } }
      assert.equal((await send(url, '/signup', { body: { ...body, ...top } })).status, 200)
    },
  )

  await t.test('only an administrator with a valid token can bypass it (property 31)', async () => {
    const { access_token: own } = await signInByLink(server, email)
    const sign = (claims: Readonly<Record<string, unknown>>, secret: string = jwtSecret) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(secret))
    const hourAgo = Math.floor(Date.now() / 1_000) - 3_600
    const others = {
      'a user': own,
      'an anonymous key': await sign({ role: 'anon' }),
      'a forged token': await sign({ role: 'service_role' }, 'x'.repeat(40)),
      'an expired token': await sign({ role: 'service_role', exp: hourAgo }),
      'a token of an ended session': await sign({
        role: 'service_role',
        session_id: crypto.randomUUID(),
      }),
      'a token with an invalid session': await sign({ role: 'service_role', session_id: 'x' }),
      nonsense: 'nonsense',
    }
    for (const [path, [toBody, status]] of paths) {
      for (const [who, token] of Object.entries(others)) {
        const answer = await send(url, path, { body: toBody(), token })
        assert.deepEqual(errorOf(answer), refused('no captcha_token found'), `${path}: ${who}`)
      }
      const admin = await send(url, path, { body: toBody(), token: serviceToken })
      assert.equal(admin.status, status, `${path}: ${JSON.stringify(admin.body)}`)
      assert.notEqual(admin.body.error_code, 'captcha_failed', path)
    }
  })

  await t.test('grants that cannot be guessed need no token (property 31)', async () => {
    const { refresh_token } = await signInByLink(server, email)
    const path = '/token?grant_type=refresh_token'
    assert.equal((await send(url, path, { body: { refresh_token } })).status, 200)
    for (const name of ['pkce', 'id_token']) {
      const answer = await send(url, `/token?grant_type=${name}`, { body: {} })
      assert.notEqual(answer.body.error_code, 'captcha_failed', name)
    }
    // The first grant type is the one that is used and checked.
    const twice = '/token?grant_type=password&grant_type=refresh_token'
    const answer = await send(url, twice, { body: { email, password } })
    assert.deepEqual(errorOf(answer), refused('no captcha_token found'))
  })

  await t.test('the secret is in no response and in no log (property 31)', async () => {
    const body = { email, captcha_token: 'made up' }
    const answer = await send(url, '/recover', { body })
    assert.equal(answer.status, 400)
    const text = [JSON.stringify(answer.body), ...server.log].join('\n')
    assert.doesNotMatch(text, /our secret there/)
  })
})
