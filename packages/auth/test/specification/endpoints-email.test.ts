/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, fragmentOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { createUser, logIn, refresh } from './people.ts'

test('Endpoints: sign-in messages', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, mailTo, mailsTo } = server
  const existsFor = async (email: string) =>
    (await server.query('select 1 from users where email = $1', [email])).length === 1

  for (const [path, name] of [
    ['/otp', 'Endpoints › POST /otp: {email} sends a magic link'],
    ['/magiclink', 'Endpoints › POST /magiclink: {email}'],
  ] as const) {
    await t.test(name, async () => {
      const { email } = await createUser(server)
      assert.equal((await post(path, { email })).status, 200)
      assert.deepEqual(
        (await mailsTo(email)).map(({ kind }) => kind),
        ['magic_link'],
      )
    })
  }

  await t.test(
    'Endpoints › POST /otp: `create_user` true: the user is not signed up automatically if absent',
    async () => {
      const email = newEmail()
      const answer = await post('/otp', { email, create_user: true })
      assert.deepEqual([answer.status, answer.body], [200, {}])
      assert.equal(await existsFor(email), false)
      assert.deepEqual(await mailsTo(email), [])
      const known = await createUser(server)
      await post('/otp', { email: known.email, create_user: true })
      assert.equal((await mailTo(known.email)).kind, 'magic_link')
    },
  )

  await t.test('Endpoints › POST /otp: `create_user` false or absent: signed up', async () => {
    for (const rest of [{ create_user: false }, {}]) {
      const email = newEmail()
      await post('/otp', { email, ...rest })
      assert.equal(await existsFor(email), true)
      assert.equal((await mailTo(email)).kind, 'magic_link')
    }
  })

  for (const [path, name] of [
    ['/otp', 'Endpoints › POST /otp: response `{}`'],
    ['/magiclink', 'Endpoints › POST /magiclink: response `{}`'],
    ['/recover', 'Endpoints › POST /recover: response `{}`'],
  ] as const) {
    await t.test(name, async () => {
      const { email } = await createUser(server)
      for (const address of [email, newEmail()]) {
        const { status, body } = await post(path, { email: address })
        assert.deepEqual([status, body], [200, {}])
      }
    })
  }

  for (const [path, name] of [
    ['/magiclink', 'Endpoints › POST /magiclink: at most one per 60 seconds by default'],
    ['/otp', 'Endpoints › POST /otp: at most one magic link per 60 seconds by default'],
  ] as const) {
    await t.test(name, async () => {
      const { email } = await createUser(server)
      await post(path, { email })
      server.clock.aheadMs += 40_000
      assert.equal((await post(path, { email })).status, 429)
      assert.equal((await mailsTo(email)).length, 1)
      server.clock.aheadMs += 20_500
      await post(path, { email })
      assert.equal((await mailsTo(email)).length, 2)
    })
  }

  await t.test(
    'Endpoints › POST /magiclink: link is `/verify?type=magiclink&token=<token>`',
    async () => {
      const { email } = await createUser(server)
      await post('/magiclink', { email })
      const link = (await mailTo(email)).url
      assert.equal(link.origin + link.pathname, 'https://auth.example/verify')
      assert.equal(link.searchParams.get('type'), 'magiclink')
      assert.match(link.searchParams.get('token') ?? '', /^\w{32,}$/)
    },
  )

  await t.test(
    'Endpoints › POST /magiclink: redirects to SITE_URL fragment with `access_token`, `refresh_token`, `expires_in`, `token_type`, `type=magiclink`',
    async () => {
      const { email, id } = await createUser(server)
      await post('/magiclink', { email })
      const { token } = await mailTo(email)
      // The specification writes the link with exactly these two parameters.
      const followed = await send(url, `/verify?type=magiclink&token=${token}`)
      assert.match(followed.headers.get('location') ?? '', /^https:\/\/site\.example\/?#/)
      const { access_token = '', refresh_token, ...rest } = fragmentOf(followed)
      assert.ok(refresh_token)
      assert.deepEqual(
        [rest['expires_in'], rest['token_type'], rest['type']],
        ['3600', 'bearer', 'magiclink'],
      )
      assert.equal((await send(url, '/user', { token: access_token })).body.id, id)
    },
  )

  await t.test('Endpoints › POST /recover: {email}', async () => {
    const { email } = await createUser(server)
    await post('/recover', { email })
    assert.equal((await mailTo(email)).kind, 'recovery')
  })

  await t.test('Endpoints › POST /recover: at most one per 60 seconds by default', async () => {
    const { email } = await createUser(server)
    await post('/recover', { email })
    server.clock.aheadMs += 59_000
    assert.equal((await post('/recover', { email })).status, 429)
    assert.equal((await mailsTo(email)).length, 1)
    // The cooldown of 900 seconds for password resets applies as well.
    server.clock.aheadMs += 842_000
    await post('/recover', { email })
    assert.equal((await mailsTo(email)).length, 2)
  })
})

