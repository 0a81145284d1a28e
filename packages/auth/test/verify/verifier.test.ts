import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import {
  AuthUnavailableError,
  createVerifier,
  TokenError,
  type TokenErrorCode,
  toRefusal,
  type VerifierOptions,
} from '../../src/verify/index.ts'
import { listen } from './listen.ts'

const secret = 'a secret of at least thirty-two bytes'
const nowMs = Date.parse('2026-05-05T12:00:00Z')
const nowSeconds = nowMs / 1_000
const now = () => nowMs

const claims = {
  sub: '7d1f6c1e-0000-4000-8000-000000000001',
  aud: 'authenticated',
  role: 'authenticated',
  email: 'ada@example.com',
  aal: 'aal1',
  iss: 'https://auth.example.com',
  exp: nowSeconds + 60,
}

function sign(changes: Record<string, unknown> = {}, key = secret): Promise<string> {
  const token = new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'HS256' })
  return token.sign(new TextEncoder().encode(key))
}

const refuses = (run: Promise<unknown>, code: TokenErrorCode) =>
  assert.rejects(run, (error: unknown) => {
    assert.ok(error instanceof TokenError, String(error))
    assert.equal(error.code, code)
    return true
  })

test('a token signed with the secret is accepted with its claims', async () => {
  const verifier = createVerifier<{ readonly plan?: string }>({ secret, now })
  const verified = await verifier.verify(await sign({ plan: 'gold' }))
  assert.deepEqual(
    [verified.sub, verified.email, verified.plan],
    [claims.sub, claims.email, 'gold'],
  )
  const byHeader = await verifier.verifyHeader(`bearer  ${await sign()}`)
  assert.equal(byHeader.sub, claims.sub)
})

