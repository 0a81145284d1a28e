import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthClient } from '../support/auth-js.ts'
import { type FlowServer, fragmentOf, openFlowServer, queryOf } from '../support/flow-server.ts'
import { ask, newEmail, password } from '../support/http-client.ts'

/** What a browser does with the link of the newest message. */
async function follow(server: FlowServer, email: string) {
  return ask(server.url, (await server.mailTo(email)).path)
}

test('the client that applications use goes through the flows by email', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, mailTo } = server

  await t.test('signs up and in by digits', async () => {
    const client = createAuthClient(url)
    const email = newEmail()
    const signedUp = await client.signUp({ email, password })
    assert.deepEqual([signedUp.error, signedUp.data.session], [null, null])
    const { code } = await mailTo(email)
    const wrong = await client.verifyOtp({ email, token: 'wrong', type: 'email' })
    assert.equal(wrong.error?.message, 'Token has expired or is invalid')
    assert.equal(wrong.error?.code, 'otp_expired')
    const { data, error } = await client.verifyOtp({ email, token: code, type: 'email' })
    assert.equal(error, null)
    assert.equal(data.user?.email, email)
    assert.equal((await client.getUser()).data.user?.email, email)
  })

  await t.test('signs in by a magic link, with PKCE', async () => {
    const client = createAuthClient(url, { flowType: 'pkce' })
    const email = newEmail()
    assert.equal((await client.signInWithOtp({ email })).error, null)
    const { code } = queryOf(await follow(server, email))
    const { data, error } = await client.exchangeCodeForSession(code ?? '')
    assert.equal(error, null)
    assert.equal(data.user?.email, email)
    const refused = await client.signInWithOtp({
      email: newEmail(),
      options: { shouldCreateUser: false },
    })
    assert.equal(refused.error?.code, 'otp_disabled')
  })

  await t.test('sets a new password after a recovery, with and without PKCE', async () => {
    for (const flowType of ['implicit', 'pkce'] as const) {
      const client = createAuthClient(url, { flowType })
      const { email } = await server.newUser()
      const redirectTo = 'https://site.example/new-password'
      assert.equal((await client.resetPasswordForEmail(email, { redirectTo })).error, null)
      const followed = await follow(server, email)
      const { access_token = '', refresh_token = '' } = fragmentOf(followed)
      const { error } =
        flowType === 'pkce'
          ? await client.exchangeCodeForSession(queryOf(followed)['code'] ?? '')
          : await client.setSession({ access_token, refresh_token })
      assert.equal(error, null)
      const chosen = `chosen with ${flowType}`
      assert.equal((await client.updateUser({ password: chosen })).error, null)
      const login = await client.signInWithPassword({ email, password: chosen })
      assert.equal(login.error, null)
    }
  })

  await t.test('changes an address at both ends, and asks for the messages again', async () => {
    const client = createAuthClient(url)
    const { email } = await server.newUser()
    await client.signInWithPassword({ email, password })
    const next = newEmail()
    assert.equal((await client.updateUser({ email: next })).error, null)
    server.clock.aheadMs += 901_000
    assert.equal((await client.resend({ type: 'email_change', email })).error, null)
    assert.equal((await server.mailsTo(next)).length, 2)
    const [toNext, toCurrent] = [await mailTo(next), await mailTo(email)]
    const type = 'email_change'
    const first = await client.verifyOtp({ token_hash: toNext.token, type })
    assert.deepEqual(first, { data: { user: null, session: null }, error: null })
    const second = await client.verifyOtp({ email, token: toCurrent.code, type })
    assert.equal(second.error, null)
    assert.equal(second.data.user?.email, next)
  })
})
