/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { AuthUnavailableError } from '../../src/verify/index.ts'
import { readEvents } from '../../src/verify/revocations/event-stream.ts'
import { openKeyServer } from '../support/api-keys.ts'
import { jwtSecret } from '../support/auth-server.ts'
import { send } from '../support/http-client.ts'
import { openRevokingVerifier } from '../support/revocations.ts'
import { listen } from '../verify/listen.ts'

test('revocations: an API refuses tokens of ended sessions, banned and deleted users, and revoked keys, and no others (property 130)', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { url, serviceToken, asAdmin } = server
  const { judge, untilRevoked } = openRevokingVerifier(t, { key: serviceToken, authUrl: url })
  const [signedOut, banned, deleted, kept] = await Promise.all([1, 2, 3, 4].map(server.signUp))
  assert.ok(signedOut && banned && deleted && kept)
  const openKey = async () => {
    const fields = { user_id: kept.id, name: 'a' }
    const { id, api_key: text } = (await asAdmin('POST', '/admin/api-keys', fields)).body
    return { id, token: (await server.exchange(text)).body.access_token }
  }
  const [revoked, other] = [await openKey(), await openKey()]
  const all = [signedOut, banned, deleted, kept, revoked, other]
  for (const { token } of all) assert.equal(await judge(token), 'accepted')
  await send(url, '/logout', { method: 'POST', token: signedOut.token })
  await asAdmin('PUT', `/admin/users/${banned.id}`, { ban_duration: '1h' })
  await asAdmin('DELETE', `/admin/users/${deleted.id}`)
  await asAdmin('DELETE', `/admin/api-keys/${revoked.id}`)
  for (const { token } of [signedOut, banned, deleted, revoked]) await untilRevoked(token)
  for (const { token } of [kept, other]) assert.equal(await judge(token), 'accepted')
})

test('revocations: only service keys and verifiers read the feed, which contains no personal data (property 131)', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { url, asAdmin } = server
  const signer = createTokenSigner(
    createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
  )
  const [ada, ben] = [await server.signUp(), await server.signUp()]
  const fields = { user_id: ben.id, name: 'a' }
  const { api_key: text } = (await asAdmin('POST', '/admin/api-keys', fields)).body
  const keyToken = (await server.exchange(text)).body.access_token
  const forged = signer.sign({ sub: ben.id, user_metadata: { role: 'token_verifier' } })
  for (const token of [ada.token, keyToken, text, forged]) {
    assert.equal((await send(url, '/revocations', { token })).status, 403)
  }
  assert.equal((await send(url, '/revocations')).status, 401)
  // The key of a verifier gives access to nothing else.
  const reader = signer.sign({ role: 'token_verifier' })
  for (const path of ['/admin/users', '/admin/api-keys', '/admin/audit', '/admin/settings']) {
    assert.equal((await send(url, path, { token: reader })).status, 403, path)
  }

  await send(url, '/logout', { method: 'POST', token: ada.token })
  await asAdmin('DELETE', `/admin/users/${ben.id}`)
  const closing = new AbortController()
  t.after(() => closing.abort())
  const response = await fetch(`${url}/revocations`, {
    headers: { authorization: `Bearer ${reader}` },
    signal: closing.signal,
  })
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.ok(response.body)
  const seen: object[] = []
  for await (const { name, data } of readEvents(response.body)) {
    if (name === 'revocations') seen.push(...JSON.parse(data))
    if (name === 'current') break
  }
  assert.ok(seen.length >= 2)
  for (const entry of seen) {
    for (const [name, value] of Object.entries(entry)) {
      const pattern = {
        kind: /^(session|user|key|everyone)$/,
        id: /^[\da-f-]{36}$/,
        until: /^\d+$/,
      }
      assert.match(`${value}`, pattern[name as keyof typeof pattern] ?? assert.fail(name))
    }
  }
})

test('revocations: without the feed no token is accepted, unless the operator chooses so (property 132)', async (t) => {
  const signer = createTokenSigner(
    createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
  )
  const iat = Math.floor(Date.now() / 1_000)
  const token = signer.sign({ sub: 'ada', aud: '', iat, exp: iat + 600, session_id: 's' })
  const authUrl = await listen(t, (_request, response) => void response.writeHead(503).end())
  const closed = openRevokingVerifier(t, { key: 'k', authUrl })
  await assert.rejects(closed.judge(token), AuthUnavailableError)
  const open = openRevokingVerifier(t, { key: 'k', authUrl, ifUnavailable: 'allow' })
  assert.equal(await open.judge(token), 'accepted')
  const expired = signer.sign({ sub: 'ada', aud: '', iat, exp: iat - 60, session_id: 's' })
  assert.equal(await open.judge(expired), 'expired_token')
})