test('every reason to refuse a token has a code', async (t) => {
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await sign()).split('.')[1]}.`
  const { privateKey } = await generateKeyPair('ES256')
  const withOtherAlgorithm = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: 'any' })
    .sign(privateKey)
  const cases: readonly (readonly [TokenErrorCode, string, VerifierOptions?])[] = [
    ['expired_token', await sign({ exp: nowSeconds - 6 })],
    ['token_not_yet_valid', await sign({ nbf: nowSeconds + 60 })],
    ['bad_signature', await sign({}, 'another secret of thirty-two bytes')],
    ['wrong_audience', await sign({ aud: 'others' })],
    ['wrong_audience', await sign(), { audience: ['admins', 'staff'] }],
    ['wrong_audience', await sign(), { audience: '' }],
    ['wrong_audience', await sign({ aud: '' })],
    ['wrong_issuer', await sign(), { issuer: 'https://other.example.com' }],
    ['missing_claim', await sign({ sub: undefined })],
    ['missing_claim', await sign({ exp: undefined })],
    ['missing_claim', await sign({ aud: undefined })],
    ['wrong_role', await sign(), { roles: ['service_role', 'admin'] }],
    ['wrong_role', await sign({ role: undefined }), { roles: ['authenticated'] }],
    ['second_factor_required', await sign(), { aal: 'aal2' }],
    ['wrong_algorithm', unsigned],
    ['wrong_algorithm', withOtherAlgorithm],
    ['malformed_token', 'not-a-token'],
    ['malformed_token', ''],
  ]
  for (const [index, [code, token, options]] of cases.entries()) {
    await t.test(`${code}, case ${index + 1}`, () =>
      refuses(createVerifier({ secret, now, ...options }).verify(token), code),
    )
  }
})

test('headers without a bearer token are refused', async () => {
  const verifier = createVerifier({ secret, now })
  for (const missing of [undefined, null, '']) {
    await refuses(verifier.verifyHeader(missing), 'missing_token')
  }
  for (const malformed of ['Bearer', 'Bearer ', 'Basic YTpi', `Bearer ${await sign()} x`]) {
    await refuses(verifier.verifyHeader(malformed), 'malformed_token')
  }
})

test('a server without an audience issues tokens with an empty one', async () => {
  const verifier = createVerifier({ secret, now, audience: '' })
  assert.equal((await verifier.verify(await sign({ aud: '' }))).sub, claims.sub)
})

test('ID tokens and cookies of the auth server are not access tokens', async () => {
  const verifier = createVerifier({ secret, now, audience: '' })
  for (const token_use of ['id', 'browser']) {
    await refuses(verifier.verify(await sign({ aud: '', token_use })), 'wrong_audience')
  }
})

test('clocks may differ by a few seconds', async () => {
  const late = await sign({ exp: nowSeconds - 4 })
  assert.equal((await createVerifier({ secret, now }).verify(late)).sub, claims.sub)
  const strict = createVerifier({ secret, now, clockToleranceSeconds: 0 })
  await refuses(strict.verify(late), 'expired_token')
})

test('invalid options are refused with instructions', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{}, /"authUrl", "secret" or "jwks"/],
    [{ secret: undefined, authUrl: undefined }, /"authUrl", "secret" or "jwks"/],
    [{ secret: '' }, /AUTH_JWT_SECRET/],
    [{ authUrl: 'auth.example.com' }, /https:\/\/auth\.example\.com/],
    [{ authUrl: 'https://auth.example.com', jwks: { keys: [] } }, /not from both/],
    [{ secret, audiences: 'x' }, /no option "audiences"\. Did you mean audience\?/],
    [{ secret, xyzzyxyzzy: 'x' }, /Options: authUrl, secret, jwks, audience/],
    [{ secret: null }, /AUTH_JWT_SECRET/],
    [{ authUrl: 'https://auth.example.com/.well-known/jwks.json' }, /address of the auth server/],
    [{ jwks: [] }, /"jwks" must be an object \{ keys/],
    [{ secret, roles: 'admin' }, /"roles" must be a list/],
    [{ secret, aal: 'AAL2' }, /"aal" must be "aal1" or "aal2"/],
    [{ secret, audience: 5 }, /"audience" must be a string or a list/],
    [{ secret, issuer: /x/ }, /"issuer" must be a string/],
    [{ secret, clockToleranceSeconds: Number.NaN }, /"clockToleranceSeconds" must be a number/],
    [{ secret, clockToleranceSeconds: -1 }, /"clockToleranceSeconds" must be a number/],
    [{ secret, now: 5 }, /"now" must be a function/],
  ]
  for (const [options, message] of wrong) {
    assert.throws(() => createVerifier(options), { name: 'TypeError', message })
  }
})

interface KeyServer {
  readonly url: string
  keys: unknown[]
  status: number
  fetches: number
}

async function openKeyServer(t: TestContext): Promise<KeyServer> {
  const keyServer = { url: '', keys: [], status: 200, fetches: 0 }
  const url = await listen(t, (request, response) => {
    keyServer.fetches += 1
    const isFound = request.url === '/auth/v1/.well-known/jwks.json'
    response.writeHead(isFound ? keyServer.status : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ keys: keyServer.keys }))
  })
  return Object.assign(keyServer, { url: `${url}/auth/v1` })
}

async function makeKey(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }
  const signWith = () =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey)
  return { jwk, sign: signWith }
}

test('public keys are fetched once, again for a new key id, but not for made-up ones', async (t) => {
  const server = await openKeyServer(t)
  const [first, second, third] = [await makeKey('1'), await makeKey('2'), await makeKey('3')]
  server.keys = [first.jwk]
  let aheadMs = 0
  const verifier = createVerifier({ authUrl: server.url, now: () => nowMs + aheadMs })
  const tokens = await Promise.all(Array.from({ length: 20 }, () => first.sign()))
  await Promise.all(tokens.map((token) => verifier.verify(token)))
  assert.equal(server.fetches, 1)

  for (let times = 0; times < 20; times++) {
    await refuses(verifier.verify(await third.sign()), 'unknown_key')
  }
  assert.equal(server.fetches, 1)

  server.keys = [second.jwk]
  aheadMs = 31_000
  assert.equal((await verifier.verify(await second.sign())).sub, claims.sub)
  assert.equal(server.fetches, 2)
  await refuses(verifier.verify(await first.sign()), 'unknown_key')
  await refuses(verifier.verify(await sign()), 'wrong_algorithm')
  await assert.rejects(verifier.verify(await sign()), { message: /signed with a secret/ })
})

test('fetched keys are used for up to a day while the auth server is down', async (t) => {
  const server = await openKeyServer(t)
  const key = await makeKey('1')
  server.keys = [key.jwk]
  let aheadMs = 0
  const verifier = createVerifier({
    authUrl: server.url,
    now: () => nowMs + aheadMs,
    clockToleranceSeconds: 10 * 86_400,
  })
  const token = await key.sign()
  await verifier.verify(token)
  server.status = 502
  aheadMs = 3_600_000
  assert.equal((await verifier.verify(token)).sub, claims.sub)
  assert.equal(server.fetches, 2)
  // While the auth server is known to be down, no further request is sent.
  await verifier.verify(token)
  assert.equal(server.fetches, 2)
  aheadMs = 25 * 3_600_000
  await assert.rejects(verifier.verify(token), AuthUnavailableError)
  server.status = 200
  aheadMs += 1_000
  assert.equal((await verifier.verify(token)).sub, claims.sub)
})

test('an auth server without keys or that is down is not reported as an invalid token', async (t) => {
  const server = await openKeyServer(t)
  const { sign: signWith } = await makeKey('1')
  const token = await signWith()
  const verify = () => createVerifier({ authUrl: server.url, now }).verify(token)
  await assert.rejects(verify(), { name: 'AuthUnavailableError', message: /AUTH_JWT_SECRET/ })
  server.status = 500
  await assert.rejects(verify(), { name: 'AuthUnavailableError', message: /status 500/ })
  const down = createVerifier({ authUrl: 'http://127.0.0.1:1', now })
  await assert.rejects(down.verify(token), AuthUnavailableError)
})

test('tokens signed with the secret and with keys are both accepted during a migration', async () => {
  const key = await makeKey('1')
  const verifier = createVerifier({ secret, jwks: { keys: [key.jwk] }, now })
  assert.equal((await verifier.verify(await sign())).sub, claims.sub)
  assert.equal((await verifier.verify(await key.sign())).sub, claims.sub)
  // Public keys are known to everyone, so a signature made with one as a secret proves nothing.
  const forged = await sign({}, JSON.stringify(key.jwk))
  await refuses(verifier.verify(forged), 'bad_signature')
  await refuses(
    createVerifier({ jwks: { keys: [key.jwk] }, now }).verify(forged),
    'wrong_algorithm',
  )
})

test('errors become responses according to RFC 6750', () => {
  const statusOf = (error: unknown) => {
    const refusal = toRefusal(error)
    return refusal && [refusal.status, refusal.headers['www-authenticate']]
  }
  assert.deepEqual(statusOf(new TokenError('missing_token', '')), [401, 'Bearer'])
  assert.deepEqual(statusOf(new TokenError('expired_token', '')), [
    401,
    'Bearer error="invalid_token"',
  ])
  assert.deepEqual(statusOf(new TokenError('wrong_role', '')), [
    403,
    'Bearer error="insufficient_scope"',
  ])
  assert.deepEqual(statusOf(new AuthUnavailableError('')), [503, undefined])
  assert.equal(statusOf(new Error('something else')), undefined)
})
