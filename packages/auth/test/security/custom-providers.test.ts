/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { SignJWT, UnsecuredJWT } from 'jose'
import { createAuthClient, dataOf } from '../support/auth-js.ts'
import { newAccount, openExternalServer } from '../support/external-server.ts'
import { errorOf } from '../support/flow-server.ts'
import { type HttpAnswer, type RequestOptions, send } from '../support/http-client.ts'
import { openOAuthServer } from '../support/oauth-server.ts'
import { keycloak } from '../support/provider-shapes/keycloak.ts'

const path = '/admin/custom-providers'
const identifier = 'custom:acme'

/** Opens a server with a provider in the internal network, which is registered through the API. */
async function openCustomServer(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const server = await openExternalServer(t, [], {
    AUTH_CUSTOM_OAUTH_INTERNAL_HOSTS: '127.0.0.1',
    ...env,
  })
  if (!server) return undefined
  const redirectUri = `https://auth.example/callback/${identifier}`
  const provider = await openOAuthServer(t, keycloak, { redirectUri })
  const { clientId, secret, url: issuer } = provider
  const token = server.serviceToken
  const call = (place: string, options: RequestOptions = {}) =>
    send(server.url, `${path}${place}`, { token, ...options })
  const oidc = {
    provider_type: 'oidc',
    identifier,
    name: 'Acme',
    client_id: clientId,
    client_secret: secret,
    scopes: ['profile', 'email'],
    issuer,
  }
  const create = (fields: Readonly<Record<string, unknown>> = {}) =>
    call('', { body: { ...oidc, ...fields } })
  const change = (fields: Readonly<Record<string, unknown>>) =>
    call(`/${identifier}`, { method: 'PUT', body: fields })
  /** Runs the whole flow, and returns the parameters of the redirect to the site. */
  const signIn = async (account = newAccount(), id = identifier) => {
    provider.account = account
    const { answer, url, cookie } = await server.startFlow({ provider: id })
    assert.equal(answer.status, 302, JSON.stringify(answer.body))
    const returned = await server.finishFlow(await provider.agree(`${url}`), cookie)
    const location = new URL(returned.headers.get('location') ?? '')
    return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  }
  const userOf = async ({ access_token: own = '' }: Record<string, string>) =>
    (await send(server.url, '/user', { token: own })).body
  return { ...server, provider, oidc, call, create, change, signIn, userOf }
}

