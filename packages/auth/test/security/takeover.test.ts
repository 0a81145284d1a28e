/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type FlowServer, fragmentOf, openFlowServer } from '../support/flow-server.ts'
import { ask, newEmail, password, sdk } from '../support/http-client.ts'
import { newPhone, openPhoneServer } from '../support/phone-server.ts'

/** An address that somebody else has registered, with a password and all else they can leave there. */
async function registerStranger(server: FlowServer) {
  const email = newEmail()
  const { body: made } = await server.post('/signup', { email, password, data: { name: 'Ada' } })
  // The worst case: the stranger has got a session, an identity and a factor before.
  await server.query('update users set email_confirmed_at = now() where id = $1', [made.id])
  const { body: session } = await server.post('/token?grant_type=password', { email, password })
  await server.query('update users set email_confirmed_at = null where id = $1', [made.id])
  await server.query(
    `insert into identities (id, user_id, provider, provider_id, identity_data)
     values ($1, $2::uuid, 'github', $2::uuid::text, '{}')`,
    [randomUUID(), made.id],
  )
  await server.query(
    `insert into mfa_factors (id, user_id, factor_type, status) values ($1, $2, 'totp', 'verified')`,
    [randomUUID(), made.id],
  )
  await server.query('delete from message_gaps')
  return { id: made.id, email, session }
}

test('18.21 who registers an address of others has nothing when its owner asks for a link', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { post, query, mailTo, url } = server
  const admin = { authorization: `Bearer ${server.serviceToken}` }
  const link = async (email: string, type: string) => {
    const { body } = await post('/admin/generate_link', { type, email }, { ...admin, ...sdk })
    return { type: body.verification_type, token: body.hashed_token }
  }
  const byMail = async (email: string, type: string) => ({
    type,
    token: (await mailTo(email)).token,
  })

  const requests = {
    'POST /otp': async (email: string) => {
      await post('/otp', { email })
      return byMail(email, 'magiclink')
    },
    'POST /otp of the client': async (email: string) => {
      await post('/otp', { email }, sdk)
      return byMail(email, 'signup')
    },
    'POST /otp, and the stranger asks for another message': async (email: string) => {
      await post('/otp', { email }, sdk)
      await post('/resend', { type: 'signup', email })
      assert.equal((await server.mailsTo(email)).length, 3)
      return byMail(email, 'signup')
    },
    'POST /magiclink': async (email: string) => {
      await post('/magiclink', { email })
      return byMail(email, 'magiclink')
    },
    'POST /invite': async (email: string) => {
      await post('/invite', { email }, admin)
      return byMail(email, 'invite')
    },
    'POST /admin/generate_link of a magic link': (email: string) => link(email, 'magiclink'),
    'POST /admin/generate_link of an invitation': (email: string) => link(email, 'invite'),
  } as const

  for (const [name, request] of Object.entries(requests)) {
    await t.test(`18.21 ${name}`, async () => {
      const { id, email, session } = await registerStranger(server)
      const { body: owner, status } = await post('/verify', await request(email))
      assert.equal(status, 200, JSON.stringify(owner))
      assert.equal(owner.user.id, id)
      const login = await post('/token?grant_type=password', { email, password })
      assert.equal(login.body.error_code, 'invalid_credentials')
      const { refresh_token, access_token: token } = session
      assert.equal((await post('/token?grant_type=refresh_token', { refresh_token })).status, 400)
      const changed = await ask(url, '/user', { method: 'PUT', token, body: { data: {} } })
      assert.equal(changed.body.error_code, 'session_not_found')
      assert.deepEqual(owner.user.app_metadata, { provider: 'email', providers: ['email'] })
      const left = await query('select provider from identities where user_id = $1', [id])
      assert.deepEqual(left, [{ provider: 'email' }])
      assert.deepEqual(await query('select from mfa_factors where user_id = $1', [id]), [])
      // The owner is in, and stays so.
      const again = { refresh_token: owner.refresh_token }
      assert.equal((await post('/token?grant_type=refresh_token', again)).status, 200)
    })
  }

  await t.test('18.21 an invitation takes the password that comes with its answer', async () => {
    const { email } = await registerStranger(server)
    const proof = await requests['POST /invite'](email)
    await post('/verify', { ...proof, password: 'of the owner' })
    const statuses = []
    for (const secret of [password, 'of the owner']) {
      const login = await post('/token?grant_type=password', { email, password: secret })
      statuses.push(login.status)
    }
    assert.deepEqual(statuses, [400, 200])
  })

  await t.test(
    '18.21 also where the stranger came by a provider, and has no password',
    async () => {
      const { id, email } = await registerStranger(server)
      await query(`delete from identities where user_id = $1 and provider = 'email'`, [id])
      await query('update users set encrypted_password = null where id = $1', [id])
      const { body } = await post('/verify', await requests['POST /otp'](email))
      assert.deepEqual(body.user.app_metadata, { provider: 'email', providers: ['email'] })
      const [identity] = body.user.identities
      assert.deepEqual([body.user.identities.length, identity.provider], [1, 'email'])
      assert.deepEqual([identity.identity_data.sub, identity.identity_data.email], [id, email])
    },
  )

  await t.test('18.21 a link that leads to a code ends it as well', async () => {
    const { email } = await registerStranger(server)
    const challenge = { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }
    await post('/otp', { email, ...challenge })
    const followed = await ask(url, (await mailTo(email)).path)
    assert.match(followed.headers.get('location') ?? '', /\?code=/)
    const login = await post('/token?grant_type=password', { email, password })
    assert.equal(login.body.error_code, 'invalid_credentials')
  })

  await t.test('who signs up and confirms keeps the password, and the metadata', async () => {
    const email = newEmail()
    await post('/signup', { email, password, data: { name: 'Grace' } })
    const followed = await ask(url, (await mailTo(email)).path)
    assert.equal(fragmentOf(followed)['type'], 'signup')
    const login = await post('/token?grant_type=password', { email, password })
    assert.deepEqual([login.status, login.body.user.user_metadata.name], [200, 'Grace'])
  })

  await t.test('who has confirmed their address keeps all by any link', async () => {
    const { email } = await server.newUser()
    const before = await post('/token?grant_type=password', { email, password })
    assert.equal((await post('/verify', await requests['POST /otp'](email))).status, 200)
    assert.equal((await post('/token?grant_type=password', { email, password })).status, 200)
    const { refresh_token } = before.body
    assert.equal((await post('/token?grant_type=refresh_token', { refresh_token })).status, 200)
  })

  await t.test('what somebody gave with their first request stays after the second', async () => {
    const email = newEmail()
    await post('/otp', { email, data: { name: 'Joan' } })
    server.clock.aheadMs += 61_000
    const { body } = await post('/verify', await requests['POST /otp'](email))
    assert.equal(body.user.user_metadata.name, 'Joan')
  })
})

