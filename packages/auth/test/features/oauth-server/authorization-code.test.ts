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
import { claimsOf } from '../../support/factors.ts'
import { errorOf } from '../../support/flow-server.ts'
import { send } from '../../support/http-client.ts'

test('the authorization code flow', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { url, users } = server
  const issuer = url
  const user = await users.newSignedInUser()

  await t.test('openid-client signs a user in, reads the profile and refreshes', async () => {
    const registered = await server.newClient()
    const { client_id: id, client_secret: secret } = registered
    const config = await client.discovery(
      new URL(issuer),
      id,
      {},
      client.ClientSecretBasic(secret),
      { execute: [client.allowInsecureRequests] },
    )
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const expected = { pkceCodeVerifier, expectedState: 'state', expectedNonce: 'nonce' }
    const start = client.buildAuthorizationUrl(config, {
      redirect_uri: callback,
      scope: 'openid email profile',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: 'state',
      nonce: 'nonce',
      max_age: '3600',
    })
    const redirected = await send(url, `${start.pathname}${start.search}`)
    const { authorization_id: request = '' } = queryOf(redirected)
    assert.match(redirected.headers.get('location') ?? '', /^https:\/\/site\.example\/consent\?/)
    const { body: details } = await server.details(user, request)
    assert.deepEqual(details, {
      authorization_id: request,
      redirect_uri: callback,
      client: { id, name: 'Notes' },
      user: { id: user.id, email: user.email },
      scope: 'openid email profile',
    })
    const { body: decided } = await server.decide(user, request, 'approve')
    const tokens = await client.authorizationCodeGrant(config, new URL(decided.redirect_url), {
      ...expected,
      maxAge: 3_600,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    assert.deepEqual(
      [claims?.sub, claims?.['email'], claims?.['email_verified'], claims?.['acr']],
      [user.id, user.email, true, 'aal1'],
    )
    const profile = await client.fetchUserInfo(config, tokens.access_token, user.id)
    assert.equal(profile.email, user.email)
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    assert.notEqual(refreshed.refresh_token, tokens.refresh_token)
    assert.equal(refreshed.claims()?.sub, user.id)
  })

  await t.test('an access token names its client and scope, and withholds other data', async () => {
    const registered = await server.newClient()
    const { access_token: token, ...rest } = await server.signIn(registered, user, {
      scope: 'notes:read',
    })
    const claims = claimsOf(token)
    assert.deepEqual(
      [claims.iss, claims.aud, claims.client_id, claims.scope, claims.email, claims.user_metadata],
      [issuer, 'authenticated', registered.client_id, 'notes:read', '', {}],
    )
    assert.deepEqual(rest, {
      token_type: 'bearer',
      expires_in: 3_600,
      refresh_token: rest.refresh_token,
      scope: 'notes:read',
    })
    const { body } = await send(url, '/user', { token })
    assert.deepEqual([body.id, body.email, body.identities], [user.id, '', undefined])
    assert.deepEqual((await send(url, '/oauth/userinfo', { token })).body, { sub: user.id })
  })

  await t.test('a resource becomes the audience, and the token is for nothing else', async () => {
    const registered = await server.newClient({ token_endpoint_auth_method: 'client_secret_post' })
    const resource = 'https://notes.example/api'
    const { returned, verifier } = await server.approve(registered, user, { resource })
    const exchange = {
      ...toExchange(returned, verifier),
      client_id: registered.client_id,
      client_secret: `${registered.client_secret}`,
    }
    const body = async (fields: object) =>
      (await send(url, '/oauth/token', { body: { ...exchange, ...fields } })).body
    assert.equal((await body({ resource: 'https://other.example/' })).error, 'invalid_target')
    const { access_token: token } = await body({ resource })
    assert.equal(claimsOf(token).aud, resource)
    const profile = await send(url, '/oauth/userinfo', { token })
    assert.deepEqual([profile.status, profile.body.error], [401, 'invalid_token'])
    assert.equal((await send(url, '/user', { token })).status, 403)
    for (const wrong of ['notes', 'http://notes.example/', `${resource}#part`, 'urn:x']) {
      const { answer } = await server.start(registered, { resource: wrong })
      assert.equal(queryOf(answer)['error'], 'invalid_target', wrong)
    }
  })

  await t.test(
    'a remembered consent is not asked for again, unless more is requested',
    async () => {
      const registered = await server.newClient()
      const isAsked = async (fields: Readonly<Record<string, string>>) => {
        const { id } = await server.start(registered, fields)
        return (await server.details(user, id)).body.redirect_url === undefined
      }
      await server.approve(registered, user, { scope: 'email' })
      assert.equal(await isAsked({ scope: 'email' }), false)
      assert.equal(await isAsked({ scope: 'email profile' }), true)
      assert.equal(await isAsked({ scope: 'email', resource: 'https://notes.example/' }), true)
      assert.equal(await isAsked({ scope: 'email', prompt: 'consent' }), true)
      await server.approve(registered, user, { scope: 'email profile' })
      assert.equal(await isAsked({ scope: 'profile' }), false)
    },
  )

  await t.test(
    'a user lists and revokes grants, which ends the sessions of the client',
    async () => {
      const owner = await users.newSignedInUser()
      const registered = await server.newClient()
      const { client_id: id } = registered
      const tokens = await server.signIn(registered, owner, { scope: 'email' })
      const { body: grants } = await send(url, '/user/oauth/grants', { token: owner.token })
      assert.deepEqual(grants, [
        {
          client: { id, name: 'Notes' },
          scopes: ['email'],
          resources: [],
          granted_at: grants[0].granted_at,
        },
      ])
      const pending = await server.approve(registered, owner, { scope: 'email' })
      const revoke = () =>
        send(url, `/user/oauth/grants?client_id=${id}`, { method: 'DELETE', token: owner.token })
      assert.equal((await revoke()).status, 204)
      const gone = [404, 'oauth_consent_not_found', 'No active grant found for this client']
      assert.deepEqual(errorOf(await revoke()), gone)
      const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
      assert.equal(
        (await server.ask(registered, '/oauth/token', refresh)).body.error,
        'invalid_grant',
      )
      const late = toExchange(pending.returned, pending.verifier)
      assert.equal((await server.ask(registered, '/oauth/token', late)).body.error, 'invalid_grant')
      assert.equal((await send(url, '/oauth/userinfo', { token: tokens.access_token })).status, 401)
      assert.ok((await server.actionsOf(owner.id)).includes('oauth_consent_revoked'))
    },
  )

  await t.test('a denied request returns access_denied with the state and the issuer', async () => {
    const { id } = await server.start(await server.newClient())
    await server.details(user, id)
    const { body } = await server.decide(user, id, 'deny')
    const { searchParams } = new URL(body.redirect_url)
    assert.deepEqual(Object.fromEntries(searchParams), {
      error: 'access_denied',
      error_description: 'User denied the request',
      state: 'the state',
      iss: issuer,
    })
    assert.equal((await server.decide(user, id, 'approve')).status, 404)
  })

  await t.test('a refresh can narrow the scope, and not widen it', async () => {
    const registered = await server.newClient()
    const first = await server.signIn(registered, user, { scope: 'email notes:read' })
    const refresh = (token: string, scope: string) =>
      server.ask(registered, '/oauth/token', {
        grant_type: 'refresh_token',
        refresh_token: token,
        scope,
      })
    const { body: wider } = await refresh(first.refresh_token, 'email profile')
    assert.equal(wider.error, 'invalid_scope')
    const { body: narrow } = await refresh(first.refresh_token, 'notes:read')
    assert.deepEqual(
      [narrow.scope, claimsOf(narrow.access_token).scope],
      ['notes:read', 'notes:read'],
    )
    const { body: whole } = await refresh(narrow.refresh_token, '')
    assert.equal(whole.scope, 'email notes:read')
  })

  await t.test('max_age and prompt=login require a newer sign-in', async () => {
    const registered = await server.newClient()
    const owner = await users.newSignedInUser()
    server.clock.aheadMs += 60_000
    for (const fields of [{ prompt: 'login' }, { max_age: '30' }, { max_age: '0' }]) {
      const { id } = await server.start(registered, fields)
      const { body } = await server.details(owner, id)
      assert.equal(body.error_code, 'reauthentication_needed', JSON.stringify(fields))
      const again = await users.signIn(owner.email)
      assert.equal((await server.details(again, id)).status, 200)
      server.clock.aheadMs += 60_000
    }
    const { id } = await server.start(registered, { max_age: '600' })
    assert.equal((await server.details(owner, id)).status, 200)
  })

  await t.test('faults of a request are returned to the client', async () => {
    const registered = await server.newClient({ scope: 'email notes:read' })
    const cases = [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_mode: 'fragment' }, 'invalid_request'],
      [{ scope: 'unknown' }, 'invalid_scope'],
      [{ scope: 'notes:write' }, 'invalid_scope'],
      [{ prompt: 'none login' }, 'invalid_request'],
      [{ max_age: '-1' }, 'invalid_request'],
      [{ request: 'x' }, 'request_not_supported'],
      [{ nonce: 'x'.repeat(3_000) }, 'invalid_request'],
      [{ prompt: 'none' }, 'login_required'],
    ] as const
    for (const [fields, error] of cases) {
      const { answer } = await server.start(registered, fields)
      const query = queryOf(answer)
      assert.deepEqual(
        [answer.status, query['error'], query['state'], query['iss']],
        [302, error, 'the state', issuer],
        JSON.stringify(fields),
      )
    }
  })

  await t.test('a client gets tokens for itself, with the scopes that it is given', async () => {
    const registered = await server.newClient({
      redirect_uris: [],
      grant_types: ['client_credentials'],
      scope: 'notes:read email',
    })
    const grant = { grant_type: 'client_credentials', resource: 'https://notes.example/' }
    const { status, body } = await server.ask(registered, '/oauth/token', grant)
    assert.deepEqual([status, body.scope, body.refresh_token], [200, 'notes:read', undefined])
    const claims = claimsOf(body.access_token)
    assert.deepEqual(
      [claims.sub, claims.aud, claims.role, claims.session_id],
      [registered.client_id, 'https://notes.example/', undefined, undefined],
    )
    for (const scope of ['notes:write', 'email']) {
      const refused = await server.ask(registered, '/oauth/token', { ...grant, scope })
      assert.equal(refused.body.error, 'invalid_scope')
    }
    const other = await server.ask(await server.newClient(), '/oauth/token', grant)
    assert.equal(other.body.error, 'unauthorized_client')
  })
})

test('without a key pair, the scope openid is refused with the reason', async (t) => {
  const server = await openAuthorizationServer(t, { AUTH_JWT_KEYS: '' })
  if (!server) return
  const { answer } = await server.start(await server.newClient(), { scope: 'openid' })
  const query = queryOf(answer)
  assert.equal(query['error'], 'invalid_scope')
  assert.match(query['error_description'] ?? '', /AUTH_JWT_KEYS/)
  const { body } = await send(server.url, '/.well-known/oauth-authorization-server')
  assert.ok(!body.scopes_supported.includes('openid'))
  assert.equal(body.issuer, server.url)
})
