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

const halfDone =
  'Confirmation link accepted. Please proceed to confirm link sent to the other email'
const changed = 'Confirmation link accepted. The email address has been changed'

test('changing an account with the real client', async (t) => {
  const server = await openClientServer(t, { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
  if (!server) return
  const { mailbox, createClient } = server
  const type = 'email_change'

  await t.test('user metadata is merged and returned in the session of the client', async () => {
    const client = await server.signIn((await server.newUser()).email)
    const events = await watchEvents(client)
    dataOf(await client.updateUser({ data: { name: 'Ada', theme: 'dark' } }))
    const { user } = dataOf(await client.updateUser({ data: { theme: null, age: 36 } }))
    const { name, theme, age } = user.user_metadata
    assert.deepEqual([name, theme ?? null, age], ['Ada', null, 36])
    const { session } = dataOf(await client.getSession())
    assert.equal(session?.user.user_metadata['age'], 36)
    assert.deepEqual(events, ['INITIAL_SESSION', 'USER_UPDATED', 'USER_UPDATED'])
  })

  await t.test('identities, factors and the assurance level can be read', async () => {
    const { id, email } = await server.newUser()
    const client = await server.signIn(email)
    const { identities } = dataOf(await client.getUserIdentities())
    assert.deepEqual(
      identities.map((identity) => [identity.provider, identity.user_id, identity.id]),
      [['email', id, id]],
    )
    assert.equal(identities[0]?.identity_data?.['email'], email)
    const factors = dataOf(await client.mfa.listFactors())
    assert.deepEqual(factors.all, [])
    const level = dataOf(await client.mfa.getAuthenticatorAssuranceLevel())
    assert.deepEqual([level.currentLevel, level.nextLevel], ['aal1', 'aal1'])
    const [method] = level.currentAuthenticationMethods
    assert.equal(typeof method === 'object' && method.method, 'password')
  })

  await t.test('an email address changes after both links were followed', async () => {
    const { id, email } = await server.newUser()
    const client = await server.signIn(email)
    const next = newEmail()
    const options = { emailRedirectTo: 'https://site.example/account' }
    const { user } = dataOf(await client.updateUser({ email: next }, options))
    assert.deepEqual([user.email, user.new_email], [email, next])
    assert.ok(user.email_change_sent_at)
    const [toNext, toCurrent] = [await mailbox.readNext(next), await mailbox.readNext(email)]
    assert.equal(toNext.subject, 'Confirm Email Change')
    const first = await follow(toCurrent.link)
    assert.equal(first.target, 'https://site.example/account')
    assert.equal(first.fragment['message'], halfDone)
    assert.equal(dataOf(await client.getUser()).user.email, email)
    // The link to the new address does not sign in; the client continues with its own session.
    const second = await follow(toNext.link)
    assert.deepEqual(second.fragment, { message: changed, sb: '' })
    const entered = dataOf(await client.refreshSession())
    assert.deepEqual([entered.user?.id, entered.user?.email], [id, next])
    assert.equal(entered.user?.new_email, undefined)
    await server.signIn(next)
  })

  await t.test('the link to the current address, followed last, signs in', async () => {
    const { id, email } = await server.newUser()
    const client = await server.signIn(email)
    const next = newEmail()
    dataOf(await client.updateUser({ email: next }))
    const [toNext, toCurrent] = [await mailbox.readNext(next), await mailbox.readNext(email)]
    assert.equal((await follow(toNext.link)).fragment['message'], halfDone)
    const second = await follow(toCurrent.link)
    assert.equal(second.fragment['type'], type)
    const entered = dataOf(await enterByFragment(createClient(), second))
    assert.deepEqual([entered.user?.id, entered.user?.email], [id, next])
  })

  await t.test('an email address can be changed with PKCE links', async () => {
    const { email } = await server.newUser()
    const client = await server.signIn(email, { flowType: 'pkce' })
    const next = newEmail()
    dataOf(await client.updateUser({ email: next }))
    const first = await follow((await mailbox.readNext(next)).link)
    assert.equal(first.query['message'], halfDone)
    const { query } = await follow((await mailbox.readNext(email)).link)
    const { user } = dataOf(await client.exchangeCodeForSession(query['code'] ?? ''))
    assert.equal(user.email, next)
  })

  await t.test('an email address can be changed with codes and with token_hash', async () => {
    const { email } = await server.newUser()
    const client = await server.signIn(email)
    const next = newEmail()
    dataOf(await client.updateUser({ email: next }))
    const { code } = await mailbox.readNext(email)
    const { tokenHash } = await mailbox.readNext(next)
    const first = await client.verifyOtp({ email, token: code, type })
    assert.deepEqual(first, { data: { user: null, session: null }, error: null })
    // A page that handles a link sends token_hash, and the user has typed no code.
    const second = await client.verifyOtp({ token_hash: tokenHash, type })
    assert.deepEqual(second, { data: { user: null, session: null }, error: null })
    assert.equal(dataOf(await client.getUser()).user.email, next)
    const last = newEmail()
    dataOf(await client.updateUser({ email: last }))
    const codes = [(await mailbox.readNext(next)).code, (await mailbox.readNext(last)).code]
    dataOf(await client.verifyOtp({ email: next, token: codes[0] ?? '', type }))
    const typed = dataOf(await client.verifyOtp({ email: last, token: codes[1] ?? '', type }))
    assert.equal(typed.user?.email, last)
    assert.ok(typed.session)
  })

  await t.test('the messages of an email change can be sent again', async () => {
    const { email } = await server.newUser()
    const client = await server.signIn(email)
    const next = newEmail()
    dataOf(await client.updateUser({ email: next }))
    const former = [await mailbox.readNext(email), await mailbox.readNext(next)]
    dataOf(await client.resend({ type, email }))
    const [toCurrent, toNext] = [await mailbox.readNext(email), await mailbox.readNext(next)]
    for (const { tokenHash } of former) {
      const { error } = await client.verifyOtp({ token_hash: tokenHash, type })
      assert.equal(error?.code, 'otp_expired')
    }
    dataOf(await client.verifyOtp({ email, token: toCurrent.code, type }))
    const { user } = dataOf(await client.verifyOtp({ email: next, token: toNext.code, type }))
    assert.equal(user?.email, next)
  })

  await t.test('the address of another user is refused', async () => {
    const client = await server.signIn((await server.newUser()).email)
    const { email } = await server.newUser()
    assert.deepEqual(errorOf(await client.updateUser({ email })), [
      'email_exists',
      422,
      'A user with this email address has already been registered',
    ])
  })

  await t.test('a password can be changed, and must differ from the current one', async () => {
    const { email } = await server.newUser()
    const client = await server.signIn(email)
    assert.deepEqual(errorOf(await client.updateUser({ password })), [
      'same_password',
      422,
      'New password should be different from the old password.',
    ])
    dataOf(await client.updateUser({ password: 'another one' }))
    dataOf(await createClient().signInWithPassword({ email, password: 'another one' }))
  })

  await t.test('an anonymous user becomes permanent by adding an email address', async () => {
    const client = createClient()
    const events = await watchEvents(client)
    const options = { data: { cart: [1, 2] } }
    const { user: anonymous } = dataOf(await client.signInAnonymously({ options }))
    assert.equal(anonymous?.is_anonymous, true)
    assert.equal(dataOf(await client.getClaims())?.claims.is_anonymous, true)
    const early = await client.updateUser({ password })
    assert.equal(
      early.error?.message,
      'Updating password of an anonymous user without an email or phone is not allowed',
    )
    const email = newEmail()
    const updated = dataOf(await client.updateUser({ email }))
    assert.equal(updated.user.is_anonymous, true)
    const { code } = await mailbox.readNext(email)
    const { user } = dataOf(await client.verifyOtp({ email, token: code, type }))
    assert.equal(user?.id, anonymous?.id)
    assert.equal(user?.is_anonymous, false)
    assert.deepEqual(user?.user_metadata['cart'], [1, 2])
    assert.equal(user?.identities?.[0]?.provider, 'email')
    assert.equal(dataOf(await client.getClaims())?.claims.is_anonymous, false)
    dataOf(await client.updateUser({ password }))
    await server.signIn(email)
    assert.deepEqual(events, [
      'INITIAL_SESSION',
      'SIGNED_IN',
      'USER_UPDATED',
      'SIGNED_IN',
      'USER_UPDATED',
    ])
  })

  const open = async (env: Readonly<Record<string, string>>) => {
    const ownEnv = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true', ...env }
    const another = await openClientServer(t, ownEnv, server)
    if (!another) throw new Error('PostgreSQL is no longer available')
    return another
  }

  await t.test('one link is enough if secure email change is disabled', async () => {
    const easy = await open({ AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' })
    const { email } = await easy.newUser()
    const client = await easy.signIn(email)
    const next = newEmail()
    dataOf(await client.updateUser({ email: next }))
    const followed = await follow((await easy.mailbox.readNext(next)).link)
    assert.equal(followed.fragment['message'], changed)
    assert.equal(dataOf(await client.getUser()).user.email, next)
    await untilAllSent(easy)
    assert.equal(easy.mailbox.countOf(email), 0)
  })

  await t.test('an anonymous user needs no link if email confirmation is disabled', async () => {
    const trusting = await open({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    const client = trusting.createClient()
    const { user: anonymous } = dataOf(await client.signInAnonymously())
    const email = newEmail()
    const { user } = dataOf(await client.updateUser({ email, password }))
    assert.deepEqual([user.id, user.email, user.is_anonymous], [anonymous?.id, email, false])
    await trusting.signIn(email)
    await untilAllSent(trusting)
    assert.equal(trusting.mailbox.countOf(email), 0)
  })
})