test('custom providers', async (t) => {
  const server = await openCustomServer(t, { AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true' })
  if (!server) return
  const { provider, call, create, change, signIn, userOf } = server

  await t.test('the real client registers, reads, changes and removes them', async () => {
    const headers = { Authorization: `Bearer ${server.serviceToken}` }
    const { customProviders } = createAuthClient(server.url, { headers }).admin
    const created = dataOf(
      await customProviders.createProvider({ ...server.oidc, provider_type: 'oidc' }),
    )
    assert.deepEqual(created.scopes, ['openid', 'profile', 'email'])
    assert.equal(created.discovery_document?.issuer, provider.url)
    assert.deepEqual([created.enabled, created.pkce_enabled], [true, true])
    assert.ok(!JSON.stringify(created).includes(provider.secret))
    assert.deepEqual(dataOf(await customProviders.getProvider(identifier)), created)
    const { providers } = dataOf(await customProviders.listProviders({ type: 'oidc' }))
    assert.deepEqual(providers, [created])
    assert.deepEqual(dataOf(await customProviders.listProviders({ type: 'oauth2' })).providers, [])
    const changed = dataOf(await customProviders.updateProvider(identifier, { name: 'Acme Ltd' }))
    assert.deepEqual([changed.name, changed.client_id], ['Acme Ltd', provider.clientId])
    assert.equal((await customProviders.deleteProvider(identifier)).error, null)
    const gone = await customProviders.getProvider(identifier)
    assert.equal(gone.error?.code, 'custom_provider_not_found')
    const audited = await server.query(
      "select payload->>'action' as action from audit_log_entries where payload->'traits'->>'provider' = $1 order by created_at, id",
      [identifier],
    )
    const actions = ['created', 'updated', 'deleted'].map((verb) => `custom_provider_${verb}`)
    assert.deepEqual(
      audited.map(({ action }) => action),
      actions,
    )
  })

  await t.test('users sign in, and are found again', async () => {
    assert.equal((await create({ custom_claims_allowlist: ['department'] })).status, 201)
    const account = newAccount({ department: 'engines', role: 'admin' })
    const user = await userOf(await signIn(account))
    assert.deepEqual(user.app_metadata, { provider: identifier, providers: [identifier] })
    const { identity_data: data } = user.identities[0]
    assert.deepEqual([data.email, data.email_verified], [account.email, true])
    assert.deepEqual([data.iss, data.custom_claims], [provider.url, { department: 'engines' }])
    assert.equal((await userOf(await signIn(account))).id, user.id)
    assert.deepEqual(provider.refusals, [])
  })

  await t.test('a PKCE flow and an ID token of an app work as with other providers', async () => {
    const verifier = 'v'.repeat(43)
    const code_challenge = createHash('sha256').update(verifier).digest('base64url')
    provider.account = newAccount()
    const { url, cookie } = await server.startFlow({
      provider: identifier,
      code_challenge,
      code_challenge_method: 's256',
    })
    assert.equal(url.searchParams.get('code_challenge_method'), 'S256')
    const back = await server.finishFlow(await provider.agree(`${url}`), cookie)
    const code = new URL(back.headers.get('location') ?? '').searchParams.get('code')
    const grant = { auth_code: code, code_verifier: verifier }
    const first = await server.post('/token?grant_type=pkce', grant)
    assert.equal(first.status, 200, JSON.stringify(first.body))
    await change({ acceptable_client_ids: ['the mobile app'] })
    const id_token = await provider.createIdToken({ ...provider.account, aud: 'the mobile app' })
    const body = { provider: identifier, id_token }
    const second = await server.post('/token?grant_type=id_token', body)
    assert.equal(second.body.user?.id, first.body.user.id, JSON.stringify(second.body))
  })

  await t.test(
    'an address that comes from another claim is not verified (property 81)',
    async () => {
      const { email } = await server.newUser()
      await change({ attribute_mapping: { email: 'upn', full_name: 'preferred_username' } })
      const refused = await signIn(newAccount({ upn: email, preferred_username: 'ada' }))
      assert.equal(refused['access_token'], undefined, 'the address of another user')
      await change({ attribute_mapping: {} })
    },
  )

  await t.test('only ID tokens for this flow are accepted (property 81)', async () => {
    const other = await openOAuthServer(t, provider.shape)
    const { clientId, url: issuer, secret } = provider
    const claims = (nonce: string | null) => ({ ...provider.account, nonce: nonce ?? undefined })
    const standard = { iss: issuer, aud: clientId, exp: Math.floor(Date.now() / 1_000) + 600 }
    const tokens: Readonly<Record<string, (nonce: string | null) => Promise<string> | string>> = {
      'another issuer': (nonce) => provider.createIdToken({ ...claims(nonce), iss: other.url }),
      'another audience': (nonce) => provider.createIdToken({ ...claims(nonce), aud: 'another' }),
      'another key': (nonce) =>
        other.createIdToken({ ...claims(nonce), iss: issuer, aud: clientId }),
      'the nonce of another flow': () => provider.createIdToken(claims('another nonce')),
      'no nonce': () => provider.createIdToken(claims(null)),
      'an expired token': (nonce) => provider.createIdToken({ ...claims(nonce), exp: 1 }),
      'another user than in the user info': (nonce) =>
        provider.createIdToken({ ...claims(nonce), sub: randomUUID() }),
      'no signature': (nonce) => new UnsecuredJWT({ ...standard, ...claims(nonce) }).encode(),
      'a signature with the client secret': (nonce) =>
        new SignJWT({ ...standard, ...claims(nonce) })
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(new TextEncoder().encode(secret)),
      'no token': () => '',
    }
    for (const [what, idToken] of Object.entries(tokens)) {
      provider.idToken = idToken
      const returned = await signIn()
      assert.match(
        returned['error_description'] ?? '',
        /^Error getting user profile from external provider/,
        what,
      )
      assert.equal(returned['access_token'], undefined, what)
    }
    provider.idToken = undefined
    assert.ok((await signIn())['access_token'])
  })

  await t.test('ID tokens of apps are checked as well (property 81)', async () => {
    const signInWith = async (claims: Readonly<Record<string, unknown>>) =>
      server.post('/token?grant_type=id_token', {
        provider: identifier,
        id_token: await provider.createIdToken({ ...newAccount(), ...claims }),
      })
    for (const claims of [{ aud: 'another' }, { iss: 'https://evil.example' }, { nonce: 'x' }]) {
      assert.equal((await signInWith(claims)).status, 400, JSON.stringify(claims))
    }
    assert.equal((await signInWith({})).status, 200)
  })

  await t.test('a code of another issuer is refused (property 81)', async () => {
    provider.returns = { iss: 'https://evil.example' }
    assert.match((await signIn())['error_description'] ?? '', /^Unable to exchange external code/)
    provider.returns = { iss: provider.url }
    assert.ok((await signIn())['access_token'])
    provider.discovery = { authorization_response_iss_parameter_supported: true }
    await change({ issuer: provider.url })
    assert.ok((await signIn())['access_token'])
    provider.returns = {}
    assert.match((await signIn())['error_description'] ?? '', /^Unable to exchange external code/)
    provider.discovery = {}
    await change({ issuer: provider.url })
  })

  await t.test(
    'the discovery document is checked whenever it is fetched (property 81)',
    async () => {
      const messageOf = async (discovery: Readonly<Record<string, unknown>>) => {
        provider.discovery = discovery
        const { status, body } = await create({ identifier: 'custom:other' })
        assert.equal(status, 400)
        return body.msg
      }
      assert.match(
        await messageOf({ issuer: 'https://evil.example' }),
        /is that of another issuer$/,
      )
      assert.match(await messageOf({ jwks_uri: undefined }), /jwks_uri is missing$/)
      assert.match(await messageOf({ token_endpoint: 'http://evil.example' }), /must use https$/)
      await server.query(
        "update custom_providers set discovered_at = discovered_at - interval '61 minutes'",
      )
      provider.discovery = { issuer: 'https://evil.example' }
      const { answer } = await server.startFlow({ provider: identifier })
      assert.equal(answer.status, 500)
      provider.discovery = {}
      assert.ok((await signIn())['access_token'])
    },
  )

  await t.test('no request is sent to internal addresses (property 81)', async () => {
    const requests = provider.keyRequests
    const reasonOf = async (issuer: string) => (await create({ issuer })).body.msg
    for (const issuer of [
      ...['https://localhost', 'https://169.254.169.254', 'https://10.0.0.1', 'https://[::1]'],
      ...['https://[::ffff:127.0.0.1]', 'https://167772161', 'https://0xa.1'],
    ]) {
      const reason = await reasonOf(issuer)
      // The same reason for all, without the address, which would show what a name leads to.
      assert.match(reason, /failed: the document cannot be fetched$/, issuer)
    }
    assert.match(await reasonOf('http://evil.example'), /^issuer must use https$/)
    assert.match(await reasonOf('https://a:b@evil.example'), /must not contain credentials$/)
    assert.match(await reasonOf('file:///etc/passwd'), /must use https$/)
    assert.equal(provider.keyRequests, requests)
  })

  await t.test('the secret is stored encrypted, and nothing shows it (property 81)', async () => {
    const [row] = await server.query('select secret, settings from custom_providers')
    assert.ok(!Buffer.from(row.secret).includes(provider.secret))
    const shown = [
      JSON.stringify(row.settings),
      JSON.stringify((await call('')).body),
      ...server.log,
    ]
    assert.ok(!shown.join('\n').includes(provider.secret))
  })

  await t.test('invalid fields are named', async () => {
    const cases: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
      [{ provider_type: 'saml' }, /^provider_type must be/],
      [{ identifier: 'acme' }, /^identifier must start with 'custom:'/],
      [{ identifier: 'custom:Acme' }, /^identifier must start with 'custom:'/],
      [{ name: '' }, /^name is required$/],
      [{ client_secret: '' }, /^client_secret is required$/],
      [{ issuer: '' }, /^issuer is required/],
      [{ provider_type: 'oauth2' }, /^authorization_url is required/],
      [
        { authorization_params: { State: 'x' } },
        /^Cannot override reserved OAuth parameter: State$/,
      ],
      [{ authorization_params: { prompt: 1 } }, /must be a string$/],
      [{ attribute_mapping: { role: 'groups' } }, /^Cannot map to protected system field: role$/],
      [{ attribute_mapping: { sub: 1 } }, /must be the name of a claim$/],
      [{ custom_claims_allowlist: [' '] }, /non-empty/],
      [{}, /already exists$/],
    ]
    for (const [fields, reason] of cases) {
      const { status, body } = await create(fields)
      assert.equal(status, 400, JSON.stringify(fields))
      assert.match(body.msg, reason)
    }
  })

  await t.test('a disabled or removed provider signs no user in (property 81)', async () => {
    provider.account = newAccount()
    const { url, cookie } = await server.startFlow({ provider: identifier })
    await change({ enabled: false })
    const late = await server.finishFlow(await provider.agree(`${url}`), cookie)
    assert.doesNotMatch(late.headers.get('location') ?? '', /access_token/)
    const messageOf = ({ body }: HttpAnswer) => body.msg
    const start = async () => messageOf((await server.startFlow({ provider: identifier })).answer)
    assert.equal(await start(), 'Unsupported provider: provider is not enabled')
    const request = { provider: identifier, id_token: await provider.createIdToken(newAccount()) }
    const refused = await server.post('/token?grant_type=id_token', request)
    assert.equal(errorOf(refused)[1], 'provider_disabled')
    assert.equal((await call(`/${identifier}`, { method: 'DELETE' })).status, 204)
    assert.match(await start(), /could not be found$/)
    const unknown = await server.post('/token?grant_type=id_token', request)
    assert.match(messageOf(unknown), /^Custom OIDC provider "custom:acme" not allowed$/)
  })

  await t.test('a provider of plain OAuth 2.0 is described by its URLs', async () => {
    const at = (place: string) => `${provider.url}/protocol/openid-connect/${place}`
    const created = await create({
      provider_type: 'oauth2',
      issuer: undefined,
      authorization_url: `${at('auth')}?tenant=acme`,
      token_url: at('token'),
      userinfo_url: at('userinfo'),
      pkce_enabled: false,
    })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const account = newAccount()
    const user = await userOf(await signIn(account))
    assert.equal(user.email, account.email)
    const { url } = await server.startFlow({ provider: 'CUSTOM:acme', scopes: 'groups' })
    assert.equal(url.searchParams.get('tenant'), 'acme')
    assert.equal(url.searchParams.get('scope'), 'profile email groups')
    assert.equal(url.searchParams.get('code_challenge'), null)
  })
})

test('the number of custom providers can be limited, and they can be switched off', async (t) => {
  const server = await openCustomServer(t, { AUTH_CUSTOM_OAUTH_MAX_PROVIDERS: '1' })
  const off = await openExternalServer(t, [], { AUTH_CUSTOM_OAUTH_ENABLED: 'false' })
  if (!server || !off) return
  assert.equal((await server.create()).status, 201)
  const second = await server.create({ identifier: 'custom:second' })
  assert.equal(errorOf(second)[1], 'over_custom_provider_quota')
  assert.equal((await send(server.url, path)).status, 401, 'only for administrators')
  const closed = await send(off.url, path, { token: off.serviceToken })
  assert.deepEqual(errorOf(closed), [
    404,
    'feature_disabled',
    'Custom OAuth providers are disabled',
  ])
  const { answer } = await off.startFlow({ provider: identifier })
  assert.equal(answer.status, 400)
})
