/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, fragmentOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { createUser, logIn, rfc3339, signIn, signToken, uuid } from './people.ts'

test('Endpoints: admin users', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, serviceToken } = server
  const update = (id: string, body: unknown) =>
    send(url, `/admin/users/${id}`, { method: 'PUT', token: serviceToken, body })
  /** The result of a field when a user is created with it and when a user is updated. */
  const bothWays = async (fields: Readonly<Record<string, unknown>>) => {
    const created = await createUser(server, fields)
    const other = await createUser(server)
    const again = 'email' in fields ? { ...fields, email: newEmail() } : fields
    const updated = await update(other.id, 'phone' in fields ? { phone: '15550100098' } : again)
    assert.equal(updated.status, 200, JSON.stringify(updated.body))
    return [created, updated.body]
  }

  await t.test('Endpoints › `POST /admin/users/<user_id>` (create)', async () => {
    const id = crypto.randomUUID()
    const email = newEmail()
    const { status, body } = await send(url, `/admin/users/${id}`, {
      token: serviceToken,
      body: { email },
    })
    assert.deepEqual([status, body.id, body.email], [200, id, email])
    assert.equal((await send(url, `/admin/users/${id}`, { token: serviceToken })).status, 200)
  })

  await t.test('Endpoints › `PUT /admin/users/<user_id>` (update)', async () => {
    const { id } = await createUser(server)
    const { status, body } = await update(id, { user_metadata: { a: 1 } })
    assert.deepEqual([status, body.id, body.user_metadata.a], [200, id, 1])
    assert.equal((await update(crypto.randomUUID(), {})).status, 404)
  })

  await t.test(
    'Endpoints › admin users: bearer JWT whose role claim is one of JWT_ADMIN_ROLES',
    async () => {
      const { id } = await createUser(server)
      const { token: ofUser } = await signIn(server)
      for (const method of ['POST', 'PUT']) {
        const path = `/admin/users/${method === 'PUT' ? id : crypto.randomUUID()}`
        const answerTo = (token?: string) =>
          send(url, path, { method, ...(token && { token }), body: { email: newEmail() } })
        assert.equal((await answerTo()).status, 401)
        assert.deepEqual(errorOf(await answerTo(ofUser)), [403, 'not_admin', 'User not allowed'])
        const elsewhere = await signToken({ role: 'service_role' }, 'the secret of another server')
        assert.equal((await answerTo(elsewhere)).status, 403)
        assert.equal((await answerTo(await signToken({ role: 'supabase_admin' }))).status, 200)
      }
    },
  )

  await t.test('Endpoints › admin users: a user with one of these roles', async () => {
    const { email } = await createUser(server, { role: 'service_role', password })
    const { body } = await logIn(url, email)
    const { status } = await send(url, '/admin/users', { token: body.access_token })
    assert.equal(status, 200)
  })

  await t.test('Endpoints › admin users: `role` string', async () => {
    for (const { role } of await bothWays({ role: 'editor' })) assert.equal(role, 'editor')
  })

  await t.test('Endpoints › admin users: `email` string', async () => {
    for (const { email } of await bothWays({ email: newEmail() })) assert.match(email, /^user-.*@/)
    const { id, email: before } = await createUser(server, { password })
    const email = newEmail()
    assert.equal((await update(id, { email })).body.email, email)
    assert.equal((await logIn(url, before)).status, 400)
    assert.equal((await logIn(url, email)).status, 200)
  })

  await t.test('Endpoints › admin users: `phone` string', async () => {
    const [created, updated] = await bothWays({ phone: '+15550100004' })
    assert.deepEqual([created.phone, updated.phone], ['15550100004', '15550100098'])
  })

  await t.test('Endpoints › admin users: `password` string (signup only)', async () => {
    const { email } = await createUser(server, { password: 'set by an admin' })
    assert.equal((await logIn(url, email, 'set by an admin')).status, 200)
    const { email: without } = await createUser(server)
    assert.equal((await logIn(url, without, '')).status, 400)
  })

  await t.test('Endpoints › admin users: `email_confirm` bool', async () => {
    const waiting = await createUser(server, { email_confirm: false, password })
    assert.equal(waiting.email_confirmed_at, undefined)
    assert.equal((await logIn(url, waiting.email)).body.error_code, 'email_not_confirmed')
    const { body } = await update(waiting.id, { email_confirm: true })
    assert.match(body.email_confirmed_at, rfc3339)
    assert.equal((await logIn(url, waiting.email)).status, 200)
    const confirmed = await createUser(server, { email_confirm: true })
    assert.match(confirmed.email_confirmed_at, rfc3339)
    assert.deepEqual(await server.mailsTo(waiting.email), [])
  })

  await t.test('Endpoints › admin users: `phone_confirm` bool', async () => {
    const waiting = await createUser(server, { phone: '15550100005', phone_confirm: false })
    assert.equal(waiting.phone_confirmed_at, undefined)
    const { body } = await update(waiting.id, { phone_confirm: true })
    assert.match(body.phone_confirmed_at, rfc3339)
    const confirmed = await createUser(server, { phone: '15550100006', phone_confirm: true })
    assert.match(confirmed.phone_confirmed_at, rfc3339)
  })

  await t.test('Endpoints › admin users: `user_metadata` object', async () => {
    for (const { user_metadata } of await bothWays({ user_metadata: { list: [1, { a: null }] } })) {
      assert.deepEqual(user_metadata.list, [1, { a: null }])
    }
  })

  await t.test('Endpoints › admin users: `app_metadata` object', async () => {
    for (const { app_metadata } of await bothWays({ app_metadata: { plan: { seats: 3 } } })) {
      assert.deepEqual(app_metadata.plan, { seats: 3 })
    }
  })

  await t.test(
    'Endpoints › admin users: `ban_duration` string: a duration with units ns, us, ms, s, m, h',
    async () => {
      const { id } = await createUser(server)
      const lengths = {
        '1h': 3_600_000,
        '90m': 5_400_000,
        '30s': 30_000,
        '60000ms': 60_000,
        '60000000us': 60_000,
        '60000000000ns': 60_000,
        '1h30m15s': 5_415_000,
        '1.5h': 5_400_000,
      }
      for (const [text, lengthMs] of Object.entries(lengths)) {
        const before = server.clock.now()
        const { body } = await update(id, { ban_duration: text })
        const until = Date.parse(body.banned_until) - lengthMs
        assert.ok(until >= before - 1_000 && until <= server.clock.now() + 1_000, text)
      }
      for (const text of ['1 day', '1d', '-', '']) {
        const expected = text === '' ? 200 : 400
        assert.equal((await update(id, { ban_duration: text })).status, expected, text)
      }
      const banned = await createUser(server, { ban_duration: '1h', password })
      assert.equal((await logIn(url, banned.email)).body.error_code, 'user_banned')
    },
  )

  await t.test('Endpoints › admin users: `ban_duration`: or `none` to unban', async () => {
    const { id, email } = await createUser(server, { ban_duration: '100h', password })
    const { body } = await update(id, { ban_duration: 'none' })
    assert.equal(body.banned_until, undefined)
    assert.equal((await logIn(url, email)).status, 200)
  })

  await t.test(
    'Endpoints › gap: response body of the admin user create/update (the user record)',
    async () => {
      for (const record of await bothWays({ role: 'reader' })) {
        assert.match(record.id, uuid)
        assert.match(record.created_at, rfc3339)
        assert.equal(record.encrypted_password, undefined)
        assert.doesNotMatch(JSON.stringify(record), new RegExp(`${password}|\\$2[aby]\\$`))
      }
    },
  )
})

