/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as client from 'openid-client'
import {
  type AuthorizationServer,
  callback,
  openAuthorizationServer,
  queryOf,
  type TestClient,
  toExchange,
} from '../../support/authorization-server.ts'
import { createProofKey, type ProofKey } from '../../support/dpop.ts'
import { claimsOf, type SignedInUser } from '../../support/factors.ts'
import { send } from '../../support/http-client.ts'

/** Signs a user in with openid-client, which proves its key in each request. */
async function signIn(
  server: AuthorizationServer,
  { client_id: id, client_secret: secret }: TestClient,
  user: SignedInUser,
) {
  const { url } = server
  const authentication = secret === undefined ? client.None() : client.ClientSecretBasic(secret)
  const execute = [client.allowInsecureRequests]
  const config = await client.discovery(new URL(url), id, {}, authentication, { execute })
  const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair())
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const start = await client.buildAuthorizationUrlWithPAR(
    config,
    {
      redirect_uri: callback,
      scope: 'openid email',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: 'state',
    },
    { DPoP },
  )
  const redirected = await send(url, `${start.pathname}${start.search}`)
  const { authorization_id: request = '' } = queryOf(redirected)
  await server.details(user, request)
  const { body } = await server.decide(user, request, 'approve')
  const location = new URL(body.redirect_url)
  const expected = { pkceCodeVerifier, expectedState: 'state' }
  const tokens = await client.authorizationCodeGrant(config, location, expected, {}, { DPoP })
  return { config, DPoP, tokens, thumbprint: await DPoP.calculateThumbprint() }
}

const kinds = [
  ['a confidential client', {}],
  ['a public client', { token_endpoint_auth_method: 'none' }],
] as const

for (const nonces of ['false', 'true']) {
  test(`DPoP with openid-client; nonces are required: ${nonces}`, async (t) => {
    const server = await openAuthorizationServer(t, { AUTH_OAUTH_SERVER_DPOP_NONCES: nonces })
    if (!server) return
    const user = await server.users.newSignedInUser()
    for (const [kind, fields] of kinds) {
      await t.test(
        `${kind} gets, uses and refreshes tokens that are bound to its key`,
        async () => {
          const registered = await server.newClient({ ...fields, dpop_bound_access_tokens: true })
          const { config, DPoP, tokens, thumbprint } = await signIn(server, registered, user)
          assert.equal(tokens.token_type, 'dpop')
          assert.deepEqual(claimsOf(tokens.access_token).cnf, { jkt: thumbprint })
          const profile = await client.fetchUserInfo(config, tokens.access_token, user.id, { DPoP })
          assert.equal(profile.email, user.email)
          const refreshed = await client.refreshTokenGrant(
            config,
            tokens.refresh_token ?? '',
            {},
            { DPoP },
          )
          assert.deepEqual(claimsOf(refreshed.access_token).cnf, { jkt: thumbprint })
          const api = await server.newClient()
          const introspect = async (token: string | undefined) =>
            (await server.ask(api, '/oauth/introspect', { token: `${token}` })).body
          const { active, token_type: type, cnf } = await introspect(refreshed.access_token)
          assert.deepEqual([active, type, cnf], [true, 'DPoP', { jkt: thumbprint }])
          assert.deepEqual((await introspect(refreshed.refresh_token)).cnf, { jkt: thumbprint })
        },
      )
    }
  })
}

