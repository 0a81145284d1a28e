// Checks that each mistake in the table of typical mistakes in docs/auth.md gives the message of
// its row.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createVerifier } from '../../src/verify/index.ts'
import { requireToken as forExpress } from '../../src/verify/use/express.ts'
import { requireToken as forFetch } from '../../src/verify/use/fetch.ts'
import { listen } from './listen.ts'

const secret = 'a secret of at least thirty-two bytes'
const authUrl = 'https://auth.example.com'
const claims = { sub: 'ada', aud: 'authenticated', iss: authUrl }
const pair = await generateKeyPair('ES256')
const jwks = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'ours', alg: 'ES256' }] }

const signWithSecret = (changes: object = {}) =>
  new SignJWT({ ...claims, exp: Math.floor(Date.now() / 1_000) + 3_600, ...changes })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(secret))
const signWithKey = (kid: string) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid })
    .setExpirationTime('1h')
    .sign(pair.privateKey)

// The types reject some of these options, but JavaScript does not.
const create = (options: object) => () => createVerifier(options as never)
const verify = (options: object, token: string | Promise<string>) => async () =>
  createVerifier(options as never).verify(await token)

/**
 * Sends a request to an API with an adapter that responds with 503 and passes the reason to `warn`.
 */
const readWarning = (options: object) => async () => {
  let warning = ''
  const warn = (message: string) => {
    warning = message
  }
  const handle = forFetch({ verifier: createVerifier(options), warn }, () => new Response())
  const headers = { authorization: `Bearer ${await signWithKey('ours')}` }
  assert.equal((await handle(new Request(authUrl, { headers }))).status, 503)
  throw new Error(warning)
}

/** By the text in the table. */
const mistakes: { readonly [mistake: string]: (t: TestContext) => unknown } = {
  'The variable with the address or the secret is not set': create({ authUrl: undefined }),
  'The variable with the secret is empty': create({ secret: '' }),
  '`authUrl` and `jwks` together': create({ authUrl, jwks }),
  'A misspelt option': create({ secret, audiences: 'authenticated' }),
  '`authUrl` without `https://`, or with the path of the keys': create({
    authUrl: 'auth.example.com',
  }),
  '`jwks` as text, or only the list of keys': create({ jwks: JSON.stringify(jwks) }),
  "`roles: 'admin'`": create({ secret, roles: 'admin' }),
  "`aal: 'AAL2'`": create({ secret, aal: 'AAL2' }),
  'The auth server is not running, or elsewhere': readWarning({ authUrl: 'http://127.0.0.1:2' }),
  '`authUrl` without the path of the auth server': async (t) =>
    readWarning({
      authUrl: await listen(t, (_request, response) => {
        response.writeHead(404).end()
      }),
    })(),
  '`authUrl` alone, for a server that signs with a secret': verify({ authUrl }, signWithSecret()),
  '`secret` alone, for a server with `AUTH_JWT_KEYS`': verify({ secret }, signWithKey('ours')),
  'The secret was read from a file, with a line break at its end': verify(
    { secret: `${secret}\n` },
    signWithSecret(),
  ),
  'The token is from another auth server': verify({ jwks }, signWithKey('theirs')),
  'The auth server has no `AUTH_JWT_AUD`': verify({ secret }, signWithSecret({ aud: '' })),
  '`issuer` with another path or a slash at its end': verify(
    { secret, issuer: `${authUrl}/` },
    signWithSecret(),
  ),
  '`issuer`, but the auth server has no `AUTH_JWT_ISSUER`': verify(
    { secret, issuer: authUrl },
    signWithSecret({ iss: undefined }),
  ),
  'An old token': verify({ secret }, signWithSecret({ exp: 1_000_000_000 })),
  'The API key (`anon`) instead of the token of a user': verify(
    { secret },
    signWithSecret({ role: 'anon', sub: undefined, aud: undefined }),
  ),
  'The refresh token instead of the access token': verify({ secret }, 'v1.h4sCZIuXRjkBpZkd'),
  'No `Authorization` header': () => createVerifier({ secret }).verifyHeader(undefined),
  'A header without `Bearer`': async () =>
    createVerifier({ secret }).verifyHeader(await signWithSecret()),
  'The header passed to `verify()`': async () =>
    createVerifier({ secret }).verify(`Bearer ${await signWithSecret()}`),
  '`verifyHeader(request.headers)`': () =>
    createVerifier({ secret }).verifyHeader(new Headers() as never),
  '`requireToken(verifier)`': () => forExpress(createVerifier({ secret }) as never),
  '`requireToken` of `…/fetch` in another server': () =>
    forFetch({ verifier: createVerifier({ secret }) }, undefined as never),
}

const page = readFileSync(join(import.meta.dirname, '../../../../docs/auth.md'), 'utf8')
const table = /^#### Typical mistakes$.*?(?=^#)/ms.exec(page)?.[0] ?? ''
const rows = [...table.matchAll(/^\| (.+) \| `(.+)` \|$/gm)]

test('the table of typical mistakes has exactly the mistakes in this file', () => {
  assert.deepEqual(
    rows.map(([, mistake]) => mistake),
    Object.keys(mistakes),
  )
})

for (const [, mistake = '', wanted = ''] of rows) {
  test(`the message matches the table: ${mistake}`, async (t) => {
    const parts = wanted.split('…').map((part) => part.trim().replace(/\W/g, '\\$&'))
    const message = new RegExp(`^${parts.join('.*')}$`, 's')
    await assert.rejects(async () => mistakes[mistake]?.(t), { message })
  })
}

test('an API key is recognized if only key pairs are accepted', async () => {
  const key = await signWithSecret({ role: 'anon', sub: undefined, aud: undefined })
  await assert.rejects(verify({ jwks }, key), {
    message: /^The token is an API key \(role "anon"\)/,
  })
})

test('a failure to fetch keys is reported once, unless reporting is disabled', async (t) => {
  const log = t.mock.method(console, 'warn', () => {})
  const verifier = createVerifier({ authUrl: 'http://127.0.0.1:2' })
  const headers = { authorization: `Bearer ${await signWithKey('ours')}` }
  for (const options of [{ verifier }, { verifier, warn: false as const }]) {
    const handle = forFetch(options, () => new Response())
    for (const _ of [1, 2]) await handle(new Request(authUrl, { headers }))
  }
  assert.equal(log.mock.callCount(), 1)
})
