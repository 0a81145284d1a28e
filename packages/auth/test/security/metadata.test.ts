/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAccount, openExternalServer } from '../support/external-server.ts'
import { claimsOf } from '../support/factors.ts'
import { errorOf, type FlowServer, fragmentOf, openFlowServer } from '../support/flow-server.ts'
import { openHookedServer } from '../support/hooked-server.ts'
import { type HttpAnswer, newEmail, password, send } from '../support/http-client.ts'
import { newPerson, signInByLink } from './people.ts'

const mostBytes = 6_144
const mostTokenBytes = 12_288
const env = {
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_SMS_PROVIDER: 'webhook',
  AUTH_SMS_WEBHOOK_URL: 'http://127.0.0.1:1/',
} as const
const tooLarge = (name: string) => [
  422,
  'validation_failed',
  `${name} must not be larger than ${mostBytes} bytes`,
]

const put = ({ url }: FlowServer, token: string, data: unknown) =>
  send(url, '/user', { method: 'PUT', body: { data }, token })

async function sizeOf({ query }: FlowServer, id: string): Promise<number> {
  const [row] = await query(
    'select octet_length(raw_user_meta_data::text) as bytes from users where id = $1',
    [id],
  )
  return row.bytes
}

test('the size of metadata and of the token with it is limited (property 59)', async (t) => {
  const server = await openFlowServer(t, env)
  if (!server) return
  const { url, post, query, serviceToken } = server
  const asAdmin = (path: string, body: object, method = 'POST') =>
    send(url, path, { method, body, token: serviceToken })
  const phone = () => `4917${Math.floor(Math.random() * 1e8)}`
  const large = { text: 'x'.repeat(mostBytes) }
  const person = await newPerson(server)
  const { access_token: token } = await signInByLink(server, person.email)

  const paths: Readonly<Record<string, () => Promise<HttpAnswer>>> = {
    'sign-up by email': () => post('/signup', { email: newEmail(), password, data: large }),
    'sign-up by phone': () => post('/signup', { phone: phone(), password, data: large }),
    'anonymous sign-in': () => post('/signup', { data: large }),
    'a code by email': () => post('/otp', { email: newEmail(), data: large }),
    'a code by phone': () => post('/otp', { phone: phone(), data: large }),
    'a magic link': () => post('/magiclink', { email: newEmail(), data: large }),
    'a user’s own change': () => put(server, token, large),
    'an invitation': () => asAdmin('/invite', { email: newEmail(), data: large }),
    'a link to sign up': () =>
      asAdmin('/admin/generate_link', { type: 'signup', email: newEmail(), password, data: large }),
    'a user created by an administrator': () =>
      asAdmin('/admin/users', { email: newEmail(), user_metadata: large }),
    'a change by an administrator': () =>
      asAdmin(`/admin/users/${person.id}`, { user_metadata: large }, 'PUT'),
  }
  for (const [name, request] of Object.entries(paths)) {
    await t.test(`${name} (property 59)`, async () => {
      const before = await query('select count(*) from users')
      assert.deepEqual(errorOf(await request()), tooLarge('user_metadata'))
      assert.deepEqual(await query('select count(*) from users'), before)
    })
  }

  await t.test('app_metadata set by an administrator (property 59)', async () => {
    const refused = [
      await asAdmin('/admin/users', { email: newEmail(), app_metadata: large }),
      await asAdmin(`/admin/users/${person.id}`, { app_metadata: large }, 'PUT'),
    ]
    for (const answer of refused) assert.deepEqual(errorOf(answer), tooLarge('app_metadata'))
  })

  await t.test('sign-up with an address that already has an account (property 59)', async () => {
    const known = await post('/signup', { email: person.email, password, data: large })
    assert.deepEqual(errorOf(known), tooLarge('user_metadata'))
  })

  await t.test('the limit applies to the size after the merge (property 59)', async () => {
    const { id, email } = await newPerson(server)
    const { access_token } = await signInByLink(server, email)
    const part = 'x'.repeat(3_500)
    assert.equal((await put(server, access_token, { one: part })).status, 200)
    assert.deepEqual(
      errorOf(await put(server, access_token, { two: part })),
      tooLarge('user_metadata'),
    )
    assert.equal((await put(server, access_token, { one: null, two: part })).status, 200)
    const numbers = Array.from({ length: 100 }, () => 1e300)
    assert.deepEqual(
      errorOf(await put(server, access_token, { numbers })),
      tooLarge('user_metadata'),
    )
    const merged = await asAdmin(`/admin/users/${id}`, { user_metadata: { one: part } }, 'PUT')
    assert.deepEqual(errorOf(merged), tooLarge('user_metadata'))
    for (const [key, status] of [
      ['one', 200],
      ['two', 422],
    ] as const) {
      const changed = await asAdmin(`/admin/users/${id}`, { app_metadata: { [key]: part } }, 'PUT')
      assert.equal(changed.status, status)
    }
  })

  await t.test('concurrent changes do not exceed the limit (property 59)', async () => {
    const { id, email } = await newPerson(server)
    const { access_token } = await signInByLink(server, email)
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        put(server, access_token, { [`key${at}`]: 'x'.repeat(2_000) }),
      ),
    )
    const refused = answers.filter(({ status }) => status !== 200)
    for (const answer of refused) assert.deepEqual(errorOf(answer), tooLarge('user_metadata'))
    assert.ok((await sizeOf(server, id)) <= mostBytes)
  })

  await t.test(
    'metadata that is already too large does not lock the user out (property 59)',
    async () => {
      const { id, email } = await server.newUser()
      await query('update users set raw_user_meta_data = $2 where id = $1', [
        id,
        { big: 'x'.repeat(900_000), name: 'Ada' },
      ])
      const signedIn = await post('/token?grant_type=password', { email, password })
      const { access_token, refresh_token } = signedIn.body
      assert.ok(access_token.length <= mostTokenBytes)
      assert.deepEqual(claimsOf(access_token)['user_metadata'], {})
      assert.equal(signedIn.body.user.user_metadata.name, 'Ada')
      assert.ok(
        server.log.some((line) => line.includes(id) && /without the user_metadata/.test(line)),
      )
      // It may shrink but not grow.
      assert.equal((await put(server, access_token, { more: 'x' })).status, 422)
      assert.equal((await put(server, access_token, { big: 'x'.repeat(900_001) })).status, 422)
      assert.equal((await put(server, access_token, { big: 'x'.repeat(800_000) })).status, 200)
      assert.equal((await put(server, access_token, { big: null })).status, 200)
      const refreshed = await post('/token?grant_type=refresh_token', { refresh_token })
      assert.deepEqual(claimsOf(refreshed.body.access_token)['user_metadata'], { name: 'Ada' })
    },
  )

  await t.test('all metadata can be removed at once (property 59)', async () => {
    const { id, email } = await newPerson(server)
    const keys = Array.from({ length: 5_000 }, (_, at) => `key ${at}`)
    await query('update users set raw_user_meta_data = $2 where id = $1', [
      id,
      Object.fromEntries(keys.map((key) => [key, key])),
    ])
    const { access_token } = await signInByLink(server, email)
    const removed = Object.fromEntries(keys.map((key) => [key, null]))
    assert.equal((await put(server, access_token, { ...removed, name: 'Ada' })).status, 200)
    assert.equal(await sizeOf(server, id), '{"name": "Ada"}'.length)
  })

  await t.test('the largest possible token fits into a request (property 59)', async () => {
    const { id, email } = await newPerson(server)
    const full = (keys: object) => {
      const empty = JSON.stringify({ text: '', ...keys }).length + 40
      return { text: 'x'.repeat(mostBytes - empty) }
    }
    await asAdmin(`/admin/users/${id}`, { user_metadata: full({}) }, 'PUT')
    const one = await signInByLink(server, email)
    assert.equal(claimsOf(one.access_token)['user_metadata'].text.length > 6_000, true)
    assert.equal((await send(url, '/user', { token: one.access_token })).status, 200)
    await asAdmin(`/admin/users/${id}`, { app_metadata: full({ a: 'x'.repeat(60) }) }, 'PUT')
    const both = await signInByLink(server, email)
    assert.ok(both.access_token.length <= mostTokenBytes)
    assert.deepEqual(claimsOf(both.access_token)['user_metadata'], {})
    assert.ok(claimsOf(both.access_token)['app_metadata'].text.length > 5_000)
    assert.equal((await send(url, '/user', { token: both.access_token })).status, 200)
  })
})

