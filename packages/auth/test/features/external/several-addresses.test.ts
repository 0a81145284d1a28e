/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openExternalServer } from '../../support/external-server.ts'
import { fragmentOf } from '../../support/flow-server.ts'
import { newEmail } from '../../support/http-client.ts'

const entry = (email: string, verified: boolean, primary = false) => ({
  email,
  verified,
  primary,
  visibility: null,
})

test('a profile with several addresses', async (t) => {
  const server = await openExternalServer(t, ['github'])
  if (!server) return
  const { account } = server.at('github').shape.example
  let id = 1

  /** Signs in a new account at the provider, and returns the result and the user, if there is one. */
  const signIn = async (emails: readonly ReturnType<typeof entry>[]) => {
    id++
    const fragment = fragmentOf(await server.signInWith('github', { ...account, id, emails }))
    const [user] = await server.query(
      `select u.id, u.email, i.identity_data from users u join identities i on i.user_id = u.id
       where i.provider = 'github' and i.provider_id = $1`,
      [`${id}`],
    )
    return { error: fragment['error_code'], user }
  }

  await t.test('a verified address is used if the primary one is unverified', async () => {
    const [primary, other] = [newEmail(), newEmail()]
    const { error, user } = await signIn([entry(primary, false, true), entry(other, true)])
    assert.equal(error, undefined)
    const { email, email_verified } = user.identity_data
    assert.deepEqual([user.email, email, email_verified], [other, other, true])
  })

  await t.test('the first verified address is used if none is primary', async () => {
    const emails = [newEmail(), newEmail(), newEmail()] as const
    const { error, user } = await signIn(emails.map((email, at) => entry(email, at > 0)))
    assert.deepEqual([error, user.email], [undefined, emails[1]])
  })

  await t.test('any verified address finds its account', async () => {
    const { id: owner, email } = await server.newUser()
    const { error, user } = await signIn([entry(newEmail(), true, true), entry(email, true)])
    assert.deepEqual([error, user.id, user.email], [undefined, owner, email])
  })

  await t.test('nothing is linked if verified addresses belong to two accounts', async () => {
    const [one, other] = [await server.newUser(), await server.newUser()]
    const { error, user } = await signIn([entry(one.email, true, true), entry(other.email, true)])
    assert.deepEqual([error, user], ['unexpected_failure', undefined])
  })

  await t.test(
    'an unverified address does not find its account, even beside a verified one',
    async () => {
      const { id: owner, email } = await server.newUser()
      const mine = newEmail()
      const { error, user } = await signIn([entry(email, false, true), entry(mine, true)])
      assert.deepEqual([error, user.email], [undefined, mine])
      assert.notEqual(user.id, owner)
    },
  )

  await t.test(
    'an unverified address of another account is not taken, and no mail is sent',
    async () => {
      const { id: owner, email } = await server.newUser()
      const { error, user } = await signIn([entry(email, false, true), entry(newEmail(), false)])
      assert.deepEqual([error, user.email], ['provider_email_needs_verification', null])
      assert.notEqual(user.id, owner)
      assert.deepEqual(await server.mailsTo(email), [])
    },
  )
})
