/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Client } from 'pg'
import type { Queries } from '../../../src/db/database.ts'
import { openRevocationFeed } from '../../../src/features/revocations/feed.ts'
import { createTokenSigner } from '../../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../../src/tokens/signing-keys.ts'
import { readEvents, type ServerEvent } from '../../../src/verify/revocations/event-stream.ts'
import { type AuthServer, jwtSecret, openAuthServer } from '../../support/auth-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'
import { until } from '../../support/outbox.ts'
import { openRevokingVerifier } from '../../support/revocations.ts'

const realClock = { aheadMs: 0, now: () => Date.now(), catchUp: () => {} }

async function signUp({ url }: Pick<AuthServer, 'url'>) {
  const email = newEmail()
  const { body } = await send(url, '/signup', { body: { email, password } })
  return { id: String(body.user.id), email, token: String(body.access_token) }
}

async function signIn({ url }: Pick<AuthServer, 'url'>, email: string): Promise<string> {
  const { body } = await send(url, '/token?grant_type=password', { body: { email, password } })
  return body.access_token
}

async function connect(t: TestContext, { databaseUrl, schema }: AuthServer): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl, options: `-c search_path=${schema}` })
  await client.connect()
  t.after(() => client.end())
  return client
}

async function openStream(t: TestContext, url: string, token: string, lastId?: string) {
  const closing = new AbortController()
  t.after(() => closing.abort())
  const response = await fetch(`${url}/revocations`, {
    headers: { authorization: `Bearer ${token}`, ...(lastId && { 'last-event-id': lastId }) },
    signal: closing.signal,
  })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.ok(response.body)
  const events = readEvents(response.body)
  return {
    /** All events until the stream is up to date. */
    async readAll(): Promise<readonly ServerEvent[]> {
      const read: ServerEvent[] = []
      for (;;) {
        const { value, done } = await events.next()
        if (done || value.name === 'current') return read
        read.push(value)
      }
    },
    close: () => closing.abort(),
  }
}

const toSubjects = (events: readonly ServerEvent[]): readonly string[] =>
  events
    .filter(({ name }) => name === 'revocations')
    .flatMap(({ data }) => JSON.parse(data).map(({ id }: { id: string }) => id))

test('a stream continues after the Last-Event-ID, and an unknown one gets all revocations', async (t) => {
  const server = await openAuthServer(t, { clock: realClock })
  if (!server) return
  const { url, serviceToken } = server
  const client = await connect(t, server)
  const revoke = async (): Promise<string> => {
    const id = randomUUID()
    await client.query("select revoke_tokens('session', $1, null)", [id])
    return id
  }
  const [first, second] = [await revoke(), await revoke()]
  const events = await (await openStream(t, url, serviceToken)).readAll()
  assert.deepEqual(JSON.parse(events[0]?.data ?? ''), { retention_seconds: 3_660 })
  assert.deepEqual(toSubjects(events), [first, second])
  const third = await revoke()
  const continued = await openStream(t, url, serviceToken, events.at(-1)?.lastId)
  assert.deepEqual(toSubjects(await continued.readAll()), [third])
  // As after a restore from a backup: the ID exists, but was given to another row.
  const [id] = (events.at(-1)?.lastId ?? '').split('-')
  const other = await openStream(t, url, serviceToken, `${id}-1`)
  assert.deepEqual(toSubjects(await other.readAll()), [first, second, third])
})

test('only service keys and the role token_verifier may read revocations', async (t) => {
  const server = await openAuthServer(t, { clock: realClock })
  if (!server) return
  const { url } = server
  const signer = createTokenSigner(
    createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
  )
  const reader = signer.sign({ role: 'token_verifier' })
  await (await openStream(t, url, reader)).readAll()
  assert.equal((await send(url, '/admin/users', { token: reader })).status, 403)
  const { token } = await signUp(server)
  assert.equal((await send(url, '/revocations', { token })).status, 403)
  assert.equal((await send(url, '/revocations')).status, 401)
})

test('a revocation is reported although a transaction that began earlier commits later', async (t) => {
  const server = await openAuthServer(t, { clock: realClock })
  if (!server) return
  const slow = await connect(t, server)
  const { judge, untilRevoked } = openRevokingVerifier(t, {
    key: server.serviceToken,
    authUrl: server.url,
  })
  const [ada, ben] = [await signUp(server), await signUp(server)]
  await slow.query('begin')
  await slow.query('update sessions set revoked_at = now() where user_id = $1', [ada.id])
  await send(server.url, '/logout', { method: 'POST', token: ben.token })
  await untilRevoked(ben.token)
  assert.equal(await judge(ada.token), 'accepted')
  await slow.query('commit')
  await untilRevoked(ada.token)
})

