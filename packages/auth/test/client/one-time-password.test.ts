/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf, enterByFragment, errorOf, follow, openClientServer } from '../support/auth-js.ts'
import { newEmail } from '../support/http-client.ts'

test('signing in without a password with the real client', async (t) => {
  const server = await openClientServer(t)
  if (!server) return
  const { mailbox, createClient } = server

  for (const flowType of ['implicit', 'pkce'] as const) {
    await t.test(`a new user signs up with a code, in the ${flowType} flow`, async () => {
      const client = createClient({ flowType })
      const email = newEmail()
      const options = { data: { plan: 'free' } }
      const requested = dataOf(await client.signInWithOtp({ email, options }))
      assert.deepEqual([requested.user, requested.session], [null, null])
      const { code, subject } = await mailbox.readNext(email)
      assert.equal(subject, 'Confirm Your Signup')
      const { user } = dataOf(await client.verifyOtp({ email, token: code, type: 'email' }))
      assert.equal(user?.user_metadata['plan'], 'free')
      assert.ok(user?.email_confirmed_at)
    })

    await t.test(`a known user gets a link that signs in, in the ${flowType} flow`, async () => {
      const client = createClient({ flowType })
      const { id, email } = await server.newUser()
      const options = { shouldCreateUser: false, emailRedirectTo: 'https://site.example/in' }
      dataOf(await client.signInWithOtp({ email, options }))
      const { link, subject } = await mailbox.readNext(email)
      assert.equal(subject, 'Your Magic Link')
      const followed = await follow(link)
      assert.equal(followed.target, 'https://site.example/in')
      const entered =
        flowType === 'pkce'
          ? await client.exchangeCodeForSession(followed.query['code'] ?? '')
          : await enterByFragment(client, followed)
      assert.equal(entered.error, null)
      assert.equal(entered.data.user?.id, id)
      assert.equal(followed.fragment['type'], flowType === 'pkce' ? undefined : 'magiclink')
    })

    for (const type of ['email', 'magiclink'] as const) {
      await t.test(
        `a code and a token_hash sign in with type ${type}, in the ${flowType} flow`,
        async () => {
          const client = createClient({ flowType })
          const { id, email } = await server.newUser()
          dataOf(await client.signInWithOtp({ email }))
          const { code } = await mailbox.readNext(email)
          const byDigits = dataOf(await client.verifyOtp({ email, token: code, type }))
          assert.equal(byDigits.user?.id, id)
          dataOf(await client.signInWithOtp({ email }))
          const { tokenHash } = await mailbox.readNext(email)
          const byHash = dataOf(await client.verifyOtp({ token_hash: tokenHash, type }))
          assert.equal(byHash.user?.id, id)
          assert.ok(byHash.session)
        },
      )
    }
  }

  await t.test('concurrent flows in one browser keep their own verifiers', async () => {
    const client = createClient({
      flowType: 'pkce',
      experimental: { appendPkceFlowIdToRedirects: true },
    })
    const options = { emailRedirectTo: 'https://site.example/in' }
    const emails = [newEmail(), newEmail()]
    for (const email of emails) dataOf(await client.signInWithOtp({ email, options }))
    for (const email of emails) {
      const { query } = await follow((await mailbox.readNext(email)).link)
      const { code = '', sb_flow_id: flowId = '' } = query
      assert.notEqual(flowId, '')
      const { user } = dataOf(await client.exchangeCodeForSession(code, { flowId }))
      assert.equal(user.email, email)
    }
  })

  await t.test('an unknown address is refused with shouldCreateUser: false', async () => {
    const email = newEmail()
    const options = { shouldCreateUser: false }
    const refused = await createClient().signInWithOtp({ email, options })
    assert.deepEqual(errorOf(refused), ['otp_disabled', 422, 'Signups not allowed for otp'])
  })

  await t.test('a code is invalidated by wrong guesses', async () => {
    const client = createClient()
    const { email } = await server.newUser()
    dataOf(await client.signInWithOtp({ email }))
    const { code } = await mailbox.readNext(email)
    const wrong = code === '111111' ? '222222' : '111111'
    for (let guess = 1; guess <= 10; guess++) {
      const { error } = await client.verifyOtp({ email, token: wrong, type: 'email' })
      assert.equal(error?.code, 'otp_expired')
    }
    const { error } = await client.verifyOtp({ email, token: code, type: 'email' })
    assert.equal(error?.code, 'otp_expired')
  })
})
