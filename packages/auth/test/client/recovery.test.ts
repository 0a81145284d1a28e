/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  dataOf,
  enterByFragment,
  errorOf,
  follow,
  openClientServer,
  watchEvents,
} from '../support/auth-js.ts'
import { newEmail, password } from '../support/http-client.ts'

test('resetting a forgotten password with the real client', async (t) => {
  const server = await openClientServer(t, {
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
  })
  if (!server) return
  const { mailbox, createClient } = server
  const redirectTo = 'https://site.example/new-password'

  await t.test('by a link, with a PASSWORD_RECOVERY event after the PKCE exchange', async () => {
    const client = createClient({ flowType: 'pkce' })
    const events = await watchEvents(client)
    const { email } = await server.newUser()
    dataOf(await client.resetPasswordForEmail(email, { redirectTo }))
    const { link, subject } = await mailbox.readNext(email)
    assert.equal(subject, 'Reset Your Password')
    const { target, query } = await follow(link)
    assert.equal(target, redirectTo)
    dataOf(await client.exchangeCodeForSession(query['code'] ?? ''))
    dataOf(await client.updateUser({ password: 'chosen again' }))
    assert.deepEqual(events, ['INITIAL_SESSION', 'PASSWORD_RECOVERY', 'USER_UPDATED'])
    const old = await createClient().signInWithPassword({ email, password })
    assert.equal(old.error?.code, 'invalid_credentials')
    dataOf(await createClient().signInWithPassword({ email, password: 'chosen again' }))
  })

  await t.test('by a link, with type recovery in the fragment', async () => {
    const client = createClient()
    const { email } = await server.newUser()
    dataOf(await client.resetPasswordForEmail(email, { redirectTo }))
    const followed = await follow((await mailbox.readNext(email)).link)
    assert.equal(followed.fragment['type'], 'recovery')
    dataOf(await enterByFragment(client, followed))
    dataOf(await client.updateUser({ password: 'chosen again' }))
    dataOf(await createClient().signInWithPassword({ email, password: 'chosen again' }))
  })

  for (const form of ['digits', 'token_hash'] as const) {
    await t.test(`by ${form}, with a PASSWORD_RECOVERY event`, async () => {
      const client = createClient()
      const events = await watchEvents(client)
      const { email } = await server.newUser()
      dataOf(await client.resetPasswordForEmail(email))
      const { code, tokenHash } = await mailbox.readNext(email)
      const type = 'recovery'
      const proof = form === 'digits' ? { email, token: code } : { token_hash: tokenHash }
      dataOf(await client.verifyOtp({ ...proof, type }))
      dataOf(await client.updateUser({ password: 'chosen again' }))
      assert.deepEqual(events, ['INITIAL_SESSION', 'PASSWORD_RECOVERY', 'USER_UPDATED'])
    })
  }

  await t.test('the response does not reveal whether an account exists', async () => {
    const unknown = await createClient().resetPasswordForEmail(newEmail())
    assert.deepEqual(unknown, { data: {}, error: null })
  })

  await t.test('a changed password ends the other sessions', async () => {
    const { email } = await server.newUser()
    const elsewhere = await server.signIn(email)
    const client = createClient()
    dataOf(await client.resetPasswordForEmail(email))
    const { code } = await mailbox.readNext(email)
    dataOf(await client.verifyOtp({ email, token: code, type: 'recovery' }))
    dataOf(await client.updateUser({ password: 'chosen again' }))
    assert.equal((await elsewhere.refreshSession()).error?.code, 'refresh_token_not_found')
    dataOf(await client.refreshSession())
  })

  await t.test('a password can be changed with a reauthentication nonce', async () => {
    const { email } = await server.newUser()
    const client = await server.signIn(email)
    const next = 'chosen again'
    assert.deepEqual(errorOf(await client.updateUser({ password: next })), [
      'reauthentication_needed',
      400,
      'Password update requires reauthentication',
    ])
    assert.equal((await client.reauthenticate()).error, null)
    const { code, link } = await mailbox.readNext(email)
    assert.equal(link, '')
    const wrong = code === '111111' ? '222222' : '111111'
    assert.deepEqual(errorOf(await client.updateUser({ password: next, nonce: wrong })), [
      'reauthentication_not_valid',
      422,
      'Nonce has expired or is invalid',
    ])
    dataOf(await client.updateUser({ password: next, nonce: code }))
    const used = await client.updateUser({ password: 'and once more', nonce: code })
    assert.equal(used.error?.code, 'reauthentication_not_valid')
    dataOf(await createClient().signInWithPassword({ email, password: next }))
  })
})
