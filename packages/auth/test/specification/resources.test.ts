/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { createUser, logIn, refresh, rfc3339, signIn, uuid } from './people.ts'

test('Resources and their fields', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, serviceToken } = server
  const admin = { authorization: `Bearer ${serviceToken}` }

  await t.test('User record › `id`: UUID string', async () => {
    const { body } = await post('/signup', { email: newEmail(), password })
    assert.match(body.id, uuid)
  })

  await t.test('User record › `id`: for a duplicate signup a fake id is returned', async () => {
    const { id, email } = await server.newUser()
    const { status, body } = await post('/signup', { email, password })
    assert.equal(status, 200)
    assert.match(body.id, uuid)
    assert.notEqual(body.id, id)
    const found = await send(url, `/admin/users/${body.id}`, { token: serviceToken })
    assert.equal(found.status, 404)
  })

  await t.test('User record › `email`: string', async () => {
    const email = newEmail()
    const { body } = await post('/signup', { email, password })
    assert.equal(body.email, email)
  })

  await t.test('User record › `phone`: string, E.164', async () => {
    const { id, phone } = await createUser(server, { phone: '+15550100001' })
    // The number is stored as digits without the plus sign.
    assert.equal(phone, '15550100001')
    const found = await send(url, `/admin/users/${id}`, { token: serviceToken })
    assert.equal(found.body.phone, '15550100001')
  })

  const timestamps = [
    ['confirmation_sent_at', 'User record › `confirmation_sent_at`: timestamp (RFC 3339)'],
    ['created_at', 'User record › `created_at`: timestamp'],
    ['updated_at', 'User record › `updated_at`: timestamp'],
  ] as const
  for (const [field, name] of timestamps) {
    await t.test(name, async () => {
      const { body } = await post('/signup', { email: newEmail(), password })
      assert.match(body[field], rfc3339)
      assert.ok(Math.abs(Date.parse(body[field]) - server.clock.now()) < 60_000, body[field])
    })
  }

  await t.test('User record › `invited_at`: timestamp, on invite', async () => {
    const invited = await post('/invite', { email: newEmail() }, admin)
    assert.match(invited.body.invited_at, rfc3339)
    const signedUp = await post('/signup', { email: newEmail(), password })
    assert.equal(signedUp.body.invited_at, undefined)
  })

  await t.test(
    'User record › `email_change_sent_at`: after PUT /user with a new email',
    async () => {
      const { token } = await signIn(server)
      const put = (body: unknown) => send(url, '/user', { method: 'PUT', token, body })
      assert.equal((await put({ data: { a: 1 } })).body.email_change_sent_at, undefined)
      assert.match((await put({ email: newEmail() })).body.email_change_sent_at, rfc3339)
    },
  )

  await t.test('User record › returned by signup, invite, GET /user, PUT /user', async () => {
    const email = newEmail()
    const signup = await post('/signup', { email, password })
    const { body: tokens } = await post('/verify', {
      type: 'signup',
      token: (await server.mailTo(email)).token,
    })
    const { access_token: token } = tokens
    const answers = {
      signup,
      invite: await post('/invite', { email: newEmail() }, admin),
      'GET /user': await send(url, '/user', { token }),
      'PUT /user': await send(url, '/user', { method: 'PUT', token, body: { data: {} } }),
    }
    for (const [name, { status, body }] of Object.entries(answers)) {
      assert.equal(status, 200, name)
      assert.match(body.id, uuid, name)
      for (const field of ['email', 'phone', 'confirmation_sent_at', 'created_at', 'updated_at']) {
        assert.equal(typeof body[field], 'string', `${name}: ${field}`)
      }
    }
  })

  await t.test(
    'User record › accepted on admin create/update additionally: role, user_metadata, app_metadata',
    async () => {
      const first = { role: 'editor', user_metadata: { a: 1 }, app_metadata: { plan: 'free' } }
      const { id, ...created } = await createUser(server, first)
      assert.equal(created.role, 'editor')
      assert.equal(created.user_metadata.a, 1)
      assert.equal(created.app_metadata.plan, 'free')
      const second = { role: 'reader', user_metadata: { b: 2 }, app_metadata: { plan: 'paid' } }
      const { body } = await send(url, `/admin/users/${id}`, {
        method: 'PUT',
        token: serviceToken,
        body: second,
      })
      assert.equal(body.role, 'reader')
      assert.deepEqual([body.user_metadata.a, body.user_metadata.b], [1, 2])
      assert.equal(body.app_metadata.plan, 'paid')
    },
  )

  const { email } = await server.newUser()
  const tokens = await logIn(url, email)

  await t.test('Token response › `access_token`: string (JWT)', () => {
    assert.match(tokens.body.access_token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  await t.test('Token response › `token_type`: string, `bearer`', () => {
    assert.equal(tokens.body.token_type, 'bearer')
  })

  await t.test('Token response › `expires_in`: integer seconds, default 3600', () => {
    assert.equal(tokens.body.expires_in, 3_600)
  })

  await t.test('Token response › `refresh_token`: string', async () => {
    assert.equal(typeof tokens.body.refresh_token, 'string')
    assert.equal((await refresh(url, tokens.body.refresh_token)).status, 200)
  })

  await t.test(
    'Token response › `type`: on POST /verify for email types: `signup`, `recovery` or `invite`',
    async () => {
      assert.equal(tokens.body.type, undefined)
      const recipients = { signup: newEmail(), recovery: email, invite: newEmail() }
      await post('/signup', { email: recipients.signup, password })
      await post('/recover', { email: recipients.recovery })
      await post('/invite', { email: recipients.invite }, admin)
      for (const [type, address] of Object.entries(recipients)) {
        const { token } = await server.mailTo(address)
        assert.equal((await post('/verify', { type, token })).body.type, type)
      }
    },
  )

  const settings = await send(url, '/settings')

  await t.test(
    'Settings response › `external`: object mapping each external provider identifier to boolean',
    () => {
      const entries = Object.entries(settings.body.external)
      assert.equal(entries.length, 17)
      for (const [id, isEnabled] of entries) {
        assert.match(id, /^[a-z]+$/)
        assert.equal(isEnabled, false, id)
      }
    },
  )

  await t.test('Settings response › `disable_signup`: boolean', () => {
    assert.equal(settings.body.disable_signup, false)
  })

  await t.test('Settings response › `autoconfirm`: boolean', () => {
    assert.equal(settings.body.autoconfirm, false)
  })

  const newcomer = newEmail()
  const link = await post(
    '/admin/generate_link',
    { type: 'signup', email: newcomer, password, redirect_to: 'https://site.example/welcome' },
    admin,
  )

  await t.test(
    'Generate-link response › `action_link`: `{base_url}/verify?token=<token>&type=<type>&redirect_to=<url>`',
    async () => {
      const action = new URL(link.body.action_link)
      assert.equal(action.origin + action.pathname, 'https://auth.example/verify')
      assert.deepEqual([...action.searchParams.keys()], ['token', 'type', 'redirect_to'])
      assert.deepEqual(
        ['type', 'redirect_to'].map((name) => action.searchParams.get(name)),
        ['signup', 'https://site.example/welcome'],
      )
      const followed = await send(url, action.pathname + action.search)
      assert.match(followed.headers.get('location') ?? '', /^https:\/\/site\.example\/welcome#acc/)
    },
  )

  await t.test(
    'Generate-link response › `email_otp`, `hashed_token`, `verification_type`, `redirect_to`',
    () => {
      assert.match(link.body.email_otp, /^\d{6}$/)
      const { searchParams } = new URL(link.body.action_link)
      assert.equal(link.body.hashed_token, searchParams.get('token'))
      assert.equal(link.body.verification_type, 'signup')
      assert.equal(link.body.redirect_to, 'https://site.example/welcome')
    },
  )

  await t.test('Generate-link response › it also carries the fields of the user record', () => {
    assert.match(link.body.id, uuid)
    assert.equal(link.body.email, newcomer)
    assert.match(link.body.created_at, rfc3339)
    assert.match(link.body.updated_at, rfc3339)
  })

  await t.test('Error body › `{code: integer, msg: string}`', async () => {
    const answers = [
      await send(url, '/user'),
      await post('/signup', { email: 'not-an-address', password }),
      await post('/token?grant_type=password', { email: newEmail(), password }),
      await send(url, `/admin/users/${randomUUID()}`, { token: serviceToken }),
      await send(url, '/nowhere'),
      await post('/signup', '{'),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 400, 400, 404, 404, 400],
    )
    for (const { status, body } of answers) {
      assert.equal(body.code, status)
      assert.equal(typeof body.msg, 'string')
      assert.notEqual(body.msg, '')
    }
  })
})