test('ending all sessions is one revocation, and sessions that were opened later are kept', async (t) => {
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs, catchUp: () => {} }
  const server = await openAuthServer(t, { clock })
  if (!server) return
  const { url, serviceToken } = server
  const { judge, untilRevoked, verifier } = openRevokingVerifier(t, {
    key: serviceToken,
    authUrl: url,
  })
  const [ada, ben] = [await signUp(server), await signUp(server)]
  const createdBefore = new Date(clock.now()).toISOString()
  clock.aheadMs = 2_000
  const later = await signIn(server, ben.email)
  const path = `/admin/sessions?before=${createdBefore}`
  const { status } = await send(url, path, { method: 'DELETE', token: serviceToken })
  assert.equal(status, 200)
  await untilRevoked(ada.token)
  assert.deepEqual([await judge(ben.token), await judge(later)], ['revoked_token', 'accepted'])
  assert.equal(verifier.revocation?.entries, 1)
})

type Step =
  | { readonly act: 'sign in' | 'ban' | 'delete'; readonly user: number }
  | { readonly act: 'refresh' | 'local' | 'global' | 'others' | 'end'; readonly session: number }

interface Session {
  readonly user: number
  readonly id: string
  readonly tokens: string[]
  refreshToken: string
  isEnded: boolean
}

const place = fc.nat({ max: 20 })
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ act: fc.constantFrom('sign in', 'sign in', 'ban', 'delete'), user: place }),
    fc.record({
      act: fc.constantFrom('refresh', 'local', 'global', 'others', 'end'),
      session: place,
    }),
  ),
  { minLength: 12, maxLength: 16 },
)

test('after any sequence of sign-ins and sign-outs, exactly the tokens of ended sessions are refused', async (t) => {
  const server = await openAuthServer(t, { clock: realClock })
  if (!server) return
  const { url, serviceToken } = server
  const { judge, untilRevoked } = openRevokingVerifier(t, { key: serviceToken, authUrl: url })

  async function run(sequence: readonly Step[]): Promise<void> {
    const users = [await signUp(server as AuthServer), await signUp(server as AuthServer)]
    const gone = new Set<number>()
    const sessions: Session[] = []
    const isOpen = ({ user, isEnded }: Session) => !isEnded && !gone.has(user)
    const add = async (user: number) => {
      const { email = '' } = users[user] ?? {}
      const path = '/token?grant_type=password'
      const { body } = await send(url, path, { body: { email, password } })
      const claims = JSON.parse(
        Buffer.from(String(body.access_token).split('.')[1] ?? '', 'base64url').toString(),
      )
      sessions.push({
        user,
        id: claims.session_id,
        tokens: [body.access_token],
        refreshToken: body.refresh_token,
        isEnded: false,
      })
    }
    const end = (isConcerned: (session: Session) => boolean) => {
      for (const session of sessions) if (isConcerned(session)) session.isEnded = true
    }
    for (const step of sequence) {
      if ('user' in step) {
        const user = step.user % users.length
        if (gone.has(user)) continue
        const path = `/admin/users/${users[user]?.id}`
        if (step.act === 'sign in') await add(user)
        else if (step.act === 'ban')
          await send(url, path, {
            method: 'PUT',
            token: serviceToken,
            body: { ban_duration: '1h' },
          })
        else await send(url, path, { method: 'DELETE', token: serviceToken, body: {} })
        if (step.act !== 'sign in') gone.add(user)
        continue
      }
      const open = sessions.filter(isOpen)
      const session = open[step.session % Math.max(1, open.length)]
      if (session === undefined) continue
      const token = session.tokens.at(-1) ?? ''
      const isOwn = ({ user }: Session) => user === session.user
      if (step.act === 'refresh') {
        const body = { refresh_token: session.refreshToken }
        const answer = await send(url, '/token?grant_type=refresh_token', { body })
        session.tokens.push(answer.body.access_token)
        session.refreshToken = answer.body.refresh_token
      } else if (step.act === 'end') {
        await send(url, `/user/sessions/${session.id}`, { method: 'DELETE', token })
        session.isEnded = true
      } else {
        await send(url, `/logout?scope=${step.act}`, { method: 'POST', token })
        if (step.act === 'local') session.isEnded = true
        if (step.act === 'global') end(isOwn)
        if (step.act === 'others') end((other) => isOwn(other) && other !== session)
      }
    }
    // Revocations arrive in order, so all earlier ones are known when this one is.
    const last = await signUp(server as AuthServer)
    await send(url, '/logout', { method: 'POST', token: last.token })
    await untilRevoked(last.token)
    for (const session of sessions) {
      const expected = isOpen(session) ? 'accepted' : 'revoked_token'
      for (const token of session.tokens) assert.equal(await judge(token), expected)
    }
  }

  await fc.assert(fc.asyncProperty(steps, run), { numRuns: 4 })
})

test('a token that is issued during a ban is refused, and after the ban was lifted tokens are accepted', async (t) => {
  const server = await openAuthServer(t, { clock: realClock })
  if (!server) return
  const { url, serviceToken } = server
  const { judge, untilRevoked } = openRevokingVerifier(t, { key: serviceToken, authUrl: url })
  const ada = await signUp(server)
  const ban = (ban_duration: string) =>
    send(url, `/admin/users/${ada.id}`, {
      method: 'PUT',
      token: serviceToken,
      body: { ban_duration },
    })
  // As after a sign-in that began before the ban, and was slow.
  const signer = createTokenSigner(
    createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
  )
  const iat = Math.floor(Date.now() / 1_000) + 60
  const late = signer.sign({ sub: ada.id, aud: '', iat, exp: iat + 600 })
  assert.equal(await judge(late), 'accepted')
  await ban('24h')
  await untilRevoked(late)
  await ban('none')
  await until(async () => (await judge(late)) === 'accepted')
  assert.equal(await judge(await signIn(server, ada.email)), 'accepted')
})

