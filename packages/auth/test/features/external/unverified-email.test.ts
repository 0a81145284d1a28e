/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAccount, openExternalServer } from '../../support/external-server.ts'
import { fragmentOf } from '../../support/flow-server.ts'
import { password, send } from '../../support/http-client.ts'

test('AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS', async (t) => {
  const server = await openExternalServer(t, ['keycloak'], {
    GOTRUE_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
    AUTH_SMTP_MAX_FREQUENCY: '60',
  })
  if (!server) return
  const signIn = async (account: ReturnType<typeof newAccount>) => {
    const { access_token: token = '' } = fragmentOf(await server.signInWith('keycloak', account))
    const { status, body } = await send(server.url, '/user', { token })
    assert.equal(status, 200)
    return body
  }

  await t.test('the user is signed in at once, and confirms the address later', async () => {
    const account = newAccount({ email_verified: false })
    const user = await signIn(account)
    assert.equal(user.email, account.email)
    assert.equal(user.email_confirmed_at, undefined)
    const [mail, ...more] = await server.mailsTo(account.email)
    assert.deepEqual([mail?.kind, more.length], ['confirmation', 0])
    const again = await signIn(account)
    assert.equal(again.id, user.id)
    assert.equal((await server.mailsTo(account.email)).length, 1, 'the cooldown applies')
    const first = fragmentOf(await server.signInWith('keycloak', account))['refresh_token']
    assert.ok(fragmentOf(await send(server.url, mail?.path ?? ''))['access_token'])
    // Earlier sessions end when the address is confirmed, because they may belong to another person.
    const refresh = { refresh_token: first }
    assert.equal((await server.post('/token?grant_type=refresh_token', refresh)).status, 400)
    const confirmed = await signIn(account)
    assert.equal(confirmed.id, user.id)
    assert.ok(confirmed.email_confirmed_at)
  })

  await t.test('an unverified address never leads to the account of another user', async () => {
    const { id, email } = await server.newUser()
    const user = await signIn(newAccount({ email, email_verified: false }))
    assert.notEqual(user.id, id)
    assert.equal(user.email, '')
    assert.deepEqual(await server.mailsTo(email), [])
  })

  await t.test('a password still needs a confirmed address', async () => {
    const { email } = newAccount()
    await server.post('/signup', { email, password })
    const { body } = await server.post('/token?grant_type=password', { email, password })
    assert.equal(body.error_code, 'email_not_confirmed')
  })

  await t.test(
    'the owner of the mailbox gets the address, and the unverified identity is removed',
    async () => {
      const account = newAccount({ email_verified: false })
      const attacker = await signIn(account)
      // The owner of the mailbox requests a link and follows it.
      await server.post('/otp', { email: account.email })
      const { path } = await server.mailTo(account.email)
      assert.ok(fragmentOf(await send(server.url, path))['access_token'])
      const [row] = await server.query(
        'select count(*)::int as count from identities where user_id = $1 and provider = $2',
        [attacker.id, 'keycloak'],
      )
      assert.equal(row.count, 0)
    },
  )
})
