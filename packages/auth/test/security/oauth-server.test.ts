/**
 * @legs safety
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  callback,
  openAuthorizationServer,
  queryOf,
  toExchange,
} from '../support/authorization-server.ts'
import { claimsOf } from '../support/factors.ts'
import { newEmail, password, send } from '../support/http-client.ts'

/** The attacks of RFC 9700, and others on the endpoints for OAuth clients. */
test('the OAuth server withstands attacks', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { url, users, query } = server
  const victim = await users.newSignedInUser()
  const attacker = await users.newSignedInUser()
  const client = await server.newClient()
  const tokenError = async (fields: Readonly<Record<string, string>>, by = client) =>
    (await server.ask(by, '/oauth/token', fields)).body.error

  await t.test('mix-up: every response names its issuer (property 100)', async () => {
    const { returned } = await server.approve(client, victim, { scope: 'email' })
    const { answer } = await server.start(client, { scope: 'unknown' })
    assert.deepEqual([returned['iss'], queryOf(answer)['iss']], [url, url])
    const { body } = await send(url, '/.well-known/oauth-authorization-server')
    assert.deepEqual(
      [body.issuer, body.authorization_response_iss_parameter_supported],
      [url, true],
    )
  })

  await t.test(
    'code injection: a code works only with the verifier and client of its request (property 101)',
    async () => {
      const stolen = await server.approve(client, victim)
      const own = await server.start(client)
      const exchange = toExchange(stolen.returned, own.verifier)
      assert.equal(await tokenError(exchange), 'invalid_grant')
      const other = await server.newClient()
      const right = toExchange(stolen.returned, stolen.verifier)
      assert.equal(await tokenError(right, other), 'invalid_grant')
      const elsewhere = { ...right, redirect_uri: 'https://other.example/' }
      assert.equal(await tokenError(elsewhere), 'invalid_grant')
      assert.equal(await tokenError({ ...right, redirect_uri: callback }), undefined)
    },
  )

  await t.test('downgrade: PKCE with S256 cannot be left out (property 102)', async () => {
    for (const fields of [
      { code_challenge: '', code_challenge_method: '' },
      { code_challenge_method: '' },
      { code_challenge_method: 'plain' },
      { code_challenge: 'short' },
    ]) {
      const { answer } = await server.start(client, fields)
      assert.equal(queryOf(answer)['error'], 'invalid_request', JSON.stringify(fields))
    }
    const { returned } = await server.approve(client, victim)
    const { code_verifier: _, ...without } = toExchange(returned, '')
    assert.equal(await tokenError(without), 'invalid_grant')
  })

  await t.test(
    'open redirector: only exact redirect URIs get a response (property 103)',
    async () => {
      const native = await server.newClient({
        token_endpoint_auth_method: 'none',
        redirect_uris: [callback, 'http://127.0.0.1/done', 'http://[::1]:9/done?a=1'],
      })
      for (const uri of [
        'https://attacker.example/',
        `${callback}/`,
        `${callback}?x=1`,
        `${callback}/../other`,
        callback.toUpperCase(),
        'https://client.example:444/callback',
        'https://client.example@attacker.example/callback',
        'http://127.0.0.1:80@attacker.example/done',
        'http://127.0.0.1.attacker.example/done',
        'http://127.0.0.1:8000/other',
        'http://localhost:8000/done',
        'https://127.0.0.1/done',
        'http://[::1]:9/done?a=2',
        '',
      ]) {
        const { answer } = await server.start(native, { redirect_uri: uri })
        assert.deepEqual([answer.status, answer.headers.get('location')], [400, null], uri)
      }
      for (const uri of ['http://127.0.0.1:49152/done', 'http://[::1]:1/done?a=1']) {
        assert.equal((await server.start(native, { redirect_uri: uri })).answer.status, 302, uri)
      }
      const unknown = { client_id: victim.id, client_secret: undefined }
      assert.equal((await server.start(unknown)).answer.status, 400)
    },
  )

  await t.test(
    'CSRF: other users and other sites cannot decide about a request (property 104)',
    async () => {
      const { id } = await server.start(await server.newClient())
      assert.equal((await server.details(victim, id)).status, 200)
      assert.equal((await server.details(attacker, id)).status, 404)
      assert.equal((await server.decide(attacker, id, 'approve')).status, 404)
      const path = `/oauth/authorizations/${id}`
      const from = (origin: string) =>
        send(url, `${path}/consent`, {
          token: victim.token,
          body: { action: 'approve' },
          headers: { origin },
        })
      assert.equal((await from('https://attacker.example')).body.msg, 'unauthorized request origin')
      assert.equal((await from('https://site.example')).status, 200)
    },
  )

  await t.test(
    'replay: a code works once, and its second use ends the session (property 105)',
    async () => {
      const { returned, verifier } = await server.approve(client, victim)
      const exchange = toExchange(returned, verifier)
      const uses = await Promise.all(
        [1, 2, 3].map(() => server.ask(client, '/oauth/token', exchange)),
      )
      assert.equal(uses.filter(({ status }) => status === 200).length, 1)
      const again = await server.approve(client, victim)
      const once = toExchange(again.returned, again.verifier)
      const { body: tokens } = await server.ask(client, '/oauth/token', once)
      const live = async () =>
        (await send(url, '/oauth/userinfo', { token: tokens.access_token })).status
      const guess = { ...once, code_verifier: 'x'.repeat(43) }
      assert.equal(await tokenError(guess), 'invalid_grant')
      assert.equal(await live(), 200, 'someone who only saw the code cannot end the session')
      assert.equal(await tokenError(once), 'invalid_grant')
      assert.equal(await live(), 401)
      const late = await server.approve(client, victim)
      server.clock.aheadMs += 300_001
      assert.equal(await tokenError(toExchange(late.returned, late.verifier)), 'invalid_grant')
    },
  )

  await t.test('token substitution: each token has one use (property 106)', async () => {
    const scope = 'openid email profile'
    const tokens = await server.signIn(client, victim, { scope })
    const call = (token: string, path: string, method = 'GET', body?: object) =>
      send(url, path, { token, method, ...(body && { body }) })
    for (const path of ['/user', '/oauth/userinfo', '/user/sessions']) {
      assert.ok((await call(tokens.id_token, path)).status >= 401, `an ID token at ${path}`)
    }
    const { id } = await server.start(client, { scope: 'phone' })
    for (const [path, method, body] of [
      ['/user', 'PUT', { password: 'a new password' }],
      ['/logout', 'POST', {}],
      ['/factors', 'POST', { factor_type: 'totp' }],
      ['/user/sessions', 'GET', undefined],
      ['/user/oauth/grants', 'GET', undefined],
      [`/oauth/authorizations/${id}`, 'GET', undefined],
    ] as const) {
      const refused = await call(tokens.access_token, path, method, body)
      assert.deepEqual(
        [refused.status, refused.body.error_code],
        [403, 'oauth_token_not_allowed'],
        path,
      )
    }
    const itself = await server.newClient({
      grant_types: ['client_credentials'],
      redirect_uris: [],
    })
    const own = await server.ask(itself, '/oauth/token', { grant_type: 'client_credentials' })
    for (const path of ['/user', '/oauth/userinfo', '/admin/users']) {
      assert.ok((await call(own.body.access_token, path)).status >= 401, path)
    }
  })

  await t.test('a client of an administrator is not an administrator (property 107)', async () => {
    const admin = await users.newSignedInUser()
    await query("update users set role = 'service_role' where id = $1", [admin.id])
    const tokens = await server.signIn(client, admin)
    assert.equal(claimsOf(tokens.access_token).role, 'service_role')
    const { status, body } = await send(url, '/admin/users', { token: tokens.access_token })
    assert.deepEqual([status, body.error_code], [403, 'session_expired'])
  })

  await t.test(
    'refresh tokens: only their client uses them, and reuse ends the session (property 108)',
    async () => {
      const tokens = await server.signIn(client, victim)
      const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
      assert.equal(await tokenError(refresh, await server.newClient()), 'invalid_grant')
      const own = await server.post('/token?grant_type=refresh_token', refresh)
      assert.deepEqual([own.status, own.body.error_code], [400, 'refresh_token_not_found'])
      const mine = { ...refresh, refresh_token: victim.refreshToken }
      assert.equal(await tokenError(mine), 'invalid_grant')
      const second = (await server.ask(client, '/oauth/token', refresh)).body
      const next = { ...refresh, refresh_token: second.refresh_token }
      const third = (await server.ask(client, '/oauth/token', next)).body
      assert.equal(await tokenError(refresh), 'invalid_grant')
      const newest = { ...refresh, refresh_token: third.refresh_token }
      assert.equal(await tokenError(newest), 'invalid_grant')
    },
  )

  await t.test('clients authenticate by exactly the registered method (property 109)', async () => {
    const { client_id: id, client_secret: secret } = client
    const { refresh_token: token } = await server.signIn(client, victim)
    const refresh = { grant_type: 'refresh_token', refresh_token: token }
    const publicClient = { client_id: id, client_secret: undefined }
    for (const [by, fields] of [
      [{ client_id: id, client_secret: `${secret}x` }, {}],
      [{ client_id: attacker.id, client_secret: secret }, {}],
      [publicClient, {}],
      [publicClient, { client_secret: `${secret}` }],
    ] as const) {
      const { status, body, headers } = await server.ask(by, '/oauth/token', {
        ...refresh,
        ...fields,
      })
      assert.deepEqual([status, body.error], [401, 'invalid_client'])
      assert.match(headers.get('www-authenticate') ?? '', /^Basic /)
    }
    const twice = { ...refresh, client_secret: `${secret}` }
    assert.equal(await tokenError(twice), 'invalid_request')
    assert.equal(await tokenError(refresh), undefined)
  })

  await t.test(
    'a password alone does not grant access past a second factor (property 110)',
    async () => {
      const member = await users.newMember()
      await server.approve(client, member, { scope: 'email' })
      const thief = await users.signIn(member.email)
      const { id } = await server.start(client, { scope: 'email' })
      const { body } = await server.details(thief, id)
      assert.equal(body.redirect_url, undefined, 'not even what was granted before')
      const refused = await server.decide(thief, id, 'approve')
      assert.deepEqual([refused.status, refused.body.error_code], [403, 'insufficient_aal'])
      const tokens = await server.signIn(client, member, { scope: 'openid' })
      assert.deepEqual(
        [claimsOf(tokens.id_token).acr, claimsOf(tokens.access_token).aal],
        ['aal2', 'aal2'],
      )
    },
  )

  await t.test('parameters that occur twice are refused (property 111)', async () => {
    const twice = await send(url, `/oauth/authorize?client_id=${client.client_id}&client_id=x`)
    assert.equal(twice.status, 400)
    const { status, body } = await send(url, '/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=refresh_token&grant_type=authorization_code',
    })
    assert.deepEqual([status, body.error], [400, 'invalid_request'])
  })

  await t.test(
    'another app cannot use the consent that was given to an app (property 112)',
    async () => {
      const app = await server.newClient({
        token_endpoint_auth_method: 'none',
        redirect_uris: ['myapp://callback', callback],
      })
      const isAsked = async (uri: string) => {
        const { id } = await server.start(app, { redirect_uri: uri, scope: 'email' })
        return (await server.details(victim, id)).body.redirect_url === undefined
      }
      await server.approve(app, victim, { redirect_uri: 'myapp://callback', scope: 'email' })
      assert.equal(await isAsked('myapp://callback'), true)
      assert.equal(await isAsked(callback), false, 'only its owner has the address of a site')
    },
  )

  await t.test('a deleted client and a banned user get no tokens (property 113)', async () => {
    const gone = await server.newClient()
    const tokens = await server.signIn(gone, victim)
    await send(url, `/admin/oauth/clients/${gone.client_id}`, {
      method: 'DELETE',
      token: server.serviceToken,
    })
    assert.equal((await send(url, '/oauth/userinfo', { token: tokens.access_token })).status, 401)
    const banned = await users.newSignedInUser()
    const { returned, verifier } = await server.approve(client, banned)
    await query("update users set banned_until = '9999-01-01' where id = $1", [banned.id])
    assert.equal(await tokenError(toExchange(returned, verifier)), 'access_denied')
  })

  await t.test('a code ends with the session in which it was approved (property 113)', async () => {
    const member = await users.newSignedInUser()
    const { returned, verifier } = await server.approve(client, member)
    await send(url, '/logout?scope=global', { method: 'POST', token: member.token })
    assert.equal(await tokenError(toExchange(returned, verifier)), 'invalid_grant')
  })

  await t.test('a token reads no more than its own scope (property 106)', async () => {
    const tokens = await server.signIn(client, victim, { scope: 'email notes:read' })
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    const narrow = (await server.ask(client, '/oauth/token', { ...refresh, scope: 'notes:read' }))
      .body.access_token
    assert.deepEqual((await send(url, '/oauth/userinfo', { token: narrow })).body, {
      sub: victim.id,
    })
    assert.equal((await send(url, '/user', { token: narrow })).body.email, '')
  })

  await t.test('a scope reads no data of another scope (property 106)', async () => {
    const email = newEmail()
    await query(
      `update users set raw_user_meta_data = '{"email": "a@b.example", "email_verified": true, "city": "Rome"}'
       where id = $1`,
      [attacker.id],
    )
    const { access_token: token } = await server.signIn(client, attacker, { scope: 'profile' })
    const { body: profile } = await send(url, '/oauth/userinfo', { token })
    const { body: user } = await send(url, '/user', { token })
    assert.deepEqual([profile.name, profile.email], [undefined, undefined])
    assert.deepEqual(user.user_metadata, { city: 'Rome' })
    assert.deepEqual(claimsOf(token).user_metadata, { city: 'Rome' })
    assert.ok(!JSON.stringify([profile, user]).includes(email))
  })

  await t.test(
    'a token for an API reads nothing here, whatever it names (property 106)',
    async () => {
      const resource = 'https://notes.example/api'
      const { access_token: token } = await server.signIn(client, victim, {
        scope: 'email',
        resource,
      })
      for (const path of ['/user', '/oauth/userinfo']) {
        for (const headers of [{}, { 'x-jwt-aud': 'authenticated' }]) {
          const { status, body } = await send(url, path, { token, headers })
          assert.ok(status === 401 || status === 403, `${path} ${status}`)
          assert.ok(!JSON.stringify(body).includes(victim.email))
        }
      }
    },
  )

  await t.test(
    'an API without scopes of its own gets none by exchange (property 106)',
    async () => {
      const exchangeType = 'urn:ietf:params:oauth:grant-type:token-exchange'
      const api = await server.newClient({ grant_types: [exchangeType], redirect_uris: [] })
      const { access_token: received } = await server.signIn(client, victim, {
        scope: 'notes:write',
      })
      const { status, body } = await server.ask(api, '/oauth/token', {
        grant_type: exchangeType,
        subject_token: received,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        resource: 'https://search.example/',
      })
      assert.deepEqual([status, body.scope, claimsOf(body.access_token).scope], [200, '', ''])
    },
  )

  await t.test(
    'a token that cannot be revoked is not reported as revoked (property 106)',
    async () => {
      const itself = await server.newClient({
        grant_types: ['client_credentials'],
        redirect_uris: [],
      })
      const own = await server.ask(itself, '/oauth/token', { grant_type: 'client_credentials' })
      const token = own.body.access_token
      const { status, body } = await server.ask(itself, '/oauth/revoke', { token })
      assert.deepEqual([status, body.error], [400, 'unsupported_token_type'])
    },
  )

  await t.test('replay of an expired code ends the session as well (property 105)', async () => {
    const { returned, verifier } = await server.approve(client, victim)
    const exchange = toExchange(returned, verifier)
    const { body: tokens } = await server.ask(client, '/oauth/token', exchange)
    server.clock.aheadMs += 300_001
    assert.equal(await tokenError(exchange), 'invalid_grant')
    assert.equal((await send(url, '/oauth/userinfo', { token: tokens.access_token })).status, 401)
  })

  await t.test(
    'what someone granted before the owner proved the address is forgotten (property 115)',
    async () => {
      const email = newEmail()
      const { body: user } = await server.post('/signup', { email, password })
      await query(
        `insert into oauth_consents (user_id, client_id, resource, scopes, granted_at)
         values ($1, $2, '', '["email"]', now())`,
        [user.id, client.client_id],
      )
      const mail = await server.mailTo(email)
      assert.equal((await send(url, mail.path)).status, 303)
      assert.deepEqual(await query('select from oauth_consents where user_id = $1', [user.id]), [])
    },
  )

  await t.test(
    'only hashes of codes are stored, and nothing is logged (property 114)',
    async () => {
      const { returned, verifier } = await server.approve(client, victim)
      const tokens = (await server.ask(client, '/oauth/token', toExchange(returned, verifier))).body
      const rows = JSON.stringify(await query('select * from oauth_authorizations'))
      const log = server.log.join('\n')
      for (const secret of [
        returned['code'],
        verifier,
        tokens.access_token,
        tokens.refresh_token,
      ]) {
        assert.ok(secret !== undefined && !rows.includes(secret) && !log.includes(secret))
      }
      assert.ok(!log.includes(`${client.client_secret}`))
    },
  )
})