test('a feed whose database cannot be read gives no sign of life, and readers start again afterwards', async (t) => {
  let isReadable = false
  const feed = openRevocationFeed({
    db: {
      async run() {
        if (!isReadable) throw new Error('no database')
        return []
      },
    } as unknown as Queries,
    log: { warning: () => {} },
    now: () => Date.now(),
    listen: () => ({ isListening: true, async [Symbol.asyncDispose]() {} }),
  })
  t.after(() => feed[Symbol.asyncDispose]())
  const { signal } = new AbortController()
  const read = () => feed.read({ from: undefined, keptMs: 1_000, signal })
  isReadable = true
  const first = read()
  assert.deepEqual((await first.next()).value, [])
  // The second reader causes another query, which fails.
  isReadable = false
  const second = read()
  let hasPage = false
  const next = second.next().then((result) => {
    hasPage = !result.done
    return result
  })
  const ends = first.next()
  isReadable = true
  const [ofFirst, ofSecond] = await Promise.all([ends, next])
  assert.deepEqual([ofFirst.done, ofSecond.done, hasPage], [true, true, false])
})

test('a verifier refuses the tokens of a session that a limit or a newer session has ended', async (t) => {
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs, catchUp: () => {} }
  const server = await openAuthServer(t, {
    clock,
    env: {
      AUTH_SESSIONS_TIMEBOX: '10m',
      AUTH_SESSIONS_INACTIVITY_TIMEOUT: '5m',
      AUTH_SESSIONS_SINGLE_PER_USER: 'true',
    },
  })
  if (!server) return
  const { url, serviceToken } = server
  const { judge, untilRevoked } = openRevokingVerifier(t, { key: serviceToken, authUrl: url })
  const toSeconds = ({ body }: { body: { expires_in: number } }) => body.expires_in
  const open = async (grant: string, body: object) =>
    await send(url, `/token?grant_type=${grant}`, { body })

  const ada = await signUp(server)
  clock.aheadMs = 2_000
  const second = await open('password', { email: ada.email, password })
  await untilRevoked(ada.token)
  // The token ends with the inactivity timeout, and a refresh extends it until the timebox ends.
  assert.ok(toSeconds(second) <= 300 && toSeconds(second) >= 298)
  assert.equal(await judge(second.body.access_token), 'accepted')
  clock.aheadMs += 240_000
  const third = await open('refresh_token', second.body)
  assert.ok(toSeconds(third) <= 300 && toSeconds(third) >= 298)
  clock.aheadMs += 61_000
  // The clock of the verifier is minutes behind that of the auth server.
  await until(async () => (await judge(second.body.access_token)) === 'expired_token')
  clock.aheadMs += 180_000
  const last = await open('refresh_token', third.body)
  assert.ok(toSeconds(last) <= 120 && toSeconds(last) >= 110)
  assert.equal(await judge(last.body.access_token), 'accepted')
})

test('a sign-in revokes the tokens of the session that it replaces, which can be used again when the new one has ended', async (t) => {
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs, catchUp: () => {} }
  const env = { AUTH_SESSIONS_SINGLE_PER_USER: 'true' }
  const server = await openAuthServer(t, { clock, env })
  if (!server) return
  const { url, serviceToken } = server
  const client = await connect(t, server)
  const { judge, untilRevoked } = openRevokingVerifier(t, { key: serviceToken, authUrl: url })
  const { email } = await signUp(server)
  const open = async (grant: string, body: object) => {
    clock.aheadMs += 2_000
    return await send(url, `/token?grant_type=${grant}`, { body })
  }
  const signInAgain = async () => (await open('password', { email, password })).body
  const [first, second] = [await signInAgain(), await signInAgain()]
  await untilRevoked(first.access_token)
  const refused = await open('refresh_token', first)
  assert.equal(refused.body.error_code, 'session_expired')
  assert.equal(await judge(second.access_token), 'accepted')
  await send(url, '/logout?scope=local', { method: 'POST', token: second.access_token })
  const revived = await open('refresh_token', first)
  assert.equal(revived.status, 200)
  await untilRevoked(second.access_token)
  assert.equal(await judge(revived.body.access_token), 'accepted')
  assert.equal(await judge(first.access_token), 'revoked_token')
  // Sessions that were replaced earlier are not reported again.
  const countRows = async () =>
    (await client.query("select count(*)::integer as n from revocations where kind = 'session'"))
      .rows[0].n
  const before = await countRows()
  for (let count = 0; count < 3; count++) await signInAgain()
  assert.equal(await countRows(), before + 3)
})
