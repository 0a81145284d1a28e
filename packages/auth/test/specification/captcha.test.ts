/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../src/config/config.ts'
import { openAuthServer, testEnvironment } from '../support/auth-server.ts'
import { openCaptchaService, toCaptchaEnvironment } from '../support/captcha-service.ts'
import { errorOf } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'

const faultsOf = (env: Readonly<Record<string, string>>) => {
  const source = { ...testEnvironment, DATABASE_URL: 'postgres://db.example/auth', ...env }
  return parseConfig(source).faults.map(toFaultText)
}

test('CAPTCHA in the specification', async (t) => {
  const service = await openCaptchaService(t, 'hcaptcha')
  const checkers = { captchaUrl: service.url }
  const env = toCaptchaEnvironment('hcaptcha')
  const server = await openAuthServer(t, { env, checkers })
  if (!server) return
  const signUp = (url: string, fields: Readonly<Record<string, unknown>>) =>
    send(url, '/signup', { body: { email: newEmail(), password, ...fields } })

  await t.test(
    'Authentication › when CAPTCHA is enabled, the request body must carry `captcha_token`',
    async () => {
      const { status, body } = await signUp(server.url, {})
      assert.deepEqual([status, body.code], [400, 400])
      assert.match(body.msg, /no captcha_token found/)
      const token = service.solve()
      assert.equal((await signUp(server.url, { captcha_token: token })).status, 200)
      assert.equal(service.forms.at(-1)?.['response'], token)
      assert.equal((await signUp(server.url, { captcha_token: token })).status, 400)
      assert.deepEqual(service.faults, [])
    },
  )

  await t.test('Configuration › SECURITY_CAPTCHA_ENABLED, SECURITY_CAPTCHA_SECRET', async () => {
    const { AUTH_SECURITY_CAPTCHA_SECRET: secret, ...rest } = env
    assert.equal(service.forms.at(-1)?.['secret'], secret)
    assert.equal(faultsOf(rest).length, 1)
    const off = await openAuthServer(t, {
      env: { ...env, AUTH_SECURITY_CAPTCHA_ENABLED: 'false' },
      checkers,
    })
    assert.equal((await signUp(off?.url ?? '', {})).status, 200)
  })

  await t.test('Configuration › SECURITY_CAPTCHA_PROVIDER: one of two provider identifiers', () => {
    for (const name of ['hcaptcha', 'turnstile'] as const) {
      assert.deepEqual(faultsOf(toCaptchaEnvironment(name)), [], name)
    }
    const [fault] = faultsOf({ ...env, AUTH_SECURITY_CAPTCHA_PROVIDER: 'mine' })
    assert.match(fault ?? '', /^AUTH_SECURITY_CAPTCHA_PROVIDER="mine": unsupported captcha/)
  })

  await t.test('Configuration › SECURITY_CAPTCHA_TIMEOUT', async () => {
    const hasty = await openAuthServer(t, {
      env: { ...env, AUTH_SECURITY_CAPTCHA_TIMEOUT: '20ms' },
      checkers,
    })
    service.failure = 'never responds'
    const answer = await signUp(hasty?.url ?? '', { captcha_token: service.solve() })
    assert.deepEqual(errorOf(answer), [
      500,
      'unexpected_failure',
      'captcha verification process failed',
    ])
  })
})