test('clients that anyone can register', async (t) => {
  const server = await openAuthorizationServer(t, {
    AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
    AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: 'false',
  })
  if (!server) return
  const { url, users } = server
  const { body: client } = await send(url, '/oauth/clients/register', {
    body: { redirect_uris: ['https://attacker.example/'], client_name: 'Notes' },
  })

  await t.test('a link to this server does not lead to their site (property 103)', async () => {
    for (const fields of [{ scope: 'unknown' }, { prompt: 'none' }, { code_challenge: '' }]) {
      const { answer } = await server.start(client, {
        redirect_uri: 'https://attacker.example/',
        ...fields,
      })
      assert.deepEqual([answer.status, answer.headers.get('location')], [400, null])
      assert.match(answer.body, /Continue to attacker\.example</)
      assert.match(answer.body, /href="https:\/\/attacker\.example\/\?error=/)
    }
  })

  await t.test('reuse of a refresh token always ends the session (property 108)', async () => {
    const user = await users.newSignedInUser()
    const tokens = await server.signIn(client, user, { redirect_uri: 'https://attacker.example/' })
    const refresh = async (token: string) =>
      (
        await server.ask(client, '/oauth/token', {
          grant_type: 'refresh_token',
          refresh_token: token,
        })
      ).body
    const second = await refresh(tokens.refresh_token)
    const third = await refresh(second.refresh_token)
    assert.equal((await refresh(tokens.refresh_token)).error, 'invalid_grant')
    assert.equal((await refresh(third.refresh_token)).error, 'invalid_grant')
  })
})