test('DPoP', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { url } = server
  const user = await server.users.newSignedInUser()
  const key = await createProofKey(() => server.clock.now())
  const registered = await server.newClient()

  const askToken = async (
    by: TestClient,
    fields: Readonly<Record<string, string>>,
    with_?: ProofKey,
  ) => {
    const { client_id: id, client_secret: secret } = by
    const basic = Buffer.from(`${id}:${secret}`).toString('base64')
    const proof = await with_?.prove('POST', `${url}/oauth/token`)
    return send(url, '/oauth/token', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${basic}`,
        ...(proof !== undefined && { dpop: proof }),
      },
      body: `${new URLSearchParams(fields)}`,
    })
  }

  await t.test('the metadata names the algorithms, and none is symmetric', async () => {
    const { body } = await send(url, '/.well-known/oauth-authorization-server')
    const algorithms = body.dpop_signing_alg_values_supported
    assert.ok(algorithms.includes('ES256') && algorithms.includes('EdDSA'))
    assert.ok(!algorithms.some((name: string) => /^(HS|none)/i.test(name)))
  })

  await t.test('a client without DPoP gets bearer tokens as before', async () => {
    const tokens = await server.signIn(registered, user)
    assert.deepEqual([tokens.token_type, claimsOf(tokens.access_token).cnf], ['bearer', undefined])
  })

  await t.test('client credentials and token exchange bind their tokens to the key', async () => {
    const exchangeType = 'urn:ietf:params:oauth:grant-type:token-exchange'
    const api = await server.newClient({
      grant_types: ['client_credentials', exchangeType],
      redirect_uris: [],
      scope: 'notes:read',
    })
    const own = await askToken(api, { grant_type: 'client_credentials' }, key)
    const subject = await server.signIn(registered, user, { scope: 'notes:read' })
    const exchange = {
      grant_type: exchangeType,
      subject_token: subject.access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: 'https://search.example/',
    }
    const delegated = await askToken(api, exchange, key)
    for (const { body } of [own, delegated]) {
      assert.deepEqual(
        [body.token_type, claimsOf(body.access_token).cnf],
        ['DPoP', { jkt: key.thumbprint }],
      )
    }
  })

  await t.test('administrators and clients read and change dpop_bound_access_tokens', async () => {
    const path = `/admin/oauth/clients/${registered.client_id}`
    const change = async (dpop_bound_access_tokens: boolean) =>
      (
        await send(url, path, {
          method: 'PUT',
          token: server.serviceToken,
          body: { dpop_bound_access_tokens },
        })
      ).body.dpop_bound_access_tokens
    assert.equal(await change(true), true)
    const { returned, verifier } = await server.approve(registered, user)
    const refused = await askToken(registered, toExchange(returned, verifier))
    assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_dpop_proof'])
    assert.equal(await change(false), undefined)
    assert.equal((await askToken(registered, toExchange(returned, verifier))).status, 200)
  })

  await t.test('a client whose clock is wrong continues with a nonce', async () => {
    const { returned, verifier } = await server.approve(registered, user)
    const exchange = toExchange(returned, verifier)
    const late = {
      ...key,
      prove: (...input: Parameters<ProofKey['prove']>) => key.prove(input[0], input[1], { iat: 1 }),
    }
    const first = await askToken(registered, exchange, late)
    assert.deepEqual([first.status, first.body.error], [400, 'use_dpop_nonce'])
    const nonce = first.headers.get('dpop-nonce') ?? ''
    const withNonce = {
      ...key,
      prove: (...input: Parameters<ProofKey['prove']>) =>
        key.prove(input[0], input[1], { iat: 1, nonce }),
    }
    server.clock.aheadMs += 300_000
    assert.equal((await askToken(registered, exchange, withNonce)).body.error, 'invalid_grant')
    const again = await server.approve(registered, user)
    const next = toExchange(again.returned, again.verifier)
    assert.equal((await askToken(registered, next, withNonce)).body.token_type, 'DPoP')
    server.clock.aheadMs += 300_001
    assert.equal((await askToken(registered, next, withNonce)).body.error, 'use_dpop_nonce')
  })

  await t.test('pages of other origins can send proofs and read nonces', async () => {
    const answer = await send(url, '/oauth/token', {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example' },
    })
    assert.match(answer.headers.get('access-control-allow-headers') ?? '', /\bDPoP\b/)
    assert.match(answer.headers.get('access-control-expose-headers') ?? '', /\bDPoP-Nonce\b/)
  })
})