test('Endpoints: POST /admin/generate_link', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, serviceToken } = server
  const generate = (body: unknown) =>
    send(url, '/admin/generate_link', { token: serviceToken, body })
  const follow = (link: string) => {
    const { pathname, search } = new URL(link)
    return send(url, pathname + search)
  }

  await t.test('Endpoints › POST /admin/generate_link: bearer JWT with admin role', async () => {
    const { token } = await signIn(server)
    const body = { type: 'magiclink', email: newEmail() }
    assert.equal((await send(url, '/admin/generate_link', { body })).status, 401)
    const answer = await send(url, '/admin/generate_link', { token, body })
    assert.deepEqual(errorOf(answer), [403, 'not_admin', 'User not allowed'])
  })

  for (const [type, name] of [
    ['signup', 'Endpoints › POST /admin/generate_link: `type` `signup`'],
    ['magiclink', 'Endpoints › POST /admin/generate_link: `type` `magiclink`'],
    ['recovery', 'Endpoints › POST /admin/generate_link: `type` `recovery`'],
    ['invite', 'Endpoints › POST /admin/generate_link: `type` `invite`'],
  ] as const) {
    await t.test(name, async () => {
      const isNew = type === 'signup' || type === 'invite'
      const email = isNew ? newEmail() : (await createUser(server)).email
      const { status, body } = await generate({ type, email, ...(isNew && { password }) })
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(body.verification_type, type)
      const fragment = fragmentOf(await follow(body.action_link))
      assert.equal(fragment['type'], type)
      const user = await send(url, '/user', { token: fragment['access_token'] ?? '' })
      assert.equal(user.body.email, email)
    })
  }

  await t.test('Endpoints › POST /admin/generate_link: no other `type`', async () => {
    const answer = await generate({ type: 'sms', email: newEmail() })
    const msg = 'Invalid email action link type requested: sms'
    assert.deepEqual(errorOf(answer), [400, 'validation_failed', msg])
  })

  await t.test('Endpoints › POST /admin/generate_link: `email`', async () => {
    assert.equal((await generate({ type: 'magiclink' })).status, 400)
    const email = newEmail()
    assert.equal((await generate({ type: 'invite', email })).body.email, email)
  })

  await t.test('Endpoints › POST /admin/generate_link: `password` (type signup only)', async () => {
    const email = newEmail()
    assert.equal((await generate({ type: 'signup', email })).status, 400)
    const { body } = await generate({ type: 'signup', email, password })
    await follow(body.action_link)
    assert.equal((await logIn(url, email)).status, 200)
    const known = await server.newUser()
    await generate({ type: 'recovery', email: known.email, password: 'of another type' })
    assert.equal((await logIn(url, known.email, 'of another type')).status, 400)
    assert.equal((await logIn(url, known.email)).status, 200)
  })

  await t.test(
    'Endpoints › POST /admin/generate_link: `data` object (type signup only)',
    async () => {
      const data = { team: 'blue' }
      const made = await generate({ type: 'signup', email: newEmail(), password, data })
      assert.equal(made.body.user_metadata.team, 'blue')
      const known = await server.newUser()
      const other = await generate({ type: 'recovery', email: known.email, data })
      assert.equal(other.body.user_metadata.team, undefined)
    },
  )

  await t.test('Endpoints › POST /admin/generate_link: `redirect_to` URL', async () => {
    const redirect_to = 'https://site.example/welcome'
    const { body } = await generate({ type: 'invite', email: newEmail(), redirect_to })
    assert.equal(body.redirect_to, redirect_to)
    const { headers } = await follow(body.action_link)
    assert.match(headers.get('location') ?? '', /^https:\/\/site\.example\/welcome#/)
    const outside = await generate({
      type: 'invite',
      email: newEmail(),
      redirect_to: 'https://evil.example',
    })
    assert.equal(outside.status, 400)
  })

  await t.test(
    'Endpoints › POST /admin/generate_link: `redirect_to` default SITE_URL',
    async () => {
      const { body } = await generate({ type: 'invite', email: newEmail() })
      assert.equal(body.redirect_to, 'https://site.example')
      const { headers } = await follow(body.action_link)
      assert.match(headers.get('location') ?? '', /^https:\/\/site\.example\/?#/)
    },
  )
})
