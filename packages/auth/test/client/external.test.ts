/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  type ClientServer,
  dataOf,
  errorOf,
  openClientServer,
  watchEvents,
} from '../support/auth-js.ts'
import { newAccount } from '../support/external-server.ts'
import { type OAuthServer, openOAuthServer } from '../support/oauth-server.ts'
import { keycloak as shape } from '../support/provider-shapes/keycloak.ts'

const env = { AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true' } as const

/** Opens a URL of the server or the provider like a browser, and returns the final URL. */
async function browse(url: string, { url: base }: ClientServer, provider: OAuthServer) {
  const go = (address: string, cookie: string) =>
    fetch(address, { redirect: 'manual', headers: { cookie } })
  const isOurs = url.startsWith(base)
  const first = isOurs ? await go(url, '') : undefined
  const [cookie = ''] = (first?.headers.get('set-cookie') ?? '').split(';')
  const { url: back } = await provider.agree(first?.headers.get('location') ?? url)
  const { pathname, search } = new URL(back)
  const last = await go(`${base}${pathname}${search}`, cookie)
  const location = new URL(last.headers.get('location') ?? 'none:')
  return {
    query: Object.fromEntries(location.searchParams),
    fragment: Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  }
}

test('signing in through a provider with the real client', async (t) => {
  const provider = await openOAuthServer(t, shape)
  const server = await openClientServer(t, {
    ...env,
    ...provider.env,
    AUTH_API_EXTERNAL_URL: 'https://auth.example',
  })
  if (!server) return

  await t.test('signInWithOAuth and exchangeCodeForSession', async () => {
    const account = newAccount()
    provider.account = account
    const client = server.createClient({ flowType: 'pkce' })
    const events = await watchEvents(client)
    const { url } = dataOf(
      await client.signInWithOAuth({
        provider: 'keycloak',
        options: {
          redirectTo: 'https://site.example/in',
          scopes: 'offline_access',
          queryParams: { prompt: 'login' },
          skipBrowserRedirect: true,
        },
      }),
    )
    const { query } = await browse(url ?? '', server, provider)
    const { session, user } = dataOf(await client.exchangeCodeForSession(query['code'] ?? ''))
    assert.equal(user.email, account.email)
    assert.match(session.provider_token ?? '', /^access /)
    assert.match(session.provider_refresh_token ?? '', /^refresh /)
    assert.deepEqual(events, ['INITIAL_SESSION', 'SIGNED_IN'])
    assert.equal(dataOf(await client.getUser()).user.id, user.id)
  })

  await t.test('signInWithOAuth with tokens in the fragment', async () => {
    const account = newAccount()
    provider.account = account
    const client = server.createClient({ flowType: 'implicit' })
    const { url } = dataOf(await client.signInWithOAuth({ provider: 'keycloak' }))
    const { fragment } = await browse(url ?? '', server, provider)
    const { access_token = '', refresh_token = '' } = fragment
    const { user } = dataOf(await client.setSession({ access_token, refresh_token }))
    assert.equal(user?.email, account.email)
    assert.equal(dataOf(await client.refreshSession()).user?.id, user?.id)
  })

  await t.test('signInWithIdToken, with a nonce', async () => {
    const account = newAccount()
    const nonce = createHash('sha256').update('mine').digest('hex')
    const token = await provider.createIdToken({ ...account, nonce })
    const client = server.createClient()
    const signIn = (mine: string) =>
      client.signInWithIdToken({ provider: 'keycloak', token, nonce: mine })
    const { user } = dataOf(await signIn('mine'))
    assert.equal(user.email, account.email)
    assert.equal(errorOf(await signIn('another'))[2], 'Nonces mismatch')
  })

  await t.test('linkIdentity, getUserIdentities and unlinkIdentity', async () => {
    provider.account = newAccount()
    const { email } = await server.newUser()
    const client = await server.signIn(email, { flowType: 'pkce' })
    const { url } = dataOf(await client.linkIdentity({ provider: 'keycloak' }))
    const { query } = await browse(url ?? '', server, provider)
    dataOf(await client.exchangeCodeForSession(query['code'] ?? ''))
    const { identities } = dataOf(await client.getUserIdentities())
    assert.deepEqual(
      identities.map((identity) => identity.provider),
      ['email', 'keycloak'],
    )
    const [, linked] = identities
    assert.ok(linked)
    dataOf(await client.unlinkIdentity(linked))
    const [left, ...others] = dataOf(await client.getUserIdentities()).identities
    assert.deepEqual(others, [])
    assert.ok(left)
    assert.deepEqual(errorOf(await client.unlinkIdentity(left)).slice(0, 2), [
      'single_identity_not_deletable',
      422,
    ])
  })

  await t.test('linkIdentity with an ID token', async () => {
    const { id, email } = await server.newUser()
    const client = await server.signIn(email)
    const token = await provider.createIdToken({ ...newAccount() })
    const { user } = dataOf(await client.linkIdentity({ provider: 'keycloak', token }))
    assert.equal(user?.id, id)
    assert.deepEqual(user?.app_metadata['providers'], ['email', 'keycloak'])
  })

  await t.test('errors have the message of the server', async () => {
    const { email } = await server.newUser()
    const client = await server.signIn(email)
    const unknown = { provider: 'custom:ours' } as const
    assert.deepEqual(errorOf(await client.linkIdentity(unknown)), [
      'validation_failed',
      400,
      'Unsupported provider: Provider custom:ours could not be found',
    ])
    const wrong = await client.signInWithIdToken({ provider: 'keycloak', token: 'x' })
    assert.equal(errorOf(wrong)[2], 'Bad ID token')
  })
})