test('metadata from a provider is truncated and does not block a sign-in (property 59)', async (t) => {
  const server = await openExternalServer(t, ['keycloak'])
  if (!server) return
  const account = newAccount({ name: 'Ada', department: 'x'.repeat(200_000) })
  const { access_token = '' } = fragmentOf(await server.signInWith('keycloak', account))
  const { sub, user_metadata: stored } = claimsOf(access_token)
  assert.deepEqual([stored.name, stored.custom_claims], ['Ada', undefined])
  assert.deepEqual([stored.email, stored.email_verified], [account.email, true])
  await put(server, access_token, { text: 'x'.repeat(5_000) })
  const again = { ...account, department: 'x'.repeat(4_000) }
  const second = fragmentOf(await server.signInWith('keycloak', again))
  assert.equal(claimsOf(second['access_token'] ?? '').sub, sub)
  assert.ok((await sizeOf(server, sub)) <= mostBytes)
})

test('no hook can make a token that servers refuse (property 59)', async (t) => {
  const server = await openHookedServer(t, ['customize-access-token'])
  if (!server) return
  const { email } = await server.newUser()
  const signIn = (change: object) =>
    server.withReply(
      'customize-access-token',
      ({ claims }) => ({ body: { claims: { ...claims, ...change } } }),
      () => server.post('/token?grant_type=password', { email, password }),
    )
  const large = 'x'.repeat(20_000)
  const cut = await signIn({ user_metadata: { large } })
  assert.deepEqual(claimsOf(cut.body.access_token)['user_metadata'], {})
  for (const change of [{ large }, { app_metadata: { large } }]) {
    assert.deepEqual(errorOf(await signIn(change)).slice(0, 2), [
      422,
      'hook_payload_over_size_limit',
    ])
  }
  const sessions = await server.query('select revoked_at from sessions order by created_at')
  assert.deepEqual(
    sessions.map(({ revoked_at: end }) => end === null),
    [true, false, false],
  )
})

