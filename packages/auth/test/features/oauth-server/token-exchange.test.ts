/**
 * @legs safety
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVerifier } from '../../../src/verify/index.ts'
import { openAuthorizationServer } from '../../support/authorization-server.ts'
import { claimsOf } from '../../support/factors.ts'
import { send } from '../../support/http-client.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const tokenType = 'urn:ietf:params:oauth:token-type:access_token'
const resource = 'https://search.example/'

test('token exchange', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { url, users } = server
  const user = await users.newSignedInUser()
  const api = await server.newClient({
    grant_types: [grantType],
    redirect_uris: [],
    scope: 'notes:read notes:write',
  })
  const app = await server.newClient()
  const exchange = (subject: string, fields: Readonly<Record<string, string>> = {}, by = api) =>
    server.ask(by, '/oauth/token', {
      grant_type: grantType,
      subject_token: subject,
      subject_token_type: tokenType,
      resource,
      ...fields,
    })
  const errorOf = async (...input: Parameters<typeof exchange>) =>
    (await exchange(...input)).body.error

  await t.test('an API gets a token for another API, which names both', async () => {
    const { access_token: received } = await server.signIn(app, user, { scope: 'notes:read email' })
    const { status, body } = await exchange(received, { scope: 'notes:read' })
    assert.deepEqual(
      [status, body.issued_token_type, body.scope, body.refresh_token],
      [200, tokenType, 'notes:read', undefined],
    )
    const verifier = createVerifier({ authUrl: url, audience: resource, issuer: url })
    assert.equal((await verifier.verify(body.access_token)).sub, user.id)
    const claims = claimsOf(body.access_token)
    const subject = claimsOf(received)
    assert.deepEqual(
      [claims.act, claims.session_id, claims.client_id, claims.email],
      [{ sub: api.client_id }, subject.session_id, api.client_id, undefined],
    )
    assert.ok(claims.exp <= subject.exp)
    const again = (await exchange(body.access_token, { scope: 'notes:read' })).body
    const nested = claimsOf(again.access_token).act
    assert.deepEqual(nested, { sub: api.client_id, act: { sub: api.client_id } })
    const active = await server.ask(api, '/oauth/introspect', { token: again.access_token })
    assert.deepEqual([active.body.active, active.body.act], [true, nested])
  })

  await t.test(
    'the new token has no more scope than the client and the user have given',
    async () => {
      const { access_token: received } = await server.signIn(app, user, {
        scope: 'notes:read email',
      })
      for (const scope of ['notes:write', 'email', '']) {
        assert.equal(await errorOf(received, { scope }), 'invalid_scope', scope)
      }
      assert.equal((await exchange(user.token)).body.scope, 'notes:read notes:write')
    },
  )

  await t.test('no endpoint of this server accepts the new token', async () => {
    const { access_token: token } = (await exchange(user.token)).body
    for (const path of ['/user', '/oauth/userinfo', '/user/sessions', '/admin/users']) {
      assert.ok((await send(url, path, { token })).status >= 401, path)
    }
  })

  await t.test('other tokens, other types and other clients are refused', async () => {
    const tokens = await server.signIn(app, user, { scope: 'openid' })
    for (const token of [tokens.id_token, tokens.refresh_token, server.serviceToken, 'x']) {
      assert.equal(await errorOf(token), 'invalid_grant')
    }
    for (const fields of [
      { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' },
      { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
      { actor_token: user.token },
      { subject_token: '' },
    ]) {
      assert.equal(await errorOf(user.token, fields), 'invalid_request', JSON.stringify(fields))
    }
    assert.equal(await errorOf(user.token, { resource: '' }), 'invalid_target')
    assert.equal(await errorOf(user.token, {}, app), 'unauthorized_client')
    const open = { token_endpoint_auth_method: 'none', grant_types: [grantType] }
    const refused = await send(url, '/admin/oauth/clients', {
      token: server.serviceToken,
      body: { redirect_uris: [], ...open },
    })
    assert.equal(refused.status, 400)
    await send(url, '/logout', { method: 'POST', token: user.token })
    assert.equal(await errorOf(user.token), 'invalid_grant')
  })
})
