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
import { untilAllSent } from '../support/outbox.ts'

test('signing up by email with the real client', async (t) => {
  const server = await openClientServer(t)
  if (!server) return
  const { mailbox, createClient } = server

  await t.test('the confirmation link signs in with tokens in the fragment', async () => {
    const client = createClient()
    const email = newEmail()
    const options = { emailRedirectTo: 'https://site.example/welcome?from=mail', data: { a: [1] } }
    const { user, session } = dataOf(await client.signUp({ email, password, options }))
    assert.equal(session, null)
    assert.ok(user?.confirmation_sent_at)
    assert.equal(user.email_confirmed_at, undefined)
    assert.deepEqual(user.user_metadata['a'], [1])
    assert.equal(user.identities?.[0]?.provider, 'email')
    assert.deepEqual(errorOf(await client.signInWithPassword({ email, password })), [
      'email_not_confirmed',
      400,
      'Email not confirmed',
    ])

    const message = await mailbox.readNext(email)
    assert.equal(message.subject, 'Confirm Your Signup')
    const followed = await follow(message.link)
    assert.equal(followed.status, 303)
    assert.equal(followed.target, 'https://site.example/welcome')
    assert.deepEqual(followed.query, { from: 'mail' })
    assert.equal(followed.fragment['type'], 'signup')
    const entered = dataOf(await enterByFragment(client, followed))
    assert.equal(entered.user?.id, user.id)
    assert.ok(entered.user?.email_confirmed_at)
    assert.equal(entered.user?.user_metadata['email_verified'], true)

    const again = await follow(message.link)
    assert.equal(again.fragment['error_code'], 'otp_expired')
    assert.equal(again.fragment['error_description'], 'Email link is invalid or has expired')
  })

  await t.test('the confirmation link signs in with a PKCE code', async () => {
    const client = createClient({ flowType: 'pkce' })
    const events = await watchEvents(client)
    const email = newEmail()
    const options = { emailRedirectTo: 'https://site.example/welcome?from=mail' }
    dataOf(await client.signUp({ email, password, options }))
    const { link } = await mailbox.readNext(email)
    const { query, fragment, target } = await follow(link)
    assert.equal(target, 'https://site.example/welcome')
    assert.deepEqual(fragment, {})
    assert.equal(query['from'], 'mail')
    const { user, session } = dataOf(await client.exchangeCodeForSession(query['code'] ?? ''))
    assert.equal(user.email, email)
    assert.ok(session.refresh_token)
    assert.deepEqual(events, ['INITIAL_SESSION', 'SIGNED_IN'])
  })

  await t.test('a PKCE code works once, only in the browser of the flow', async () => {
    const client = createClient({ flowType: 'pkce' })
    const thief = createClient({ flowType: 'pkce' })
    const email = newEmail()
    dataOf(await client.signUp({ email, password }))
    dataOf(await thief.signUp({ email: newEmail(), password }))
    const { query } = await follow((await mailbox.readNext(email)).link)
    const code = query['code'] ?? ''
    assert.deepEqual(errorOf(await thief.exchangeCodeForSession(code)), [
      'bad_code_verifier',
      400,
      'code challenge does not match previously saved code verifier',
    ])
    dataOf(await client.exchangeCodeForSession(code))
    dataOf(await client.signUp({ email: newEmail(), password }))
    assert.deepEqual(errorOf(await client.exchangeCodeForSession(code)), [
      'flow_state_not_found',
      404,
      'invalid flow state, no valid flow state found',
    ])
  })

  for (const flowType of ['implicit', 'pkce'] as const) {
    for (const type of ['signup', 'email'] as const) {
      await t.test(`a code confirms with type ${type}, in the ${flowType} flow`, async () => {
        const client = createClient({ flowType })
        const events = await watchEvents(client)
        const email = newEmail()
        dataOf(await client.signUp({ email, password }))
        const { code } = await mailbox.readNext(email)
        assert.match(code, /^\d{6}$/)
        const { user, session } = dataOf(await client.verifyOtp({ email, token: code, type }))
        assert.equal(user?.email, email)
        assert.ok(session)
        assert.deepEqual(events, ['INITIAL_SESSION', 'SIGNED_IN'])
        assert.deepEqual(errorOf(await client.verifyOtp({ email, token: code, type })), [
          'otp_expired',
          403,
          'Token has expired or is invalid',
        ])
      })

      await t.test(`a token_hash confirms with type ${type}, in the ${flowType} flow`, async () => {
        const client = createClient({ flowType })
        const email = newEmail()
        dataOf(await client.signUp({ email, password }))
        const { tokenHash } = await mailbox.readNext(email)
        const { user, session } = dataOf(await client.verifyOtp({ token_hash: tokenHash, type }))
        assert.equal(user?.email, email)
        assert.ok(session)
        assert.deepEqual(errorOf(await client.verifyOtp({ token_hash: tokenHash, type })), [
          'otp_expired',
          403,
          'Email link is invalid or has expired',
        ])
      })
    }

    await t.test(`the message can be sent again, in the ${flowType} flow`, async () => {
      const client = createClient({ flowType })
      const email = newEmail()
      dataOf(await client.signUp({ email, password }))
      const first = await mailbox.readNext(email)
      const options = { emailRedirectTo: 'https://site.example/again' }
      dataOf(await client.resend({ type: 'signup', email, options }))
      const second = await mailbox.readNext(email)
      const late = await client.verifyOtp({ token_hash: first.tokenHash, type: 'signup' })
      assert.equal(late.error?.code, 'otp_expired')
      const followed = await follow(second.link)
      assert.equal(followed.target, 'https://site.example/again')
      const entered =
        flowType === 'pkce'
          ? await client.exchangeCodeForSession(followed.query['code'] ?? '')
          : await enterByFragment(client, followed)
      assert.equal(entered.error, null)
      assert.equal(entered.data.user?.email, email)
    })
  }

  await t.test('a repeated sign-up reveals nothing and sends no message', async () => {
    const { id, email } = await server.newUser()
    const { user, session } = dataOf(await createClient().signUp({ email, password: 'other one' }))
    assert.equal(session, null)
    assert.equal(user?.email, email)
    assert.notEqual(user?.id, id)
    assert.equal(user?.identities?.length, 1)
    assert.equal((await createClient().resend({ type: 'signup', email })).error, null)
    await untilAllSent(server)
    assert.equal(mailbox.countOf(email), 0)
    await server.signIn(email)
  })

  await t.test('a forbidden redirect becomes the site URL, as the client expects', async () => {
    const client = createClient()
    const email = newEmail()
    const options = { emailRedirectTo: 'https://elsewhere.example/' }
    dataOf(await client.signUp({ email, password, options }))
    const { target } = await follow((await mailbox.readNext(email)).link)
    assert.equal(target, 'https://site.example/')
  })
})
