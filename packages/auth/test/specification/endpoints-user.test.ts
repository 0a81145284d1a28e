/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import {
  createUser,
  logIn,
  type Person,
  refresh,
  rfc3339,
  signIn,
  signInAgain,
  uuid,
} from './people.ts'

test('Endpoints: own account', async (t) => {
  const server = await openFlowServer(t, { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
  if (!server) return
  const { url, post, mailsTo, mailTo } = server
  const put = ({ token }: Pick<Person, 'token'>, body: unknown) =>
    send(url, '/user', { method: 'PUT', token, body })

  for (const [method, path, name] of [
    ['GET', '/user', 'Endpoints › GET /user: bearer access token'],
    ['PUT', '/user', 'Endpoints › PUT /user: bearer access token'],
    ['GET', '/reauthenticate', 'Endpoints › GET /reauthenticate: bearer access token'],
    ['POST', '/logout', 'Endpoints › POST /logout: bearer access token'],
  ] as const) {
    await t.test(name, async () => {
      const { token } = await signIn(server)
      const body = method === 'GET' ? {} : { body: {} }
      const without = await send(url, path, { method, ...body })
      assert.deepEqual([without.status, without.body.code], [401, 401])
      const wrong = await send(url, path, { method, token: `${token}x`, ...body })
      assert.deepEqual([wrong.status, wrong.body.code], [403, 403])
      assert.match(`${(await send(url, path, { method, token, ...body })).status}`, /^20[04]$/)
    })
  }

  await t.test('Endpoints › GET /user: user record', async () => {
    const person = await signIn(server)
    const { status, body } = await send(url, '/user', { token: person.token })
    assert.equal(status, 200)
    assert.deepEqual([body.id, body.email], [person.id, person.email])
    assert.match(body.created_at, rfc3339)
  })

  await t.test(
    'Endpoints › PUT /user: `email`; user record with `email_change_sent_at`',
    async () => {
      const person = await signIn(server)
      const { status, body } = await put(person, { email: newEmail() })
      assert.equal(status, 200)
      assert.equal(body.id, person.id)
      assert.match(body.email_change_sent_at, rfc3339)
    },
  )

  await t.test('Endpoints › PUT /user: a new email triggers a confirmation message', async () => {
    const person = await signIn(server)
    const email = newEmail()
    const { body } = await put(person, { email })
    assert.equal(body.email, person.email)
    assert.equal((await mailTo(email)).kind, 'email_change')
    // Both addresses have to confirm before the address changes.
    for (const address of [email, person.email]) await send(url, (await mailTo(address)).path)
    const changed = await send(url, '/user', { token: person.token })
    assert.equal(changed.body.email, email)
  })

  await t.test('Endpoints › PUT /user: `password`', async () => {
    const person = await signInAgain(server, await createUser(server, { password }))
    assert.equal((await put(person, { password: 'a new password' })).status, 200)
    assert.equal((await logIn(url, person.email, 'a new password')).status, 200)
    assert.equal((await logIn(url, person.email)).status, 400)
  })

  await t.test('Endpoints › PUT /user: `data` is an object of custom user data', async () => {
    const person = await signIn(server)
    const data = { name: 'Ada', nested: { list: [1, 'two', true] } }
    const { body } = await put(person, { data })
    assert.equal(body.user_metadata.name, 'Ada')
    assert.deepEqual(body.user_metadata.nested, data.nested)
    const later = await send(url, '/user', { token: person.token })
    assert.deepEqual(later.body.user_metadata.nested, data.nested)
    assert.equal((await put(person, { data: 'no object' })).status, 400)
  })

  await t.test('Endpoints › PUT /user: without reauthentication required no `nonce`', async () => {
    const person = await signIn(server)
    assert.equal((await put(person, { password: 'yet another password' })).status, 200)
  })

  await t.test(
    'Endpoints › GET /reauthenticate: sends a nonce to the email (preferred)',
    async () => {
      const person = await signIn(server)
      // If the user also has a phone number, the email address is preferred.
      await server.query(`update users set phone = $2, phone_confirmed_at = now() where id = $1`, [
        person.id,
        '15550100003',
      ])
      const { status, body } = await send(url, '/reauthenticate', { token: person.token })
      assert.deepEqual([status, body], [200, {}])
      const rows = await server.query(
        `select kind, recipient, payload ->> 'Token' as nonce from outbox
         where recipient in ($1, '15550100003', '+15550100003')`,
        [person.email],
      )
      assert.equal(rows.length, 1)
      assert.deepEqual([rows[0].kind, rows[0].recipient], ['reauthentication', person.email])
      assert.match(rows[0].nonce, /^\d{6}$/)
    },
  )

  await t.test('Endpoints › GET /reauthenticate: the user needs one of them', async () => {
    const { body } = await post('/signup', { data: {} })
    const answer = await send(url, '/reauthenticate', { token: body.access_token })
    const msg = 'Reauthentication requires the user to have an email or a phone number'
    assert.deepEqual(errorOf(answer), [400, 'validation_failed', msg])
  })

  await t.test('Endpoints › POST /logout: revokes all refresh tokens', async () => {
    const one = await signIn(server)
    const two = await signInAgain(server, one)
    await send(url, '/logout', { method: 'POST', token: two.token })
    for (const { refreshToken } of [one, two]) {
      assert.equal((await refresh(url, refreshToken)).status, 400)
    }
  })

  await t.test('Endpoints › gap: response body of logout (none)', async () => {
    const { token } = await signIn(server)
    const { status, body } = await send(url, '/logout', { method: 'POST', token })
    assert.deepEqual([status, body], [204, ''])
  })

  await t.test('Authentication › the request that performs an anonymous sign-in', async () => {
    const { status, body } = await post('/signup', { data: { theme: 'dark' } })
    assert.equal(status, 200)
    const user = await send(url, '/user', { token: body.access_token })
    assert.match(user.body.id, uuid)
    assert.deepEqual([user.body.is_anonymous, user.body.email], [true, ''])
    assert.equal(user.body.user_metadata.theme, 'dark')
  })

  await t.test('Endpoints › PUT /user: the email of another user fails', async () => {
    const [person, other] = [await signIn(server), await createUser(server)]
    assert.equal((await put(person, { email: other.email })).body.error_code, 'email_exists')
    assert.deepEqual(await mailsTo(other.email), [])
  })
})

test('Endpoints: a new password with a nonce', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
  })
  if (!server) return
  const { url } = server

  await t.test(
    'Endpoints › PUT /user: with reauthentication required the body also needs `nonce`',
    async () => {
      const { token, email } = await signIn(server)
      const put = (body: unknown) => send(url, '/user', { method: 'PUT', token, body })
      const expected = [400, 'reauthentication_needed', 'Password update requires reauthentication']
      assert.deepEqual(errorOf(await put({ password: 'a new password' })), expected)
      const wrong = await put({ password: 'a new password', nonce: '000000' })
      assert.equal(wrong.body.error_code, 'reauthentication_not_valid')
      assert.equal((await logIn(url, email, 'a new password')).status, 400)
    },
  )

  await t.test(
    'Authentication › a password update needs a nonce obtained through GET /reauthenticate',
    async () => {
      const { token, email } = await signIn(server)
      await send(url, '/reauthenticate', { token })
      const [row] = await server.query(
        `select payload ->> 'Token' as nonce from outbox where recipient = $1`,
        [email],
      )
      const body = { password: 'a new password', nonce: row.nonce }
      const { status } = await send(url, '/user', { method: 'PUT', token, body })
      assert.equal(status, 200)
      assert.equal((await logIn(url, email, 'a new password')).status, 200)
    },
  )

  await t.test('Endpoints › PUT /user: … other fields need no `nonce`', async () => {
    const { token } = await signIn(server)
    const { status } = await send(url, '/user', { method: 'PUT', token, body: { data: { a: 1 } } })
    assert.equal(status, 200)
  })
})
