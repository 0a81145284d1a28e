/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthorizationServer } from '../support/authorization-server.ts'
import { claimsOf } from '../support/factors.ts'
import { send } from '../support/http-client.ts'
import { createIdentityProvider, readRequest } from '../support/saml/identity-provider.ts'
import { acsUrl, entityId, samlEnvironment } from '../support/saml/sso-server.ts'

test('introspection: the token of an API key is active until the key is replaced or revoked (property 128)', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { url, serviceToken: token, users } = server
  const ada = await users.newSignedInUser()
  const asAdmin = (method: string, path: string, body: object = {}) =>
    send(url, path, { method, token, body })
  const api = await server.newClient()
  const introspect = async (shown: string) =>
    (await server.ask(api, '/oauth/introspect', { token: shown })).body
  const account = (await asAdmin('POST', '/admin/service-accounts', { name: 'r', role: 'robot' }))
    .body
  for (const owner of [{ user_id: ada.id }, { service_account_id: account.id }]) {
    const fields = { ...owner, name: 'a', scopes: ['reports:read'], plan: 'pro' }
    const key = (await asAdmin('POST', '/admin/api-keys', fields)).body
    const exchange = async (text: string): Promise<string> =>
      (await send(url, '/token?grant_type=api_key', { body: { api_key: text } })).body.access_token
    const first = await exchange(key.api_key)
    const claims = claimsOf(first)
    assert.deepEqual(await introspect(first), {
      active: true,
      token_type: 'Bearer',
      sub: owner.user_id ?? owner.service_account_id,
      aud: claims['aud'],
      exp: claims['exp'],
      iat: claims['iat'],
      role: claims['role'],
      aal: 'aal1',
      session_id: claims['session_id'],
      scope: 'reports:read',
      key_id: key.id,
      plan: 'pro',
    })
    const rotated = (await asAdmin('POST', `/admin/api-keys/${key.id}/rotate`)).body
    const second = await exchange(rotated.api_key)
    assert.deepEqual(await introspect(first), { active: false })
    assert.equal((await introspect(second)).active, true)
    await asAdmin('DELETE', `/admin/api-keys/${key.id}`)
    assert.deepEqual(await introspect(second), { active: false })
  }
  // The key of a banned user.
  const key = (await asAdmin('POST', '/admin/api-keys', { user_id: ada.id, name: 'a' })).body
  const body = { api_key: key.api_key }
  const shown = (await send(url, '/token?grant_type=api_key', { body })).body.access_token
  await asAdmin('PUT', `/admin/users/${ada.id}`, { ban_duration: '1h' })
  assert.deepEqual(await introspect(shown), { active: false })
  // A client that registered itself learns nothing about the tokens of others.
  const fields = { service_account_id: account.id, name: 'b' }
  const { api_key } = (await asAdmin('POST', '/admin/api-keys', fields)).body
  const other = (await send(url, '/token?grant_type=api_key', { body: { api_key } })).body
    .access_token
  const app = await server.newClient()
  await server.query("update oauth_clients set registration_type = 'dynamic' where id = $1", [
    app.client_id,
  ])
  assert.deepEqual((await server.ask(app, '/oauth/introspect', { token: other })).body, {
    active: false,
  })
  assert.equal((await introspect(other)).active, true)
})

test('email_verified is true only for addresses that this server or the company with the domain has verified (property 129)', async (t) => {
  const server = await openAuthorizationServer(t, {
    ...samlEnvironment,
    AUTH_SAML_EXTERNAL_URL: 'https://auth.example',
  })
  if (!server) return
  const { url, serviceToken: token } = server
  const client = await server.newClient()
  const idp = createIdentityProvider(acsUrl, entityId)
  const { body: company } = await send(url, '/admin/sso/providers', {
    token,
    body: { type: 'saml', metadata_xml: idp.metadata(), domains: ['company.example'] },
  })
  /** Signs in through the company, which names any address. */
  const signIn = async (email: string): Promise<{ token: string }> => {
    const body = { provider_id: company.id, skip_http_redirect: true }
    const { id: requestId, relayState } = readRequest((await server.post('/sso', body)).body.url)
    const xml = idp.createResponse({
      requestId,
      nameId: email,
      nowMs: server.clock.now(),
      attributes: { email: [email] },
    })
    const form = { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: relayState }
    const { headers } = await send(url, '/sso/saml/acs', {
      method: 'POST',
      body: `${new URLSearchParams(form)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const { hash } = new URL(headers.get('location') ?? '')
    return { token: new URLSearchParams(hash.slice(1)).get('access_token') ?? '' }
  }
  /** What the ID token and the user info say. */
  const claimed = async (who: { readonly token: string }) => {
    const tokens = await server.signIn(client, who, { scope: 'openid email' })
    const { body: info } = await send(url, '/oauth/userinfo', { token: tokens.access_token })
    const { email, email_verified: isVerified } = claimsOf(tokens.id_token)
    assert.deepEqual([info.email, info.email_verified], [email, isVerified])
    return [email, isVerified]
  }
  const own = 'ada@company.example'
  assert.deepEqual(await claimed(await signIn(own)), [own, true])
  // The company says that this address belongs to its user, but this is not verified.
  const foreign = 'someone@public-mail.example'
  assert.deepEqual(await claimed(await signIn(foreign)), [foreign, false])
  const user = await server.users.newSignedInUser()
  assert.deepEqual(await claimed(user), [user.email, true])
})
