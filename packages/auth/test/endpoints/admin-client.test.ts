import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createAuthClient } from '../support/auth-js.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password } from '../support/http-client.ts'

test('the client administers users and changes its own', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, serviceToken } = server
  const { admin } = createAuthClient(url, { headers: { authorization: `Bearer ${serviceToken}` } })
  const client = () => createAuthClient(url)

  await t.test('creates, gets, updates, bans and deletes', async () => {
    const email = newEmail()
    const user_metadata = { name: 'A' }
    const created = await admin.createUser({ email, password, email_confirm: true, user_metadata })
    assert.equal(created.error, null)
    const id = created.data.user?.id ?? ''
    assert.deepEqual(created.data.user?.user_metadata, user_metadata)
    const twice = await admin.createUser({ email })
    assert.deepEqual([twice.error?.status, twice.error?.code], [422, 'email_exists'])
    assert.equal((await admin.getUserById(id)).data.user?.email, email)
    const updated = await admin.updateUserById(id, {
      app_metadata: { plan: 'x' },
      ban_duration: '24h',
    })
    assert.equal(updated.data.user?.app_metadata['plan'], 'x')
    const banned = await client().signInWithPassword({ email, password })
    assert.equal(banned.error?.code, 'user_banned')
    await admin.updateUserById(id, { ban_duration: 'none' })
    const signedIn = await client().signInWithPassword({ email, password })
    assert.equal(signedIn.error, null)
    assert.equal((await admin.deleteUser(id)).error, null)
    const gone = await admin.getUserById(id)
    assert.deepEqual([gone.error?.status, gone.error?.code], [404, 'user_not_found'])
    const unknown = await admin.deleteUser(randomUUID(), true)
    assert.equal(unknown.error?.code, 'user_not_found')
  })

  await t.test('invites, and makes links that others verify', async () => {
    const email = newEmail()
    const invited = await admin.inviteUserByEmail(email, { data: { team: 'a' } })
    assert.equal(invited.error, null)
    assert.equal(invited.data.user?.email, email)
    const other = newEmail()
    const link = await admin.generateLink({
      type: 'signup',
      email: other,
      password,
      options: { data: { status: 'alpha' }, redirectTo: 'http://localhost:9999/welcome' },
    })
    assert.equal(link.error, null)
    const { properties, user } = link.data
    assert.deepEqual(user?.user_metadata, { status: 'alpha' })
    assert.equal(properties?.verification_type, 'signup')
    // Not permitted, and the client expects no error.
    assert.equal(properties?.redirect_to, 'https://site.example')
    const verified = await client().verifyOtp({
      type: 'signup',
      token_hash: properties?.hashed_token ?? '',
    })
    assert.equal(verified.error, null)
    assert.ok(verified.data.session)
  })

  await t.test('changes its password, data and address', async () => {
    const { email } = await server.newUser()
    const auth = client()
    await auth.signInWithPassword({ email, password })
    const changed = await auth.updateUser({ data: { hello: 'world' } })
    assert.equal(changed.data.user?.user_metadata['hello'], 'world')
    const wanted = newEmail()
    const moved = await auth.updateUser({ email: wanted })
    assert.equal(moved.error, null)
    assert.equal(moved.data.user?.new_email, wanted)
    const same = await auth.updateUser({ password })
    assert.deepEqual([same.error?.status, same.error?.code], [422, 'same_password'])
    const weak = await auth.updateUser({ password: 'abc' })
    assert.equal(weak.error?.name, 'AuthWeakPasswordError')
    assert.equal((await auth.reauthenticate()).error, null)
    assert.equal((await auth.updateUser({ password: 'another password' })).error, null)
  })
})