test('18.21 who registers a number of others has nothing when its owner asks for a code', async (t) => {
  const server = await openPhoneServer(t)
  if (!server) return
  const { post, query, url } = server
  const phone = newPhone()
  const { body: made } = await post('/signup', { phone, password })
  await query('update users set phone_confirmed_at = now() where id = $1', [made.id])
  const { body: session } = await post('/token?grant_type=password', { phone, password })
  await query('update users set phone_confirmed_at = null where id = $1', [made.id])
  await query('delete from message_gaps')
  await post('/otp', { phone })
  // The stranger asks for another code, which must not bring the password back.
  server.clock.aheadMs += 61_000
  await post('/resend', { type: 'sms', phone })
  const token = await server.codeTo(phone)
  const { body: owner } = await post('/verify', { type: 'sms', phone, token })
  assert.equal(owner.user.id, made.id)
  const login = await post('/token?grant_type=password', { phone, password })
  assert.equal(login.body.error_code, 'invalid_credentials')
  const stale = { method: 'PUT', token: session.access_token, body: { data: {} } }
  assert.equal((await ask(url, '/user', stale)).body.error_code, 'session_not_found')

  await t.test('who signs up and confirms keeps the password', async () => {
    const own = newPhone()
    await post('/signup', { phone: own, password })
    await post('/verify', { type: 'sms', phone: own, token: await server.codeTo(own) })
    assert.equal((await post('/token?grant_type=password', { phone: own, password })).status, 200)
  })
})