test('Endpoints: verification', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, mailTo, serviceToken } = server
  const admin = { authorization: `Bearer ${serviceToken}` }

  /** Sends a message with a token of this type. */
  const requests = {
    signup: async (email: string) => post('/signup', { email, password }),
    recovery: async (email: string) => post('/recover', { email }),
    magiclink: async (email: string) => post('/otp', { email }),
    invite: async (email: string) => post('/invite', { email }, admin),
  }
  const request = async (type: keyof typeof requests) => {
    const isNew = type === 'signup' || type === 'invite'
    const email = isNew ? newEmail() : (await createUser(server)).email
    await requests[type](email)
    return { email, token: (await mailTo(email)).token }
  }

  for (const [type, name] of [
    ['signup', 'Endpoints › POST /verify: {type, token} with `type` `signup`, token response'],
    ['recovery', 'Endpoints › POST /verify: {type, token} with `type` `recovery`, token response'],
    ['invite', 'Endpoints › POST /verify: {type, token} with `type` `invite`, token response'],
  ] as const) {
    await t.test(name, async () => {
      const { email, token } = await request(type)
      const { status, body } = await post('/verify', { type, token })
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual([body.token_type, body.expires_in, body.type], ['bearer', 3_600, type])
      const user = await send(url, '/user', { token: body.access_token })
      assert.equal(user.body.email, email)
      assert.ok(user.body.email_confirmed_at)
      assert.equal((await refresh(url, body.refresh_token)).status, 200)
      // The token works once.
      assert.equal((await post('/verify', { type, token })).status, 403)
    })
  }

  await t.test('Endpoints › POST /verify: an unknown token fails', async () => {
    const answer = await post('/verify', { type: 'signup', token: 'a'.repeat(56) })
    const expected = [403, 'otp_expired', 'Email link is invalid or has expired']
    assert.deepEqual(errorOf(answer), expected)
  })

  await t.test(
    'Endpoints › POST /verify: `password` is required for signup verification when the user has none',
    async () => {
      const { email, token } = await request('invite')
      const without = await post('/verify', { type: 'signup', token })
      const expected = [422, 'validation_failed', 'Signup verification requires a password']
      assert.deepEqual(errorOf(without), expected)
      const weak = await post('/verify', { type: 'signup', token, password: 'short' })
      assert.equal(weak.body.error_code, 'weak_password')
      const chosen = 'chosen at last'
      const verified = await post('/verify', { type: 'signup', token, password: chosen })
      assert.equal(verified.status, 200, JSON.stringify(verified.body))
      assert.equal((await logIn(url, email, chosen)).status, 200)
    },
  )

  await t.test('Endpoints › POST /verify: … and not when the user has one', async () => {
    const { email, token } = await request('signup')
    const body = { type: 'signup', token, password: 'another password' }
    assert.equal((await post('/verify', body)).status, 200)
    assert.equal((await logIn(url, email)).status, 200)
    assert.equal((await logIn(url, email, 'another password')).status, 400)
  })

  for (const [type, name] of [
    ['signup', 'Endpoints › GET /verify: query `type` `signup`, `token`: logs the user in'],
    ['recovery', 'Endpoints › GET /verify: query `type` `recovery`, `token`: logs the user in'],
    ['magiclink', 'Endpoints › GET /verify: query `type` `magiclink`, `token`: logs the user in'],
    ['invite', 'Endpoints › GET /verify: query `type` `invite`, `token`: logs the user in'],
  ] as const) {
    await t.test(name, async () => {
      const { email, token } = await request(type)
      const followed = await send(url, `/verify?type=${type}&token=${token}`)
      const { access_token = '', refresh_token = '', type: returnedType } = fragmentOf(followed)
      assert.equal(returnedType, type)
      assert.equal((await send(url, '/user', { token: access_token })).body.email, email)
      assert.equal((await refresh(url, refresh_token)).status, 200)
    })
  }

  await t.test(
    'Endpoints › GET /verify: redirects to SITE_URL followed by a fragment with `access_token`, `token_type`, `expires_in`, `refresh_token`, `type`',
    async () => {
      const { token } = await request('signup')
      const followed = await send(url, `/verify?type=signup&token=${token}`)
      assert.equal(followed.status, 303)
      const location = new URL(followed.headers.get('location') ?? '')
      assert.equal(location.origin + location.pathname, 'https://site.example/')
      assert.equal(location.search, '')
      const fragment = fragmentOf(followed)
      assert.deepEqual([fragment['token_type'], fragment['expires_in']], ['bearer', '3600'])
      for (const name of ['access_token', 'refresh_token', 'type']) {
        assert.ok(fragment[name], name)
      }
    },
  )

  await t.test('Endpoints › GET /verify: query `redirect_to`', async () => {
    const { token } = await request('signup')
    const target = encodeURIComponent('https://site.example/welcome?from=mail')
    const followed = await send(url, `/verify?type=signup&token=${token}&redirect_to=${target}`)
    const location = followed.headers.get('location') ?? ''
    assert.match(location, /^https:\/\/site\.example\/welcome\?from=mail#access_token=/)
  })

  await t.test('Endpoints › GET /verify: an invalid link does not log in', async () => {
    const followed = await send(url, `/verify?type=signup&token=${'b'.repeat(56)}`)
    const fragment = fragmentOf(followed)
    assert.equal(fragment['access_token'], undefined)
    assert.equal(fragment['error_code'], 'otp_expired')
  })
})