test('users cannot write the fields of their metadata that the server sets (property 60)', async (t) => {
  const server = await openFlowServer(t, env)
  if (!server) return
  const claimed = {
    sub: 'c0ffee00-0000-4000-8000-000000000000',
    email: 'admin@example.com',
    email_verified: true,
    phone_verified: true,
  }
  const metadataOf = async (id: string) => {
    const [user] = await server.query('select raw_user_meta_data from users where id = $1', [id])
    return user.raw_user_meta_data
  }

  await t.test('at sign-up (property 60)', async () => {
    const email = newEmail()
    const named = await server.post('/signup', {
      email,
      password,
      data: { ...claimed, name: 'Ada' },
    })
    const { id } = named.body
    const own = { sub: id, email, email_verified: false, phone_verified: false, name: 'Ada' }
    assert.deepEqual(await metadataOf(id), own)
    const anonymous = await server.post('/signup', { data: { ...claimed, name: 'Ada' } })
    assert.deepEqual(anonymous.body.user.user_metadata, { name: 'Ada' })
  })

  await t.test('with /otp and /magiclink (property 60)', async () => {
    for (const path of ['/otp', '/magiclink']) {
      const email = newEmail()
      await server.post(path, { email, data: claimed })
      const [{ id }] = await server.query('select id from users where email = $1', [email])
      const { sub, email: said, email_verified: verified } = await metadataOf(id)
      assert.deepEqual([sub, said, verified], [id, email, false])
    }
  })

  await t.test('with PUT /user (property 60)', async () => {
    const { id, email } = await server.newUser()
    const { body } = await server.post('/token?grant_type=password', { email, password })
    const before = await metadataOf(id)
    const changed = await put(server, body.access_token, { ...claimed, name: 'Ada' })
    assert.deepEqual(changed.body.user_metadata, { ...before, name: 'Ada' })
    const nothing = Object.fromEntries(Object.keys(claimed).map((key) => [key, null]))
    assert.equal((await put(server, body.access_token, nothing)).status, 200)
    assert.deepEqual(await metadataOf(id), { ...before, name: 'Ada' })
  })

  await t.test('users can set a phone number until the account has one (property 60)', async () => {
    const { id, email } = await server.newUser()
    const { body } = await server.post('/token?grant_type=password', { email, password })
    await put(server, body.access_token, { phone: 'home' })
    assert.equal((await metadataOf(id)).phone, 'home')
    await server.query('update users set phone = $2 where id = $1', [id, '491701234567'])
    await put(server, body.access_token, { phone: '110', name: 'Ada' })
    const { phone, name } = await metadataOf(id)
    assert.deepEqual([phone, name], ['home', 'Ada'])
  })
})
