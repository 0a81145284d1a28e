/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  type AuthClient,
  dataOf,
  enterByFragment,
  errorOf,
  follow,
  openClientServer,
} from '../support/auth-js.ts'
import { newEmail, password } from '../support/http-client.ts'
import { untilAllSent } from '../support/outbox.ts'

type LinkRequest = Parameters<AuthClient['admin']['generateLink']>[0]

test('managing users with the real client', async (t) => {
  const server = await openClientServer(t)
  if (!server) return
  const { admin, mailbox, createClient } = server

  // This test must run first, while there are no other users.
  await t.test('users are listed page by page', async () => {
    for (let count = 1; count <= 5; count++) await server.newUser()
    const first = dataOf(await admin.listUsers({ page: 1, perPage: 2 }))
    assert.equal(first.users.length, 2)
    assert.deepEqual([first.nextPage, first.lastPage, first.total], [2, 3, 5])
    const last = dataOf(await admin.listUsers({ page: 3, perPage: 2 }))
    assert.equal(last.users.length, 1)
    assert.deepEqual([last.nextPage, last.lastPage, last.total], [null, 3, 5])
    const all = dataOf(await admin.listUsers())
    assert.equal(new Set(all.users.map(({ id }) => id)).size, 5)
    assert.equal(all.users[0]?.identities?.length, 1)
    const middle = dataOf(await admin.listUsers({ page: 2, perPage: 2 }))
    const paged = [...first.users, ...middle.users, ...last.users].map(({ id }) => id)
    assert.deepEqual(
      paged,
      all.users.map(({ id }) => id),
    )
    const bad = await admin.listUsers({ page: -1 })
    assert.equal(bad.error?.code, 'validation_failed')
  })

  await t.test('a user is created with the given fields and without a message', async () => {
    const id = randomUUID()
    const email = newEmail()
    const { user } = dataOf(
      await admin.createUser({
        ...{ id, email, password, email_confirm: true, role: 'editor' },
        ...{ user_metadata: { name: 'Ada' }, app_metadata: { plan: 'pro' } },
      }),
    )
    assert.deepEqual([user.id, user.email, user.role], [id, email, 'editor'])
    assert.ok(user.email_confirmed_at)
    assert.equal(user.user_metadata['name'], 'Ada')
    assert.deepEqual(user.app_metadata, { plan: 'pro', provider: 'email', providers: ['email'] })
    assert.deepEqual(dataOf(await admin.getUserById(id)).user.app_metadata, user.app_metadata)
    const client = await server.signIn(email)
    assert.equal(dataOf(await client.getClaims())?.claims.role, 'editor')
    assert.deepEqual(errorOf(await admin.createUser({ email, password })), [
      'email_exists',
      422,
      'A user with this email address has already been registered',
    ])
    assert.deepEqual(errorOf(await admin.createUser({ password })), [
      'validation_failed',
      400,
      'Cannot create a user without either an email or phone',
    ])
    await untilAllSent(server)
    assert.equal(mailbox.countOf(email), 0)
  })

  await t.test('a user with an unconfirmed address must confirm it', async () => {
    const email = newEmail()
    dataOf(await admin.createUser({ email, password }))
    const login = await createClient().signInWithPassword({ email, password })
    assert.equal(login.error?.code, 'email_not_confirmed')
  })

  await t.test('a user is updated, and a new password ends old sessions', async () => {
    const { id, email } = await server.newUser()
    const client = await server.signIn(email)
    const next = newEmail()
    const changed = dataOf(
      await admin.updateUserById(id, {
        ...{ email: next, email_confirm: true, password: 'another one' },
        ...{ user_metadata: { a: 1 }, app_metadata: { b: 2 } },
      }),
    )
    assert.equal(changed.user.email, next)
    assert.equal(changed.user.user_metadata['a'], 1)
    assert.equal(changed.user.app_metadata['b'], 2)
    assert.notEqual((await client.refreshSession()).error, null)
    dataOf(await createClient().signInWithPassword({ email: next, password: 'another one' }))
    const cleared = dataOf(await admin.updateUserById(id, { app_metadata: { b: null } }))
    assert.equal('b' in cleared.user.app_metadata, false)
  })

  await t.test('a hard deletion removes all data', async () => {
    const { id, email } = await server.newUser()
    const deleted = dataOf(await admin.deleteUser(id))
    assert.equal(deleted.user.id, id)
    assert.deepEqual(errorOf(await admin.getUserById(id)), [
      'user_not_found',
      404,
      'User not found',
    ])
    const login = await createClient().signInWithPassword({ email, password })
    assert.equal(login.error?.code, 'invalid_credentials')
    assert.equal((await admin.deleteUser(id)).error?.code, 'user_not_found')
    assert.equal((await admin.updateUserById(id, {})).error?.code, 'user_not_found')
  })

  await t.test('a soft deletion keeps only the id and frees the address', async () => {
    const { id, email } = await server.newUser()
    const client = await server.signIn(email)
    dataOf(await admin.deleteUser(id, true))
    const { user } = dataOf(await admin.getUserById(id))
    assert.ok(user.deleted_at)
    assert.notEqual(user.email, email)
    assert.notEqual((await client.refreshSession()).error, null)
    dataOf(await admin.createUser({ email, password, email_confirm: true }))
    await server.signIn(email)
  })

  for (const form of ['link', 'digits', 'token_hash'] as const) {
    await t.test(`an invited user signs in with the ${form}`, async () => {
      const client = createClient()
      const email = newEmail()
      const options = { data: { team: 'blue' }, redirectTo: 'https://site.example/join' }
      const invited = dataOf(await admin.inviteUserByEmail(email, options))
      assert.ok(invited.user.invited_at)
      const { subject, link, code, tokenHash } = await mailbox.readNext(email)
      assert.equal(subject, 'You have been invited')
      const type = 'invite'
      if (form === 'link') {
        const followed = await follow(link)
        assert.equal(followed.target, 'https://site.example/join')
        assert.equal(followed.fragment['type'], type)
        dataOf(await enterByFragment(client, followed))
      } else {
        const proof = form === 'digits' ? { email, token: code } : { token_hash: tokenHash }
        dataOf(await client.verifyOtp({ ...proof, type }))
      }
      const { user } = dataOf(await client.getUser())
      assert.equal(user.id, invited.user.id)
      assert.equal(user.user_metadata['team'], 'blue')
      dataOf(await client.updateUser({ password }))
      await server.signIn(email)
      const again = await admin.inviteUserByEmail(email)
      assert.equal(again.error?.code, 'email_exists')
    })
  }

  const redirectTo = 'https://site.example/from-link'
  const linkRequests: Readonly<
    Record<LinkRequest['type'], (email: string, newEmail: string) => LinkRequest>
  > = {
    signup: (email) => ({ type: 'signup', email, password, options: { redirectTo } }),
    invite: (email) => ({ type: 'invite', email, options: { redirectTo } }),
    magiclink: (email) => ({ type: 'magiclink', email, options: { redirectTo } }),
    recovery: (email) => ({ type: 'recovery', email, options: { redirectTo } }),
    email_change_current: (email, next) => ({
      ...{ type: 'email_change_current', email, newEmail: next, options: { redirectTo } },
    }),
    email_change_new: (email, next) => ({
      ...{ type: 'email_change_new', email, newEmail: next, options: { redirectTo } },
    }),
  }
  const ofNewUsers: readonly string[] = ['signup', 'invite']

  for (const toRequest of Object.values(linkRequests)) {
    const { type: linkType } = toRequest('', '')
    await t.test(`a link of type ${linkType} can be generated and used in every form`, async () => {
      const isChange = linkType.startsWith('email_change')
      const type = isChange ? 'email_change' : linkType
      for (const form of ['link', 'digits', 'token_hash'] as const) {
        const email: string = ofNewUsers.includes(linkType)
          ? newEmail()
          : (await server.newUser()).email
        const next = newEmail()
        const { properties, user } = dataOf(await admin.generateLink(toRequest(email, next)))
        assert.equal(user.email, email)
        assert.equal(properties.verification_type, linkType)
        assert.equal(properties.redirect_to, redirectTo)
        const link = new URL(properties.action_link)
        assert.equal(link.searchParams.get('type'), type)
        assert.equal(link.searchParams.get('token'), properties.hashed_token)
        const client = createClient()
        const expected = isChange ? null : user.id
        if (form === 'link') {
          const followed = await follow(properties.action_link)
          assert.equal(followed.target, redirectTo)
          if (isChange) assert.match(followed.fragment['message'] ?? '', /^Confirmation link acc/)
          else assert.equal(dataOf(await enterByFragment(client, followed)).user?.id, expected)
        } else {
          const address = linkType === 'email_change_new' ? next : email
          const proof =
            form === 'digits'
              ? { email: address, token: properties.email_otp, type }
              : { token_hash: properties.hashed_token, type }
          // The types of the client do not allow a variable type here.
          const verified = await client.verifyOtp(proof as Parameters<AuthClient['verifyOtp']>[0])
          assert.equal(dataOf(verified).user?.id ?? null, expected)
        }
        await untilAllSent(server)
        assert.equal(mailbox.countOf(email) + mailbox.countOf(next), 0)
      }
    })
  }

  await t.test('both links of an email change together change the address', async () => {
    const { id, email } = await server.newUser()
    const next = newEmail()
    const make = async (type: 'email_change_current' | 'email_change_new') => {
      const made = await admin.generateLink({ type, email, newEmail: next })
      return dataOf(made).properties.hashed_token
    }
    const tokens = [await make('email_change_new'), await make('email_change_current')]
    const client = createClient()
    const results = []
    for (const token_hash of tokens) {
      results.push(dataOf(await client.verifyOtp({ token_hash, type: 'email_change' })))
    }
    assert.equal(results[0]?.user, null)
    assert.deepEqual([results[1]?.user?.id, results[1]?.user?.email], [id, next])
  })

  await t.test('links for unknown users are refused, but a magic link signs up', async () => {
    const email = newEmail()
    assert.deepEqual(errorOf(await admin.generateLink({ type: 'recovery', email })), [
      'user_not_found',
      404,
      'User with this email not found',
    ])
    const { properties } = dataOf(await admin.generateLink({ type: 'magiclink', email }))
    assert.equal(properties.verification_type, 'signup')
    const { email: known } = await server.newUser()
    const taken = await admin.generateLink({ type: 'signup', email: known, password })
    assert.equal(taken.error?.code, 'email_exists')
  })

  await t.test('the user has exactly the metadata of the sign-up link', async () => {
    const email = newEmail()
    const data = { status: 'alpha' }
    const made = await admin.generateLink({ type: 'signup', email, password, options: { data } })
    assert.deepEqual(dataOf(made).user.user_metadata, data)
  })

  await t.test('a session can be ended with its token, in every scope', async () => {
    for (const scope of ['local', 'global', 'others'] as const) {
      const { email } = await server.newUser()
      const one: AuthClient = await server.signIn(email)
      const other: AuthClient = await server.signIn(email)
      const { session } = dataOf(await one.getSession())
      dataOf(await admin.signOut(session?.access_token ?? '', scope))
      assert.equal((await one.refreshSession()).error === null, scope === 'others')
      assert.equal((await other.refreshSession()).error === null, scope === 'local')
    }
  })

  await t.test('admin methods require an administrator', async () => {
    const { id, email } = await server.newUser()
    const client = await server.signIn(email)
    const { session } = dataOf(await client.getSession())
    const withoutToken = await client.admin.listUsers()
    assert.deepEqual(
      [withoutToken.error?.code, withoutToken.error?.status],
      ['no_authorization', 401],
    )
    const headers = { Authorization: `Bearer ${session?.access_token}` }
    const asUser = createClient({ headers }).admin
    for (const { error } of [
      await asUser.listUsers(),
      await asUser.getUserById(id),
      await asUser.createUser({ email: newEmail() }),
      await asUser.updateUserById(id, { role: 'service_role' }),
      await asUser.deleteUser(id),
      await asUser.inviteUserByEmail(newEmail()),
      await asUser.generateLink({ type: 'magiclink', email }),
    ]) {
      assert.deepEqual([error?.code, error?.status], ['not_admin', 403])
    }
  })
})
