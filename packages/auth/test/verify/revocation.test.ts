import assert from 'node:assert/strict'
import type { RequestListener, ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { SignJWT } from 'jose'
import {
  AuthUnavailableError,
  createVerifier,
  type RevocationOptions,
  type VerifierOptions,
} from '../../src/verify/index.ts'
import { RevocationList } from '../../src/verify/revocations/revocation-list.ts'
import { jwtSecret as secret } from '../support/auth-server.ts'
import { until } from '../support/outbox.ts'
import { openRevokingVerifier } from '../support/revocations.ts'
import { listen } from './listen.ts'

const nowSeconds = Math.floor(Date.now() / 1_000)

function sign(claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return new SignJWT({
    sub: 'ada',
    aud: '',
    session_id: 's1',
    iat: nowSeconds,
    exp: nowSeconds + 3_600,
    ...claims,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(secret))
}

const settings = 'event: settings\ndata: {"retention_seconds":3660}\n\n'
const current = 'event: current\ndata: {}\n\n'
const toRevocations = (id: string, ...entries: readonly object[]) =>
  `id: ${id}\nevent: revocations\ndata: ${JSON.stringify(entries)}\n\n`

/** A stand-in whose responses the test writes. */
async function openFeed(t: TestContext, answer?: RequestListener) {
  const streams: ServerResponse[] = []
  const lastIds: (string | undefined)[] = []
  const url = await listen(t, (request, response) => {
    lastIds.push(request.headers['last-event-id'] as string | undefined)
    if (answer) return answer(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(settings + current)
    streams.push(response)
  })
  return { url, lastIds, latest: () => streams.at(-1) as ServerResponse }
}

test('a token is refused as soon as its revocation arrives, in pieces of any size', async (t) => {
  const feed = await openFeed(t)
  const { judge, untilRevoked, verifier } = openRevokingVerifier(t, { key: 'k', authUrl: feed.url })
  const token = await sign()
  assert.equal(await judge(token), 'accepted')
  const text = toRevocations('1-1', { kind: 'session', id: 'S1' }) + current
  for (const piece of text.match(/[^]{1,7}/g) ?? []) feed.latest().write(piece)
  await untilRevoked(token)
  assert.equal(await judge(await sign({ session_id: 's2' })), 'accepted')
  const { entries, refused, isCurrent } = verifier.revocation ?? {}
  assert.deepEqual({ entries, isCurrent }, { entries: 1, isCurrent: true })
  assert.ok(refused)
})

test('after an interruption the verifier continues where it was', async (t) => {
  const feed = await openFeed(t)
  const { judge, verifier } = openRevokingVerifier(t, { key: 'k', authUrl: feed.url })
  await judge(await sign())
  feed.latest().write(toRevocations('7-9', { kind: 'session', id: 's9' }))
  await until(() => verifier.revocation?.entries === 1)
  feed.latest().end()
  await until(() => feed.lastIds.length === 2)
  assert.deepEqual(feed.lastIds, [undefined, '7-9'])
})

test('while the feed is unavailable tokens are refused with 503, or allowed by choice', async (t) => {
  const failures: readonly (readonly [RequestListener, RegExp])[] = [
    [(_request, response) => void response.writeHead(403).end(), /refused the key with status 403/],
    [
      (_request, response) => void response.writeHead(404).end(),
      /lack the path of the auth server/,
    ],
    [(_request, response) => void response.writeHead(200).end('{}'), /did not respond with events/],
    [
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`event: settings\ndata: {}\n\n${current}`)
      },
      /invalid retention/,
    ],
    [(request) => void request.destroy(), /socket|closed|reset/],
  ]
  for (const [answer, reason] of failures) {
    const { url } = await openFeed(t, answer)
    const messages: string[] = []
    const open = (ifUnavailable?: RevocationOptions['ifUnavailable']) =>
      openRevokingVerifier(t, {
        key: 'k',
        authUrl: url,
        ifUnavailable,
        warn: (message) => messages.push(message),
      })
    await assert.rejects(open().judge(await sign()), (error) => {
      assert.ok(error instanceof AuthUnavailableError)
      assert.match(error.message, reason)
      return true
    })
    const { judge } = open('allow')
    assert.deepEqual(
      [await judge(await sign()), await judge(await sign())],
      ['accepted', 'accepted'],
    )
    // Each verifier reports an outage once.
    assert.equal(messages.length, 2)
  }
})

test('a silent connection is closed, and its revocations count until the silence is too long', async (t) => {
  const feed = await openFeed(t)
  const { judge, verifier } = openRevokingVerifier(t, {
    key: 'k',
    authUrl: feed.url,
    maxSilenceSeconds: 1.1,
  })
  await judge(await sign())
  await until(() => feed.lastIds.length > 1)
  assert.ok((verifier.revocation?.connections ?? 0) > 1)
})

test('a token expires by the clock of the auth server, without tolerance', async (t) => {
  const exp = nowSeconds + 600
  const feed = await openFeed(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`${settings}event: current\ndata: {"time":${exp}}\n\n`)
  })
  const { judge } = openRevokingVerifier(t, { key: 'k', authUrl: feed.url })
  assert.equal(await judge(await sign({ exp })), 'expired_token')
  assert.equal(await judge(await sign({ exp: exp + 60 })), 'accepted')
})

