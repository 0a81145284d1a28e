/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as client from 'openid-client'
import {
  callback,
  openAuthorizationServer,
  queryOf,
  toExchange,
} from '../../support/authorization-server.ts'
import { type RequestOptions, send } from '../../support/http-client.ts'

const insecure = { execute: [client.allowInsecureRequests] }

test('clients that register themselves, and tokens that are presented', async (t) => {
  const server = await openAuthorizationServer(t, {
    AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
    AUTH_RATE_LIMIT_O_AUTH_DYNAMIC_CLIENT_REGISTER: '1000',
  })
  if (!server) return
  const { url, users } = server
  const user = await users.newSignedInUser()
  const register = (body: object) =>
    send(url, '/oauth/clients/register', { body: { redirect_uris: [callback], ...body } })

  await t.test('openid-client registers itself and pushes its request', async () => {
    const config = await client.dynamicClientRegistration(
      new URL(url),
      { redirect_uris: [callback], client_name: 'Pushing' },
      client.ClientSecretBasic(),
      insecure,
    )
    const { client_id: id, client_secret: secret } = config.clientMetadata()
    assert.match(`${secret}`, /^[\w-]{43}$/)
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const start = await client.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: callback,
      scope: 'openid',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    assert.deepEqual([...start.searchParams.keys()].toSorted(), ['client_id', 'request_uri'])
    const path = `${start.pathname}${start.search}`
    const { authorization_id: request = '' } = queryOf(await send(url, path))
    assert.equal((await send(url, path)).status, 400, 'a request starts once')
    assert.equal((await server.details(user, request)).body.client.id, id)
    const { body } = await server.decide(user, request, 'approve')
    const tokens = await client.authorizationCodeGrant(config, new URL(body.redirect_url), {
      pkceCodeVerifier,
      idTokenExpected: true,
    })
    const { access_token: access, refresh_token: refresh = '' } = tokens
    const active = await client.tokenIntrospection(config, access)
    assert.deepEqual(
      [active.active, active.sub, active.client_id, active.scope],
      [true, user.id, id, 'openid'],
    )
    assert.equal((await client.tokenIntrospection(config, refresh)).active, true)
    assert.equal((await client.tokenIntrospection(config, `${tokens.id_token}`)).active, false)
    await client.tokenRevocation(config, refresh)
    for (const token of [access, refresh, 'unknown']) {
      assert.equal((await client.tokenIntrospection(config, token)).active, false)
      await client.tokenRevocation(config, token)
    }
  })

  await t.test('a client changes and removes its registration with its token', async () => {
    const { status, body: registered } = await register({ client_name: 'Before' })
    assert.deepEqual(
      [status, registered.registration_type, registered.client_secret_expires_at],
      [201, 'dynamic', 0],
    )
    const path = new URL(registered.registration_client_uri).pathname
    const call = (options: RequestOptions) =>
      send(url, path, { token: registered.registration_access_token, ...options })
    assert.equal((await call({})).body.client_name, 'Before')
    const other = (await register({})).body.registration_access_token
    for (const token of [other, 'x', undefined]) {
      const refused = await send(url, path, token === undefined ? {} : { token })
      assert.deepEqual([refused.status, refused.body.error], [401, 'invalid_token'])
    }
    const change = { redirect_uris: ['https://client.example/other'] }
    const changed = (await call({ method: 'PUT', body: change })).body
    assert.deepEqual(
      [changed.client_name, changed.redirect_uris, changed.client_secret],
      [undefined, change.redirect_uris, undefined],
    )
    assert.equal((await call({ method: 'DELETE' })).status, 204)
    assert.equal((await call({})).status, 401)
  })

  await t.test('invalid metadata is refused in the form of RFC 7591', async () => {
    for (const [body, error] of [
      [{ redirect_uris: ['http://client.example/'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [] }, 'invalid_redirect_uri'],
      [{ grant_types: ['implicit'] }, 'invalid_client_metadata'],
      [{ grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
      [{ response_types: ['token'] }, 'invalid_client_metadata'],
    ] as const) {
      const { status, body: answer } = await register(body)
      assert.deepEqual([status, answer.error], [400, error], JSON.stringify(body))
    }
  })

  await t.test(
    'a faulty request cannot be pushed, and belongs to the client that pushed it',
    async () => {
      const registered = await server.newClient()
      const fields = { redirect_uri: callback, code_challenge: 'x'.repeat(43) }
      const push = (more: Readonly<Record<string, string>>) =>
        server.ask(registered, '/oauth/par', { ...fields, ...more })
      assert.equal((await push({})).body.error, 'invalid_request')
      const pushed = await push({ code_challenge_method: 'S256' })
      assert.deepEqual([pushed.status, pushed.body.expires_in], [201, 60])
      const start = async (clientId: string) => {
        const query = new URLSearchParams({ client_id: clientId, ...pushed.body })
        return (await send(url, `/oauth/authorize?${query}`)).status
      }
      assert.equal(await start((await server.newClient()).client_id), 400)
      server.clock.aheadMs += 60_001
      assert.equal(await start(registered.client_id), 400)
    },
  )

  await t.test('only the clients of administrators introspect the tokens of others', async () => {
    const owner = await server.newClient()
    const { access_token: token } = await server.signIn(owner, user, { scope: 'email' })
    const api = await server.newClient()
    assert.equal((await server.ask(api, '/oauth/introspect', { token })).body.sub, user.id)
    const foreign = (await register({})).body
    const refused = await server.ask(foreign, '/oauth/introspect', { token })
    assert.deepEqual(refused.body, { active: false })
    const app = await server.newClient({ token_endpoint_auth_method: 'none' })
    const anonymous = await server.ask(app, '/oauth/introspect', { token })
    assert.equal(anonymous.body.error, 'unauthorized_client')
    const revoked = await server.ask(api, '/oauth/revoke', { token })
    assert.deepEqual([revoked.status, revoked.body.error], [400, 'invalid_grant'])
    assert.equal((await server.ask(api, '/oauth/introspect', { token })).body.active, true)
    const itself = await server.newClient({
      redirect_uris: [],
      grant_types: ['client_credentials'],
    })
    const own = await server.ask(itself, '/oauth/token', { grant_type: 'client_credentials' })
    const described = await server.ask(api, '/oauth/introspect', { token: own.body.access_token })
    assert.deepEqual([described.body.active, described.body.sub], [true, itself.client_id])
  })

  await t.test('a replaced secret is accepted during the overlap', async () => {
    const before = await server.newClient()
    const renew = (search = '') =>
      send(url, `/admin/oauth/clients/${before.client_id}/regenerate_secret${search}`, {
        method: 'POST',
        token: server.serviceToken,
      })
    const { body: after } = await renew('?overlap_seconds=3600')
    assert.ok(Date.parse(after.previous_secret_expires_at) > server.clock.now())
    const isAccepted = async (by: typeof before) =>
      (await server.ask(by, '/oauth/introspect', { token: 'x' })).status === 200
    assert.deepEqual([await isAccepted(before), await isAccepted(after)], [true, true])
    server.clock.aheadMs += 3_600_001
    assert.deepEqual([await isAccepted(before), await isAccepted(after)], [false, true])
    await renew()
    assert.equal(await isAccepted(after), false)
    for (const wrong of ['-1', 'x', '9999999']) {
      assert.equal((await renew(`?overlap_seconds=${wrong}`)).status, 400)
    }
  })

  await t.test('a public client gets tokens with PKCE alone', async () => {
    const app = (await register({ token_endpoint_auth_method: 'none' })).body
    assert.equal(app.client_secret, undefined)
    const owner = await users.newSignedInUser()
    const { returned, verifier } = await server.approve(app, owner)
    const { status } = await server.ask(app, '/oauth/token', toExchange(returned, verifier))
    assert.equal(status, 200)
  })
})

test('clients cannot register themselves unless the operator allows it', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { status, body } = await send(server.url, '/oauth/clients/register', {
    body: { redirect_uris: [callback] },
  })
  assert.deepEqual(
    [status, body.error_description],
    [403, 'Dynamic client registration is not enabled'],
  )
  const metadata = await send(server.url, '/.well-known/oauth-authorization-server')
  assert.equal(metadata.body.registration_endpoint, undefined)
})
