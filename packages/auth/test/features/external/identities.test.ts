/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import {
  type ExternalServer,
  newAccount,
  openExternalServer,
} from '../../support/external-server.ts'
import { blockedByThisSession, errorOf, fragmentOf, queryOf } from '../../support/flow-server.ts'
import { type HttpAnswer, password, send } from '../../support/http-client.ts'
import { link, requestLinkUrl } from '../../support/linking.ts'

const linking = { AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true' } as const

const unlink = (server: ExternalServer, token: string, identityId: string) =>
  send(server.url, `/user/identities/${identityId}`, { method: 'DELETE', token })

test('linking and unlinking identities', async (t) => {
  const server = await openExternalServer(t, ['keycloak', 'google'], {
    ...linking,
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  })
  if (!server) return
  const signIn = async (email: string) =>
    (await server.post('/token?grant_type=password', { email, password })).body.access_token
  const userOf = async (token: string) => (await send(server.url, '/user', { token })).body
  const problemOf = (answer: HttpAnswer) => {
    const { error_code, error_description } = queryOf(answer)
    return [error_code, error_description]
  }

  await t.test('a linked identity signs in to the account, even with another address', async () => {
    const { id, email } = await server.newUser()
    const account = newAccount()
    const { body: linked } = await link(server, await signIn(email), account)
    const user = await userOf(linked.access_token)
    assert.match(linked.provider_token, /^access /)
    assert.deepEqual([user.id, user.email], [id, email])
    assert.deepEqual(user.app_metadata.providers, ['email', 'keycloak'])
    assert.ok((await server.actionsOf(id)).includes('identity_linked'))
    const fragment = fragmentOf(await server.signInWith('keycloak', account))
    assert.equal((await userOf(fragment['access_token'] ?? '')).id, id)
  })

  await t.test("linking keeps the user's own metadata and adds only what is missing", async () => {
    const { email } = await server.newUser()
    const token = await signIn(email)
    const own = { name: 'Countess Lovelace', nickname: 'Ada' }
    await send(server.url, '/user', { method: 'PUT', token, body: { data: own } })
    const before = await userOf(token)
    const account = newAccount({ name: 'Augusta', given_name: 'Augusta', email: 'a@other.example' })
    await link(server, token, account)
    const { user_metadata: metadata, identities } = await userOf(token)
    assert.deepEqual([metadata.name, metadata.nickname], [own.name, own.nickname])
    assert.equal(metadata.given_name, 'Augusta', 'was missing')
    const { sub, email: address, email_verified } = before.user_metadata
    assert.deepEqual(
      [metadata.sub, metadata.email, metadata.email_verified],
      [sub, address, email_verified],
    )
    assert.equal(identities[1].identity_data.name, 'Augusta', 'the identity has its own data')
  })

  await t.test('linking adds no address to the metadata of a user who has one', async () => {
    const created = await send(server.url, '/admin/users', {
      token: server.serviceToken,
      body: { email: `${randomUUID()}@example.com`, password, email_confirm: true },
    })
    const token = await signIn(created.body.email)
    await link(server, token, newAccount({ name: 'Augusta' }))
    const { user_metadata: metadata } = await userOf(token)
    assert.equal(metadata.name, 'Augusta')
    assert.deepEqual([metadata.email, metadata.sub], [undefined, undefined])
  })

  await t.test(
    'without skip_http_redirect the browser is redirected and gets a cookie',
    async () => {
      const { email } = await server.newUser()
      const answer = await send(server.url, '/user/identities/authorize?provider=keycloak', {
        token: await signIn(email),
      })
      assert.equal(answer.status, 302)
      assert.match(answer.headers.get('set-cookie') ?? '', /auth-flow/)
    },
  )

  await t.test('an identity can be linked only once', async () => {
    const account = newAccount()
    const { email } = await server.newUser()
    const token = await signIn(email)
    await link(server, token, account)
    assert.deepEqual(problemOf(await link(server, token, account)), [
      'identity_already_exists',
      'Identity is already linked',
    ])
    const other = await signIn((await server.newUser()).email)
    assert.deepEqual(problemOf(await link(server, other, account)), [
      'identity_already_exists',
      'Identity is already linked to another user',
    ])
  })

  await t.test('an anonymous user becomes permanent', async () => {
    const { body } = await server.post('/signup', {})
    const account = newAccount()
    const linked = await link(server, body.access_token, account)
    const user = await userOf(linked.body.access_token)
    assert.deepEqual([user.id, user.email, user.is_anonymous], [body.user.id, account.email, false])
    assert.ok(user.email_confirmed_at)
  })

  await t.test('an anonymous user cannot link the address of another user', async () => {
    const { email } = await server.newUser()
    const { body } = await server.post('/signup', {})
    const answer = await link(server, body.access_token, newAccount({ email }))
    assert.equal(problemOf(answer)[0], 'email_exists')
    assert.equal((await userOf(body.access_token)).is_anonymous, true)
  })

  await t.test('an anonymous user has to confirm an unverified address', async () => {
    const { body } = await server.post('/signup', {})
    const account = newAccount({ email_verified: false })
    const answer = await link(server, body.access_token, account)
    assert.equal(errorOf(answer)[1], 'email_not_confirmed')
    const requested = await userOf(body.access_token)
    assert.deepEqual([requested.email, requested.new_email], ['', account.email])
    const mail = await server.mailTo(account.email)
    assert.equal(mail.kind, 'email_change')
    const followed = fragmentOf(await send(server.url, mail.path))
    assert.deepEqual(
      Object.keys(followed),
      ['message', 'sb'],
      'the mail may have reached another person',
    )
    const confirmed = await userOf(body.access_token)
    assert.deepEqual([confirmed.id, confirmed.email], [body.user.id, account.email])
    assert.ok(confirmed.email_confirmed_at)
  })

  await t.test('an unlinked identity no longer signs in to the account', async () => {
    const { id, email } = await server.newUser()
    const token = await signIn(email)
    const account = newAccount()
    await link(server, token, account)
    const { identities } = await userOf(token)
    const answer = await unlink(server, token, identities[1].identity_id)
    assert.deepEqual([answer.status, answer.body], [200, {}])
    const user = await userOf(token)
    assert.deepEqual(user.app_metadata, { provider: 'email', providers: ['email'] })
    assert.equal(user.email, email)
    assert.ok((await server.actionsOf(id)).includes('identity_unlinked'))
    const fragment = fragmentOf(await server.signInWith('keycloak', account))
    assert.notEqual((await userOf(fragment['access_token'] ?? '')).id, id)
  })

  await t.test(
    'an identity with the email address of the account cannot be unlinked yet',
    async () => {
      const { email } = await server.newUser()
      const token = await signIn(email)
      await link(server, token, newAccount())
      const [own] = (await userOf(token)).identities
      assert.deepEqual(errorOf(await unlink(server, token, own.identity_id)), [
        422,
        'email_conflict_identity_not_deletable',
        'Unable to unlink identity due to email conflict: no other identity has the email address of the account. Change the email address first',
      ])
      const user = await userOf(token)
      assert.deepEqual([user.email, user.identities.length], [email, 2])
      // It can be unlinked if another identity has the same address.
      await link(
        server,
        token,
        { sub: randomUUID(), email, email_verified: true },
        { provider: 'google' },
      )
      assert.equal((await unlink(server, token, own.identity_id)).status, 200)
      const after = await userOf(token)
      assert.deepEqual([after.email, after.email_confirmed_at], [email, user.email_confirmed_at])
    },
  )

  await t.test('the check also holds if the address changes concurrently', async () => {
    const { id, email } = await server.newUser()
    const token = await signIn(email)
    const account = newAccount()
    await link(server, token, account)
    const [, linked] = (await userOf(token)).identities
    await server.query('begin')
    await server.query('update users set email = $2 where id = $1', [id, account.email])
    const requested = unlink(server, token, linked.identity_id)
    while ((await server.query(blockedByThisSession)).length === 0) await setTimeout(5)
    await server.query('commit')
    assert.equal(errorOf(await requested)[1], 'email_conflict_identity_not_deletable')
    assert.equal((await userOf(token)).identities.length, 2)
  })

  await t.test(
    'without PKCE a page asks for consent first, and the session stays the same',
    async () => {
      const { id, email } = await server.newUser()
      const token = await signIn(email)
      const back = await link(server, token, newAccount(), { flow: 'implicit' })
      assert.deepEqual(fragmentOf(back), { message: 'Identity linked', sb: '' })
      const user = await userOf(token)
      assert.deepEqual([user.id, user.app_metadata.providers], [id, ['email', 'keycloak']])
    },
  )

  await t.test('unlinking the phone identity removes the phone number', async () => {
    const { id, email } = await server.newUser()
    const phone = `4917${Math.floor(Math.random() * 1e8)}`
    await server.query('update users set phone = $2, phone_confirmed_at = now() where id = $1', [
      id,
      phone,
    ])
    const identityId = randomUUID()
    await server.query(
      `insert into identities (id, user_id, provider, provider_id, identity_data)
       values ($1, $2, 'phone', $3, '{}')`,
      [identityId, id, id],
    )
    const token = await signIn(email)
    assert.equal((await unlink(server, token, identityId)).status, 200)
    const user = await userOf(token)
    assert.deepEqual([user.phone, user.phone_confirmed_at, user.email], ['', undefined, email])
  })

  await t.test('the last identity cannot be removed, even by concurrent requests', async () => {
    const { email } = await server.newUser()
    const token = await signIn(email)
    await link(server, token, newAccount())
    await link(server, token, newAccount(), { provider: 'google' })
    // Neither of the remaining identities has the email address of the account.
    await server.query("delete from identities where provider = 'email' and email = $1", [email])
    const { id: userId, identities } = await userOf(token)
    // Both requests have seen two identities and wait for the lock on the user.
    await server.query('begin')
    await server.query('select 1 from users where id = $1 for update', [userId])
    const requested: readonly Promise<HttpAnswer>[] = identities.map(
      ({ identity_id: id }: { identity_id: string }) => unlink(server, token, id),
    )
    while ((await server.query('select 1 from pg_locks where not granted')).length < 2) {
      await setTimeout(5)
    }
    await server.query('commit')
    const answers = await Promise.all(requested)
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 422])
    const [left] = (await userOf(token)).identities
    assert.deepEqual(errorOf(await unlink(server, token, left.identity_id)), [
      422,
      'single_identity_not_deletable',
      'User must have at least 1 identity after unlinking',
    ])
  })

  await t.test('users can unlink only their own identities', async () => {
    const [mine, theirs] = [await server.newUser(), await server.newUser()]
    const token = await signIn(mine.email)
    const [identity] = (await userOf(await signIn(theirs.email))).identities
    const missing = [422, 'identity_not_found', "Identity doesn't exist"]
    assert.deepEqual(errorOf(await unlink(server, token, identity.identity_id)), missing)
    assert.deepEqual(errorOf(await unlink(server, token, 'one')), [
      404,
      'validation_failed',
      'identity_id must be an UUID',
    ])
  })
})

test('linking requires PKCE if the cookie would not reach the callback host', async (t) => {
  const server = await openExternalServer(t, ['keycloak'], {
    ...linking,
    AUTH_API_EXTERNAL_URL: 'https://another.example',
  })
  if (!server) return
  const { email } = await server.newUser()
  const { body } = await server.post('/token?grant_type=password', { email, password })
  const requested = await requestLinkUrl(server, body.access_token, 'implicit')
  assert.deepEqual(errorOf(requested), [
    400,
    'validation_failed',
    'Linking an identity requires the PKCE flow here: send code_challenge and code_challenge_method',
  ])
  assert.equal((await requestLinkUrl(server, body.access_token, 'pkce')).status, 200)
})
