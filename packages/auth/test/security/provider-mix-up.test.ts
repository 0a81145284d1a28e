/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { newAccount, openExternalServer } from '../support/external-server.ts'
import { send } from '../support/http-client.ts'
import { openOAuthServer } from '../support/oauth-server.ts'
import { keycloak } from '../support/provider-shapes/keycloak.ts'

const callback = 'https://auth.example/callback'

/**
 * A server with an honest custom provider, one of an attacker who has registered it, and one in the configuration.
 * @param isShared whether the custom providers share their callback.
 */
async function openProviders(t: TestContext, isShared: boolean) {
  const server = await openExternalServer(t, ['keycloak'], {
    AUTH_CUSTOM_OAUTH_INTERNAL_HOSTS: '127.0.0.1',
    AUTH_CUSTOM_OAUTH_SHARED_CALLBACK: `${isShared}`,
  })
  if (!server) return undefined
  const open = async (name: string) => {
    const redirectUri = isShared ? callback : `${callback}/custom:${name}`
    const provider = await openOAuthServer(t, keycloak, { redirectUri })
    provider.account = newAccount()
    return { ...provider, provider, identifier: `custom:${name}`, redirectUri }
  }
  const register = async ({ identifier, url, clientId, secret }: Provider, fields: object = {}) => {
    const { status, body } = await send(server.url, '/admin/custom-providers', {
      token: server.serviceToken,
      body: {
        provider_type: 'oidc',
        identifier,
        name: identifier,
        client_id: clientId,
        client_secret: secret,
        scopes: ['profile', 'email'],
        issuer: url,
        ...fields,
      },
    })
    assert.equal(status, 201, JSON.stringify(body))
    return body
  }
  type Provider = Awaited<ReturnType<typeof open>>
  /** Starts at one provider, which sends the browser on to another one. Returns the response of our callback. */
  const mixUp = async (
    from: string,
    to: Pick<Provider, 'url' | 'clientId' | 'agree'>,
    at: string,
  ) => {
    const { url, cookie } = await server.startFlow({ provider: from })
    const forwarded = new URL(`${to.url}/protocol/openid-connect/auth`)
    forwarded.search = url.search
    forwarded.searchParams.set('client_id', to.clientId)
    forwarded.searchParams.set('redirect_uri', at)
    const { url: back } = await to.agree(`${forwarded}`)
    return { back, finish: (url: string) => server.finishFlow({ url }, cookie) }
  }
  return { ...server, open, register, mixUp }
}

function readLocation(answer: { readonly headers: Headers }) {
  const { hash } = new URL(answer.headers.get('location') ?? '')
  return Object.fromEntries(new URLSearchParams(hash.slice(1)))
}

test('mix-up: a provider never gets the code of another provider, because each has its own callback (property 82)', async (t) => {
  const server = await openProviders(t, false)
  if (!server) return
  const [honest, evil] = [await server.open('honest'), await server.open('evil')]
  for (const provider of [honest, evil]) {
    const { callback_url: url } = await server.register(provider)
    assert.equal(url, provider.redirectUri)
  }
  const fixed = server.at('keycloak')
  fixed.account = newAccount()
  const expectRefused = (answer: Awaited<ReturnType<typeof server.finishFlow>>) => {
    const {
      error_code: code,
      error_description: reason,
      access_token: token,
    } = readLocation(answer)
    assert.deepEqual(
      [code, reason, token],
      ['bad_oauth_callback', 'The response came to the callback of another provider', undefined],
    )
  }

  // The honest providers return only to their own callbacks, where the state of another provider is refused.
  const other = await server.mixUp(evil.identifier, honest, honest.redirectUri)
  expectRefused(await other.finish(other.back))
  const configured = await server.mixUp(evil.identifier, fixed, callback)
  expectRefused(await configured.finish(configured.back))
  const reverse = await server.mixUp('keycloak', honest, honest.redirectUri)
  expectRefused(await reverse.finish(reverse.back))
  // A refusal that another provider has returned is not passed on either.
  const denied = await server.mixUp(evil.identifier, honest, honest.redirectUri)
  const { searchParams } = new URL(denied.back)
  const query = new URLSearchParams({
    state: searchParams.get('state') ?? '',
    error: 'access_denied',
  })
  expectRefused(await denied.finish(`${honest.redirectUri}?${query}`))
  // The attacker has received no code.
  assert.deepEqual(evil.refusals, [])

  for (const provider of [honest, evil]) {
    const { url, cookie } = await server.startFlow({ provider: provider.identifier })
    const returned = await server.finishFlow(await provider.agree(`${url}`), cookie)
    assert.ok(readLocation(returned)['access_token'])
  }
  assert.ok(readLocation(await server.signInWith('keycloak', newAccount()))['access_token'])
})

test('mix-up: if custom providers share a callback, a provider that names itself is not confused with another (property 82)', async (t) => {
  const server = await openProviders(t, true)
  if (!server) return
  const [honest, evil] = [await server.open('honest'), await server.open('evil')]
  assert.equal((await server.register(honest)).callback_url, callback)
  await server.register(evil)
  const signIn = async ({ identifier, agree }: typeof honest) => {
    const { url, cookie } = await server.startFlow({ provider: identifier })
    return readLocation(await server.finishFlow(await agree(`${url}`), cookie))
  }
  assert.ok((await signIn(honest))['access_token'], 'the issuer is optional, as with Supabase Auth')
  honest.provider.returns = { iss: honest.url }
  assert.ok((await signIn(honest))['access_token'])
  const named = await server.mixUp(evil.identifier, honest, callback)
  const refused = readLocation(await named.finish(named.back))
  assert.match(refused['error_description'] ?? '', /^Unable to exchange external code/)
  assert.deepEqual(evil.refusals, [], 'the attacker has received no code')
})