test('a token of unknown age, or older than the remembered revocations, is refused', async (t) => {
  const feed = await openFeed(t)
  const { judge } = openRevokingVerifier(t, { key: 'k', authUrl: feed.url })
  assert.equal(await judge(await sign({ iat: nowSeconds - 3_000 })), 'accepted')
  assert.equal(await judge(await sign({ iat: nowSeconds - 3_700 })), 'expired_token')
  assert.equal(await judge(await sign({ iat: undefined })), 'missing_claim')
})

test('an entry is removed when its tokens have expired', () => {
  const list = new RevocationList()
  list.keptMs = 1_000
  list.add([{ kind: 'session', id: 'a' }], 0)
  list.add([{ kind: 'session', id: 'b' }], 500)
  list.add([], 999)
  assert.equal(list.size, 2)
  list.add([], 1_000)
  assert.deepEqual(
    [list.isRevoked({ session_id: 'a' }), list.isRevoked({ session_id: 'b' })],
    [false, true],
  )
  // Tokens that are issued after a ban has been lifted are accepted.
  list.add([{ kind: 'user', id: 'ada', until: 100 }], 1_000)
  assert.deepEqual(
    [100, 101].map((iat) => list.isRevoked({ sub: 'ada', iat })),
    [true, false],
  )
  list.add([{ kind: 'user', id: 'ada', until: 300 }], 1_000)
  list.add([{ kind: 'user', id: 'ada', until: 200 }], 1_000)
  assert.deepEqual(
    [200, 201].map((iat) => list.isRevoked({ sub: 'ada', iat })),
    [true, false],
  )
  list.add([{ kind: 'everyone', until: 200 }], 1_000)
  const amr = [{ timestamp: 300 }, { timestamp: 201 }]
  assert.deepEqual([list.isRevoked({ iat: 200 }), list.isRevoked({ iat: 400, amr })], [true, false])
})

test('wrong options are reported', () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ key: undefined }, /"revocation" must be an object with the key/],
    [{ key: 'k' }, /needs the address of the auth server/],
    [{ key: 'k', authUrl: 'http://a', ifUnavailable: 'open' }, /must be "refuse" or "allow"/],
    [{ key: 'k', authUrl: 'http://a', maxSilenceSeconds: 0.5 }, /must be more than 1/],
    [{ key: 'k', authUrl: 'http://a', keys: '' }, /no option "keys"/],
  ]
  for (const [revocation, message] of cases) {
    const options = { secret, revocation } as VerifierOptions
    assert.throws(() => createVerifier(options), message)
  }
})
