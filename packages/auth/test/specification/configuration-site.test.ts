/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthServer } from '../support/auth-server.ts'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { createUser, logIn, refresh, signIn } from './people.ts'

const recoverTo = (url: string, target: string) =>
  send(url, `/recover?redirect_to=${encodeURIComponent(target)}`, { body: { email: newEmail() } })

test('Configuration: only the required variables', async (t) => {
  const server = await openAuthServer(t, {
    env: {
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
      AUTH_SMTP_HOST: '127.0.0.1',
      AUTH_SMTP_PORT: '1',
    },
  })
  if (!server) return
  const { url, serviceToken } = server
  const post = (path: string, body: unknown) => send(url, path, { body })

  await t.test('Configuration › URI_ALLOW_LIST: default empty', async () => {
    assert.equal((await recoverTo(url, 'https://site.example/x')).status, 200)
    assert.equal((await recoverTo(url, 'https://other.example/')).status, 400)
  })

  await t.test('Configuration › DISABLE_SIGNUP: default false', async () => {
    assert.equal((await send(url, '/settings')).body.disable_signup, false)
    assert.equal((await post('/signup', { email: newEmail(), password })).status, 200)
  })

  await t.test('Configuration › EXTERNAL_PHONE_ENABLED: false disables phone signups', async () => {
    const answer = await post('/signup', { phone: '+15550100007', password })
    const expected = [400, 'phone_provider_disabled', 'Phone signups are disabled']
    assert.deepEqual(errorOf(answer), expected)
  })

  await t.test(
    'Configuration › EXTERNAL_ANONYMOUS_USERS_ENABLED: without it no anonymous sign-ins',
    async () => {
      const expected = [422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled']
      assert.deepEqual(errorOf(await post('/signup', {})), expected)
    },
  )

  await t.test('Configuration › RATE_LIMIT_EMAIL_SENT: default not shown (30)', async () => {
    server.clock.aheadMs += 3_600_000
    const invite = () => send(url, '/invite', { token: serviceToken, body: { email: newEmail() } })
    for (let i = 0; i < 30; i++) assert.equal((await invite()).status, 200)
    assert.equal((await invite()).status, 429)
    server.clock.aheadMs += 3_600_000
    assert.equal((await invite()).status, 200)
  })
})

test('Configuration: site and passwords', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_SITE_URL: 'https://app.example/start',
    AUTH_URI_ALLOW_LIST:
      'https://*.foo.example/cb, https://bar.example/docs/*,myapp://cb, any://**,com.app://**',
    AUTH_PASSWORD_MIN_LENGTH: '10',
    AUTH_PASSWORD_REQUIRED_CHARACTERS: 'abc:\\:!:xyz\\:',
    AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: 'false',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  })
  if (!server) return
  const { url, post } = server
  const signUp = (secret: string) => post('/signup', { email: newEmail(), password: secret })

  await t.test('Configuration › SITE_URL: base URL of the site', async () => {
    const email = newEmail()
    await post('/signup', { email, password: 'a!x1234567' })
    const { headers } = await send(url, (await server.mailTo(email)).path)
    assert.match(headers.get('location') ?? '', /^https:\/\/app\.example\/start#access_token=/)
  })

  await t.test(
    'Configuration › SITE_URL: any URI sharing its host is a permitted `redirect_to`',
    async () => {
      for (const path of ['', '/', '/elsewhere?a=b', ':3000/x']) {
        assert.equal((await recoverTo(url, `https://app.example${path}`)).status, 200, path)
      }
      assert.equal((await recoverTo(url, 'https://site.example/')).status, 400)
    },
  )

  await t.test(
    'Configuration › URI_ALLOW_LIST: comma-separated permitted `redirect_to` URIs',
    async () => {
      assert.equal((await recoverTo(url, 'myapp://cb')).status, 200)
      assert.equal((await recoverTo(url, 'https://bar.example/docs/one')).status, 200)
      assert.equal((await recoverTo(url, 'https://bar.example/')).status, 400)
      for (const any of ['any://login/x', 'any://', 'com.app://login/x', 'com.app://']) {
        assert.equal((await recoverTo(url, any)).status, 200, any)
      }
      assert.equal((await recoverTo(url, 'myapp://login/x')).status, 400)
    },
  )

  await t.test('Configuration › URI_ALLOW_LIST: `*` globbing in host labels', async () => {
    assert.equal((await recoverTo(url, 'https://a.foo.example/cb')).status, 200)
    for (const host of ['a.b.foo.example', 'foo.example', 'evil.example?.foo.example']) {
      assert.equal((await recoverTo(url, `https://${host}/cb`)).status, 400, host)
    }
  })

  await t.test('Configuration › URI_ALLOW_LIST: `*` globbing in paths', async () => {
    assert.equal((await recoverTo(url, 'https://bar.example/docs/two')).status, 200)
    for (const path of ['/docs/a/b', '/docs', '/docss/x']) {
      assert.equal((await recoverTo(url, `https://bar.example${path}`)).status, 400, path)
    }
  })

  await t.test('Configuration › PASSWORD_MIN_LENGTH: int', async () => {
    const short = await signUp('a!x123456')
    assert.equal(short.body.msg, 'Password should be at least 10 characters.')
    assert.equal((await signUp('a!x1234567')).status, 200)
  })

  await t.test(
    'Configuration › PASSWORD_REQUIRED_CHARACTERS: sets separated by `:`; a password needs one character of each set',
    async () => {
      for (const weak of ['a!11111111', 'ax11111111', '!x11111111']) {
        assert.equal((await signUp(weak)).body.error_code, 'weak_password', weak)
      }
    },
  )

  await t.test(
    'Configuration › PASSWORD_REQUIRED_CHARACTERS: a literal colon is escaped with a backslash',
    async () => {
      // The sets are abc, `:!` and `xyz:`; a colon is in the last two.
      assert.equal((await signUp('a:11111111')).status, 200)
      const { body } = await signUp('1111111111')
      const sets = 'abc, :!, xyz:'
      assert.equal(body.msg, `Password should contain at least one character of each: ${sets}.`)
    },
  )

  await t.test(
    'Configuration › SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: false: reuse does not end the session',
    async () => {
      const { refreshToken } = await signIn(server)
      const { body: child } = await refresh(url, refreshToken)
      const { body: grandchild } = await refresh(url, child.refresh_token)
      assert.equal((await refresh(url, refreshToken)).status, 400)
      assert.equal((await refresh(url, grandchild.refresh_token)).status, 200)
    },
  )

  await t.test(
    'Configuration › EXTERNAL_ANONYMOUS_USERS_ENABLED: enables anonymous sign-ins',
    async () => {
      const { status, body } = await post('/signup', {})
      assert.deepEqual([status, body.user.is_anonymous], [200, true])
    },
  )
})

