/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AuthClient,
  createMemory,
  dataOf,
  errorOf,
  openClientServer,
  watchEvents,
} from '../support/auth-js.ts'
import { password } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'

async function sessionOf(client: AuthClient) {
  const { session } = dataOf(await client.getSession())
  if (session === null) throw new Error('The client has no session')
  return session
}

test('sessions with the real client', async (t) => {
  const server = await openClientServer(t)
  if (!server) return
  const { clock, createClient } = server

  /** Signs in with the clock set back, so that the access token expires in this many seconds. */
  const signInLongAgo = async (client: AuthClient, secondsLeft: number) => {
    const { email } = await server.newUser()
    // The client uses the real time.
    clock.catchUp()
    clock.aheadMs = (secondsLeft - 3_600) * 1_000
    try {
      return dataOf(await client.signInWithPassword({ email, password })).session
    } finally {
      clock.aheadMs = 0
    }
  }

  await t.test('events are emitted in order', async () => {
    const { email } = await server.newUser()
    const client = createClient()
    const events = await watchEvents(client)
    dataOf(await client.signInWithPassword({ email, password }))
    dataOf(await client.refreshSession())
    dataOf(await client.updateUser({ data: { a: 1 } }))
    assert.equal((await client.signOut()).error, null)
    assert.deepEqual(events, [
      'INITIAL_SESSION',
      'SIGNED_IN',
      'TOKEN_REFRESHED',
      'USER_UPDATED',
      'SIGNED_OUT',
    ])
  })

  await t.test('a session survives the client that created it', async () => {
    const { id, email } = await server.newUser()
    const storage = createMemory()
    await server.signIn(email, { storage })
    const reopened = createClient({ storage })
    assert.deepEqual(await watchEvents(reopened), ['SIGNED_IN', 'INITIAL_SESSION'])
    assert.equal(dataOf(await reopened.getUser()).user.id, id)
  })

  await t.test(
    'each refresh returns a new token, and a lost response can be requested again',
    async () => {
      const client = await server.signIn((await server.newUser()).email)
      const { refresh_token: first, access_token: access } = await sessionOf(client)
      clock.aheadMs = 2_000
      const { session } = dataOf(await client.refreshSession())
      clock.aheadMs = 0
      assert.notEqual(session?.refresh_token, first)
      assert.notEqual(session?.access_token, access)
      const again = dataOf(await createClient().refreshSession({ refresh_token: first }))
      assert.equal(again.session?.refresh_token, session?.refresh_token)
    },
  )

  await t.test('a stolen token that is used late ends the session for both', async () => {
    const client = await server.signIn((await server.newUser()).email)
    const { refresh_token } = await sessionOf(client)
    dataOf(await client.refreshSession())
    clock.aheadMs = 60_000
    const thief = createClient()
    assert.deepEqual(errorOf(await thief.refreshSession({ refresh_token })), [
      'refresh_token_already_used',
      400,
      'Invalid Refresh Token: Already Used',
    ])
    const { error } = await client.refreshSession()
    clock.aheadMs = 0
    assert.equal(error?.code, 'refresh_token_not_found')
  })

  await t.test('a session that was ended elsewhere is removed with its access token', async () => {
    const client = createClient()
    const { user } = await signInLongAgo(client, -60)
    const elsewhere = await server.signIn(user.email ?? '')
    assert.equal((await elsewhere.signOut({ scope: 'global' })).error, null)
    const { data, error } = await client.getUser()
    assert.equal(data.user, null)
    assert.equal(error?.code, 'refresh_token_not_found')
    assert.equal((await client.getSession()).data.session, null)
    assert.deepEqual(await watchEvents(client), ['INITIAL_SESSION'])
  })

  await t.test('an expired session is refreshed before it is used', async () => {
    const client = createClient()
    const old = await signInLongAgo(client, -60)
    const events = await watchEvents(client)
    assert.ok(dataOf(await client.getUser()).user)
    const { access_token, refresh_token } = await sessionOf(client)
    assert.notEqual(access_token, old.access_token)
    assert.notEqual(refresh_token, old.refresh_token)
    assert.equal(events.filter((event) => event === 'SIGNED_OUT').length, 0)
  })

  await t.test('auto-refresh refreshes a session before it expires', async () => {
    const client = createClient({ autoRefreshToken: true })
    t.after(() => client.stopAutoRefresh())
    const events = await watchEvents(client)
    // The client starts to refresh ninety seconds before the expiry.
    const old = await signInLongAgo(client, 80)
    await client.startAutoRefresh()
    await until(() => events.includes('TOKEN_REFRESHED'))
    await client.stopAutoRefresh()
    assert.notEqual((await sessionOf(client)).refresh_token, old.refresh_token)
  })

  await t.test(
    'several clients with one storage refresh concurrently and all stay signed in',
    async () => {
      const storage = createMemory()
      await signInLongAgo(createClient({ storage }), -60)
      const clients = Array.from({ length: 8 }, () => createClient({ storage }))
      const events = await Promise.all(clients.map(watchEvents))
      const sessions = await Promise.all(clients.map(sessionOf))
      assert.equal(new Set(sessions.map((session) => session.refresh_token)).size, 1)
      assert.equal(events.flat().includes('SIGNED_OUT'), false)
      for (const client of clients) assert.ok(dataOf(await client.getUser()).user)
      for (const client of clients) dataOf(await client.refreshSession())
    },
  )

  await t.test('concurrent refreshes of one token return the same new token', async () => {
    const client = await server.signIn((await server.newUser()).email)
    const { refresh_token } = await sessionOf(client)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => createClient().refreshSession({ refresh_token })),
    )
    const children = answers.map((answer) => dataOf(answer).session?.refresh_token)
    assert.equal(new Set(children).size, 1)
    assert.notEqual(children[0], refresh_token)
  })

  await t.test('sign-out with scope local, others and global ends the right sessions', async () => {
    const { email } = await server.newUser()
    const [a, b, c, d] = await Promise.all([
      server.signIn(email),
      server.signIn(email),
      server.signIn(email),
      server.signIn(email),
    ])
    const isAlive = async (client: AuthClient) => (await client.refreshSession()).error === null
    const { refresh_token } = await sessionOf(a)
    assert.equal((await a.signOut({ scope: 'local' })).error, null)
    assert.equal((await a.getSession()).data.session, null)
    const late = await createClient().refreshSession({ refresh_token })
    assert.equal(late.error?.code, 'refresh_token_not_found')
    assert.deepEqual([await isAlive(b), await isAlive(c), await isAlive(d)], [true, true, true])

    const events = await watchEvents(b)
    assert.equal((await b.signOut({ scope: 'others' })).error, null)
    assert.deepEqual(events, ['INITIAL_SESSION'])
    assert.deepEqual([await isAlive(b), await isAlive(c), await isAlive(d)], [true, false, false])

    const e = await server.signIn(email)
    assert.equal((await b.signOut()).error, null)
    assert.equal(await isAlive(e), false)
  })

  await t.test('a session can be set from its two tokens', async () => {
    const { id, email } = await server.newUser()
    const { access_token, refresh_token } = await sessionOf(await server.signIn(email))
    const other = createClient()
    const events = await watchEvents(other)
    const { user } = dataOf(await other.setSession({ access_token, refresh_token }))
    assert.equal(user?.id, id)
    assert.deepEqual(events, ['INITIAL_SESSION', 'SIGNED_IN'])

    const old = await signInLongAgo(createClient(), -60)
    const late = dataOf(await createClient().setSession(old))
    assert.notEqual(late.session?.refresh_token, old.refresh_token)

    const forged = `${access_token.slice(0, -8)}AAAAAAAA`
    const { error } = await createClient().setSession({ access_token: forged, refresh_token })
    assert.deepEqual([error?.code, error?.status], ['bad_jwt', 403])
    assert.match(error?.message ?? '', /^invalid JWT: unable to parse or verify signature/)
  })

  await t.test('a deleted user gets an error', async () => {
    const { id, email } = await server.newUser()
    const client = await server.signIn(email)
    dataOf(await server.admin.deleteUser(id))
    const { error } = await client.getUser()
    assert.deepEqual([error?.code, error?.status], ['user_not_found', 403])
    assert.notEqual((await client.refreshSession()).error, null)
    assert.equal((await client.signOut()).error, null)
  })

  await t.test('a banned user gets an error and can return after the ban', async () => {
    const { id, email } = await server.newUser()
    const client = await server.signIn(email)
    const { refresh_token } = await sessionOf(client)
    dataOf(await server.admin.updateUserById(id, { ban_duration: '24h' }))
    assert.equal((await client.getUser()).error?.code, 'user_banned')
    const refused = await createClient().refreshSession({ refresh_token })
    assert.deepEqual(errorOf(refused), ['user_banned', 400, 'Invalid Refresh Token: User Banned'])
    const login = await createClient().signInWithPassword({ email, password })
    assert.deepEqual(errorOf(login), ['user_banned', 400, 'User is banned'])
    dataOf(await server.admin.updateUserById(id, { ban_duration: 'none' }))
    await server.signIn(email)
  })

  await t.test('sessions end according to the configured limits', async () => {
    const open = async (env: Readonly<Record<string, string>>) => {
      const another = await openClientServer(t, env, server)
      if (!another) throw new Error('PostgreSQL is no longer available')
      return another
    }
    const ended = 'Invalid Refresh Token: Session Expired'
    const timeboxed = await open({ AUTH_SESSIONS_TIMEBOX: '1h' })
    const boxed = await timeboxed.signIn((await timeboxed.newUser()).email)
    dataOf(await boxed.refreshSession())
    timeboxed.clock.aheadMs = 3_601_000
    assert.deepEqual(errorOf(await boxed.refreshSession()), ['session_expired', 400, ended])

    const impatient = await open({ AUTH_SESSIONS_INACTIVITY_TIMEOUT: '10m' })
    const idle = await impatient.signIn((await impatient.newUser()).email)
    impatient.clock.aheadMs = 500_000
    dataOf(await idle.refreshSession())
    impatient.clock.aheadMs += 5_000_000
    const [code, status, message] = errorOf(await idle.refreshSession())
    assert.deepEqual([code, status], ['session_expired', 400])
    assert.equal(message, `${ended} (Inactivity)`)

    const single = await open({ AUTH_SESSIONS_SINGLE_PER_USER: 'true' })
    const { email } = await single.newUser()
    const first = await single.signIn(email)
    single.clock.aheadMs = 60_000
    const second = await single.signIn(email)
    assert.deepEqual(errorOf(await first.refreshSession()), [
      'session_expired',
      400,
      `${ended} (Revoked by Newer Login)`,
    ])
    dataOf(await second.refreshSession())
  })
})
