/**
 * @servers postgres
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import { createCaptcha } from '../../../src/plugins/captcha/create-captcha.ts'
import { captchaServices, isCaptchaName } from '../../../src/plugins/captcha/index.ts'
import { openAuthServer } from '../../support/auth-server.ts'
import {
  captchaSecret,
  openCaptchaService,
  toCaptchaEnvironment,
} from '../../support/captcha-service.ts'
import { errorOf } from '../../support/flow-server.ts'
import { newEmail, send } from '../../support/http-client.ts'

const failed = [500, 'unexpected_failure', 'captcha verification process failed']

for (const name of Object.keys(captchaServices).filter(isCaptchaName)) {
  test(`${name} receives requests as documented`, async (t) => {
    const service = await openCaptchaService(t, name)
    const server = await openAuthServer(t, {
      // 80 % of this duration is not a whole number of milliseconds.
      env: {
        ...toCaptchaEnvironment(name),
        AUTH_API_MAX_REQUEST_DURATION: '59999ms',
        AUTH_TRUSTED_HOPS: '1',
      },
      checkers: { captchaUrl: service.url },
    })
    if (!server) return
    const recover = (token: string, headers: Readonly<Record<string, string>> = {}) =>
      send(server.url, '/recover', { body: { email: newEmail(), captcha_token: token }, headers })

    const token = service.solve()
    assert.equal((await recover(token)).status, 200)
    assert.deepEqual(service.forms, [
      { secret: captchaSecret, response: token, remoteip: '127.0.0.1' },
    ])
    await recover(service.solve(), { 'x-forwarded-for': '192.0.2.9, 203.0.113.7' })
    assert.equal(service.forms.at(-1)?.['remoteip'], '203.0.113.7')
    assert.deepEqual(service.faults, [])

    await t.test('the OpenAPI description lists both locations of a token', async () => {
      const { paths } = (await send(server.url, '/openapi.json')).body
      const schemaOf = (path: string) =>
        JSON.stringify(paths[path].post.requestBody?.content['application/json'].schema ?? {})
      for (const path of ['/signup', '/token', '/passkeys/authentication/options']) {
        assert.match(
          schemaOf(path),
          /"captcha_token".+"gotrue_meta_security".+"captcha_token"/,
          path,
        )
      }
      assert.doesNotMatch(schemaOf('/verify'), /captcha/)
    })

    await t.test('several reasons are returned together', async () => {
      service.failure = { reasons: ['bad-request', 'invalid-input-response'] }
      const [, , both] = errorOf(await recover('x'))
      assert.match(`${both}`, /\(bad-request, invalid-input-response\)$/)
    })

    await t.test('without a verdict the request fails and the reason is logged', async () => {
      for (const failure of ['broken', 'invalid JSON'] as const) {
        service.failure = failure
        assert.deepEqual(errorOf(await recover(service.solve())), failed, failure)
        assert.match(
          server.log.join(''),
          new RegExp(`${name} responded with status (502|200) and no verdict`),
        )
      }
    })
  })
}

test('a slow or unreachable service fails after the configured timeout', async (t) => {
  const service = await openCaptchaService(t, 'turnstile')
  service.failure = 'never responds'
  const env = { ...toCaptchaEnvironment('turnstile'), AUTH_SECURITY_CAPTCHA_TIMEOUT: '50ms' }
  const slow = await openAuthServer(t, { env, checkers: { captchaUrl: service.url } })
  if (!slow) return
  const body = { email: newEmail(), captcha_token: 'x' }
  assert.deepEqual(errorOf(await send(slow.url, '/recover', { body })), failed)
  assert.match(slow.log.join(''), /127\.0\.0\.1:\d+ did not respond within 50 ms/)

  const away = await openAuthServer(t, {
    env: toCaptchaEnvironment('turnstile'),
    checkers: { captchaUrl: 'http://127.0.0.1:1/siteverify' },
  })
  if (!away) return
  assert.deepEqual(errorOf(await send(away.url, '/recover', { body })), failed)
  assert.match(away.log.join(''), /127\.0\.0\.1:1 cannot be reached/)
})

test('each service has its documented URL', () => {
  assert.equal(captchaServices.hcaptcha.url, 'https://hcaptcha.com/siteverify')
  assert.equal(
    captchaServices.turnstile.url,
    'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  )
})

/** Creates a captcha checker for a service with a fixed response. */
function answering(provider: 'hcaptcha' | 'turnstile', body: unknown) {
  const log: string[] = []
  const urls: string[] = []
  const captcha = createCaptcha({
    config: { provider, secret: 'secret', timeoutMs: 1_000 },
    log: createLog({ level: 'error', format: 'text', write: (line) => log.push(line) }),
    async post(url) {
      urls.push(url)
      return { status: 200, body }
    },
  })
  return { captcha, log, urls }
}

test('a wrong secret is logged once', async () => {
  const { captcha, log, urls } = answering('hcaptcha', {
    success: false,
    'error-codes': ['invalid-input-secret'],
  })
  for (const token of ['a', 'b']) {
    assert.deepEqual(await captcha.findReasons(token, '::1'), ['invalid-input-secret'])
  }
  assert.equal(log.length, 1)
  assert.match(log.join(), /AUTH_SECURITY_CAPTCHA_SECRET is wrong.+hcaptcha responded with/)
  assert.deepEqual(new Set(urls), new Set(['https://hcaptcha.com/siteverify']))
})

test('an internal error of the service does not invalidate the token', async () => {
  const answer = { success: false, 'error-codes': ['internal-error'] }
  await assert.rejects(answering('turnstile', answer).captcha.findReasons('a', '::1'), {
    message: 'turnstile responded with internal-error',
  })
})

test('only an explicit success is accepted', async () => {
  for (const [body, reasons] of [
    [{ success: true }, []],
    [{ success: false }, ['no reason given']],
    [{ success: false, 'error-codes': 'x' }, ['no reason given']],
  ] as const) {
    const { captcha } = answering('turnstile', body)
    assert.deepEqual(await captcha.findReasons('a', '::1'), reasons)
  }
  for (const body of [undefined, null, true, [], {}, { success: 'true' }, { success: 1 }]) {
    await assert.rejects(answering('turnstile', body).captcha.findReasons('a', '::1'))
  }
})

test('an overlong token is refused without calling the service', async () => {
  const { captcha, urls } = answering('turnstile', { success: true })
  const reasons = await captcha.findReasons('x'.repeat(20_000), '::1')
  assert.deepEqual([reasons, urls], [['invalid-input-response'], []])
})
