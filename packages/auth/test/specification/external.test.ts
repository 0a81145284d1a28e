/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAccount, openExternalServer } from '../support/external-server.ts'
import { fragmentOf } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'

test('external sign-in in the specification', async (t) => {
  const server = await openExternalServer(t, ['keycloak'])
  if (!server) return

  await t.test(
    'What the service does › signs users in through external OAuth 2.0 providers',
    async () => {
      const account = newAccount()
      const fragment = fragmentOf(await server.signInWith('keycloak', account))
      const { body } = await send(server.url, '/user', { token: fragment['access_token'] ?? '' })
      assert.equal(body.email, account.email)
    },
  )

  await t.test(
    'Token response › `provider_token`: only in the /callback redirect, when extra scopes were requested',
    async () => {
      const without = fragmentOf(await server.signInWith('keycloak', newAccount()))
      assert.equal(without['provider_token'], undefined)
      const scopes = { scopes: 'offline_access' }
      const fragment = fragmentOf(await server.signInWith('keycloak', newAccount(), scopes))
      assert.match(fragment['provider_token'] ?? '', /^access /)
      const { refresh_token } = fragment
      const { body } = await server.post('/token?grant_type=refresh_token', { refresh_token })
      assert.deepEqual([typeof body.access_token, body.provider_token], ['string', undefined])
    },
  )

  await t.test('Token response › `provider`: only in the /callback redirect', async () => {
    const { provider, refresh_token } = fragmentOf(
      await server.signInWith('keycloak', newAccount()),
    )
    assert.equal(provider, 'keycloak')
    const { body } = await server.post('/token?grant_type=refresh_token', { refresh_token })
    assert.deepEqual([typeof body.access_token, body.provider], ['string', undefined])
  })

  await t.test(
    'Endpoints › GET /authorize: query `provider`, `scopes`; redirect to the provider, then to /callback',
    async () => {
      const { answer, url } = await server.startFlow({ provider: 'keycloak', scopes: 'phone' })
      assert.equal(answer.status, 302)
      assert.ok(url.href.startsWith(server.at('keycloak').url))
      assert.equal(url.searchParams.get('scope'), 'profile email phone')
      const back = new URL((await server.at('keycloak').agree(url.href)).url)
      assert.equal(`${back.origin}${back.pathname}`, 'https://auth.example/callback')
    },
  )

  await t.test(
    'Endpoints › GET /callback: redirect to SITE_URL with fragment `access_token`, `refresh_token`, `provider_token`, `expires_in`=3600, `provider`',
    async () => {
      const answer = await server.signInWith('keycloak', newAccount(), { scopes: 'phone' })
      assert.equal(answer.status, 302)
      assert.match(answer.headers.get('location') ?? '', /^https:\/\/site\.example#/)
      const fragment = fragmentOf(answer)
      for (const name of ['access_token', 'refresh_token', 'provider_token']) {
        assert.ok(fragment[name], name)
      }
      assert.deepEqual([fragment['expires_in'], fragment['provider']], ['3600', 'keycloak'])
    },
  )

  await t.test(
    'Authentication › external sign-in follows OAuth 2.0 through /authorize and /callback',
    async () => {
      const keycloak = server.at('keycloak')
      keycloak.account = newAccount()
      const { url, cookie, state } = await server.startFlow({ provider: 'keycloak' })
      const { client_id, response_type, redirect_uri } = Object.fromEntries(url.searchParams)
      assert.deepEqual(
        [client_id, response_type, redirect_uri],
        [keycloak.clientId, 'code', 'https://auth.example/callback'],
      )
      const agreement = await keycloak.agree(url.href)
      const back = new URL(agreement.url).searchParams
      assert.equal(back.get('state'), state)
      assert.ok(back.get('code'))
      assert.ok(fragmentOf(await server.finishFlow(agreement, cookie))['access_token'])
      assert.deepEqual(keycloak.refusals, [])
    },
  )
})
