/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthClient } from '../support/auth-js.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { newEmail, password } from '../support/http-client.ts'

test('signing in with a password with the real client', async (t) => {
  const server = await openAuthServer(t, { env: { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' } })
  if (!server) return

  await t.test('sign-up, sign-in, refresh, user and sign-out', async () => {
    const client = createAuthClient(server.url)
    const email = newEmail()
    const signedUp = await client.signUp({ email, password, options: { data: { name: 'A' } } })
    assert.equal(signedUp.error, null)
    assert.equal(signedUp.data.user?.email, email)
    assert.equal(signedUp.data.user?.user_metadata['name'], 'A')
    assert.ok(signedUp.data.session?.refresh_token)

    await client.signOut()
    assert.equal((await client.getSession()).data.session, null)
    const wrong = await client.signInWithPassword({ email, password: 'wrong' })
    assert.equal(wrong.error?.code, 'invalid_credentials')
    assert.equal(wrong.error?.message, 'Invalid login credentials')

    const signedIn = await client.signInWithPassword({ email, password })
    assert.equal(signedIn.error, null)
    const before = signedIn.data.session?.refresh_token
    const refreshed = await client.refreshSession()
    assert.equal(refreshed.error, null)
    assert.notEqual(refreshed.data.session?.refresh_token, before)
    const { data, error } = await client.getUser()
    assert.equal(error, null)
    assert.equal(data.user?.id, signedUp.data.user?.id)
    const claims = await client.getClaims()
    assert.equal(claims.data?.claims['email'], email)
  })

  await t.test('an unknown refresh token ends the session of the client', async () => {
    const client = createAuthClient(server.url)
    const { error } = await client.refreshSession({ refresh_token: 'nonsense' })
    assert.equal(error?.message, 'Invalid Refresh Token: Refresh Token Not Found')
    assert.equal(error?.code, 'refresh_token_not_found')
  })

  await t.test('anonymous sign-in', async () => {
    const client = createAuthClient(server.url)
    const { data, error } = await client.signInAnonymously({ options: { data: { a: 1 } } })
    assert.equal(error, null)
    assert.equal(data.user?.is_anonymous, true)
    assert.deepEqual(data.user?.user_metadata, { a: 1 })
    assert.deepEqual(data.user?.identities, [])
  })

  await t.test('the client receives the reasons for a weak password', async () => {
    const client = createAuthClient(server.url)
    const { error } = await client.signUp({ email: newEmail(), password: '123' })
    assert.equal(error?.code, 'weak_password')
    assert.ok(error && 'reasons' in error)
    assert.deepEqual(error.reasons, ['length'])
  })
})