test('Configuration: sign-up disabled', async (t) => {
  const server = await openFlowServer(t, { AUTH_DISABLE_SIGNUP: 'true' })
  if (!server) return
  const { url, post, serviceToken } = server

  await t.test(
    'Configuration › DISABLE_SIGNUP: when true users are created only by invite',
    async () => {
      const email = newEmail()
      const expected = [422, 'signup_disabled', 'Signups not allowed for this instance']
      assert.deepEqual(errorOf(await post('/signup', { email, password })), expected)
      for (const path of ['/otp', '/magiclink']) {
        // The response is the same for everyone; 422 would reveal who has an account.
        assert.equal((await post(path, { email })).status, path === '/otp' ? 200 : 429, path)
      }
      await server.untilAnswered()
      assert.deepEqual(await server.query('select from users'), [])
      assert.equal((await send(url, '/settings')).body.disable_signup, true)
      const invited = await send(url, '/invite', { token: serviceToken, body: { email } })
      assert.equal(invited.status, 200)
      const { token } = await server.mailTo(email)
      assert.equal((await post('/verify', { type: 'invite', token })).status, 200)
    },
  )
})

test('Configuration: limits', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_RATE_LIMIT_EMAIL_SENT: '6',
    AUTH_RATE_LIMIT_HEADER: 'X-Real-IP',
    AUTH_RATE_LIMIT_TOKEN_REFRESH: '2',
    AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
  })
  if (!server) return
  const { url, post, serviceToken } = server

  await t.test(
    'Configuration › RATE_LIMIT_HEADER: header on which `/token` is rate limited',
    async () => {
      const statusOf = async (address: string) => {
        const body = { refresh_token: 'unknown' }
        const headers = { 'x-real-ip': address }
        return (await post('/token?grant_type=refresh_token', body, headers)).status
      }
      assert.deepEqual([await statusOf('192.0.2.1'), await statusOf('192.0.2.1')], [400, 400])
      assert.equal(await statusOf('192.0.2.1'), 429)
      assert.equal(await statusOf('192.0.2.2'), 400)
    },
  )

  await t.test(
    'Configuration › RATE_LIMIT_EMAIL_SENT: emails per hour on /signup, /invite, /magiclink, /recover, /otp, /user',
    async () => {
      /** Sends one message through each endpoint. */
      const mailAll = async () => {
        const { token } = await signIn(server)
        const email = async () => (await createUser(server)).email
        const admin = { token: serviceToken, body: { email: newEmail() } }
        const put = { method: 'PUT', token, body: { email: newEmail() } }
        const answers = [
          await post('/signup', { email: newEmail(), password }),
          await send(url, '/invite', admin),
          await post('/magiclink', { email: await email() }),
          await post('/recover', { email: await email() }),
          await post('/otp', { email: await email() }),
          await send(url, '/user', put),
        ]
        return answers.map(({ status, body }) => body.error_code ?? status)
      }
      assert.deepEqual(await mailAll(), Array(6).fill(200))
      server.clock.aheadMs += 3_540_000
      assert.deepEqual(await mailAll(), Array(6).fill('over_email_send_rate_limit'))
      server.clock.aheadMs += 61_000
      assert.deepEqual(await mailAll(), Array(6).fill(200))
    },
  )
})

test('Configuration: email disabled', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_EXTERNAL_EMAIL_ENABLED: 'false',
    AUTH_RATE_LIMIT_EMAIL_SENT: '0',
  })
  if (!server) return

  await t.test('Configuration › EXTERNAL_EMAIL_ENABLED: false disables email signups', async () => {
    const answer = await server.post('/signup', { email: newEmail(), password })
    const expected = [400, 'email_provider_disabled', 'Email signups are disabled']
    assert.deepEqual(errorOf(answer), expected)
    // All other email functions are disabled too.
    const { email } = await createUser(server, { password })
    assert.equal((await logIn(server.url, email)).body.error_code, 'email_provider_disabled')
    for (const path of ['/otp', '/magiclink', '/recover']) {
      const { body } = await server.post(path, { email })
      assert.equal(body.error_code, 'email_provider_disabled', path)
    }
  })
})
