/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthClient, dataOf, errorOf } from '../support/auth-js.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { openCaptchaService, toCaptchaEnvironment } from '../support/captcha-service.ts'
import { newEmail, password } from '../support/http-client.ts'

test('the client sends a CAPTCHA token with every method that accepts one', async (t) => {
  const service = await openCaptchaService(t, 'turnstile')
  const server = await openAuthServer(t, {
    env: {
      ...toCaptchaEnvironment('turnstile'),
      AUTH_SMTP_MAX_FREQUENCY: '0',
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    },
    checkers: { captchaUrl: service.url },
  })
  if (!server) return
  const client = createAuthClient(server.url)
  const email = newEmail()
  type Options = { readonly captchaToken: string } | undefined
  const withOptions = (options: Options) => (options === undefined ? {} : { options })

  const flows = {
    signUp: (options: Options) => client.signUp({ email, password, ...withOptions(options) }),
    signInWithPassword: (options: Options) =>
      client.signInWithPassword({ email, password, ...withOptions(options) }),
    signInAnonymously: (options: Options) => client.signInAnonymously(withOptions(options)),
    signInWithOtp: (options: Options) => client.signInWithOtp({ email, ...withOptions(options) }),
    resetPasswordForEmail: (options: Options) => client.resetPasswordForEmail(email, options),
    resend: (options: Options) => client.resend({ type: 'signup', email, ...withOptions(options) }),
  }
  for (const [name, flow] of Object.entries(flows)) {
    await t.test(name, async () => {
      assert.deepEqual(errorOf(await flow(undefined)), [
        'captcha_failed',
        400,
        'captcha protection: request disallowed (no captcha_token found)',
      ])
      const captchaToken = service.solve()
      dataOf(await flow({ captchaToken }))
      assert.deepEqual(errorOf(await flow({ captchaToken })), [
        'captcha_failed',
        400,
        'captcha protection: request disallowed (timeout-or-duplicate)',
      ])
    })
  }

  await t.test('refreshing a session needs no token', async () => {
    const options = { captchaToken: service.solve() }
    dataOf(await client.signInWithPassword({ email, password, options }))
    const formCount = service.forms.length
    assert.equal(dataOf(await client.refreshSession()).user?.email, email)
    assert.equal(dataOf(await client.getUser()).user.email, email)
    assert.equal(service.forms.length, formCount)
    assert.deepEqual(service.faults, [])
  })
})
