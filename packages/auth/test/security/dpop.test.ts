/**
 * @legs safety
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { exportJWK, SignJWT } from 'jose'
import { openAuthServer } from '../support/auth-server.ts'
import {
  type Fields,
  openAuthorizationServer,
  queryOf,
  type TestClient,
  toExchange,
} from '../support/authorization-server.ts'
import { createProofKey, type ProofKey, toAth } from '../support/dpop.ts'
import { send } from '../support/http-client.ts'

/** The attacks of RFC 9449, section 11. */
test('access tokens that are bound to a key withstand attacks', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { url, users } = server
  const user = await users.newSignedInUser()
  const key = await createProofKey(() => server.clock.now())
  const thief = await createProofKey(() => server.clock.now())
  const app = await server.newClient({ token_endpoint_auth_method: 'none' })
  const tokenUrl = `${url}/oauth/token`

  const ask = (fields: Fields, proof: string | undefined, path = '/oauth/token', by = app) =>
    send(url, path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(proof !== undefined && { dpop: proof }),
        ...(by.client_secret !== undefined && {
          authorization: `Basic ${Buffer.from(`${by.client_id}:${by.client_secret}`).toString('base64')}`,
        }),
      },
      body: `${new URLSearchParams({ ...(by.client_secret === undefined && { client_id: by.client_id }), ...fields })}`,
    })
  const prove = (by: ProofKey = key) => by.prove('POST', tokenUrl)
  const signIn = async (by: TestClient = app, fields: Fields = { scope: 'email' }) => {
    const { returned, verifier } = await server.approve(by, user, fields)
    const { status, body } = await ask(toExchange(returned, verifier), await prove(), undefined, by)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const tokens = await signIn()
  const token: string = tokens.access_token
  const userinfo = `${url}/oauth/userinfo`
  const read = (headers: Fields, path = '/oauth/userinfo', from = url) =>
    send(from, path, { headers })
  const proven = async (by = key, claims: object = {}, header: object = {}) =>
    by.prove('GET', userinfo, { ath: toAth(token), ...claims }, header)

  await t.test('a stolen token is useless without its key (property 116)', async () => {
    const right = { authorization: `DPoP ${token}`, dpop: await proven() }
    assert.equal((await read(right)).body.email, user.email)
    for (const [name, headers] of Object.entries({
      'downgraded to Bearer': { authorization: `Bearer ${token}` },
      'Bearer with a proof': { authorization: `Bearer ${token}`, dpop: await proven() },
      'without a proof': { authorization: `DPoP ${token}` },
      'with another key': { authorization: `DPoP ${token}`, dpop: await proven(thief) },
      'an unbound token as DPoP': { authorization: `DPoP ${user.token}`, dpop: await proven() },
    })) {
      const { status, headers: answered, body } = await read(headers)
      assert.equal(status, 401, name)
      assert.match(answered.get('www-authenticate') ?? '', /^DPoP error="invalid_/, name)
      assert.match(body.error, /^invalid_(token|dpop_proof)$/, name)
    }
    for (const path of ['/user', '/user/sessions', '/admin/users']) {
      const { status } = await read({ authorization: `Bearer ${token}` }, path)
      assert.equal(status, 401, path)
    }
    const dpop = await key.prove('GET', `${url}/user`, { ath: toAth(token) })
    assert.equal((await read({ authorization: `DPoP ${token}`, dpop }, '/user')).status, 200)
  })

  await t.test('a proof is for one request, new, and of a key pair (property 117)', async () => {
    const secret = createSecretKey(Buffer.alloc(32, 1))
    const oct = await exportJWK(secret)
    const symmetric = new SignJWT({ jti: 'x', htm: 'GET', htu: userinfo, ath: toAth(token) })
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk: oct })
      .setIssuedAt()
      .sign(secret)
    const text = await proven()
    const [, body = ''] = text.split('.')
    const none = Buffer.from(
      JSON.stringify({ alg: 'none', typ: 'dpop+jwt', jwk: key.publicJwk }),
    ).toString('base64url')
    const now = Math.floor(server.clock.now() / 1_000)
    for (const [name, proof] of Object.entries({
      'wrong htm': await proven(key, { htm: 'POST' }),
      'wrong htu': await proven(key, { htu: `${url}/user` }),
      'htu of another host': await proven(key, { htu: 'https://other.example/oauth/userinfo' }),
      'htu is missing': await proven(key, { htu: undefined }),
      'wrong ath': await proven(key, { ath: toAth('another token') }),
      'ath is missing': await proven(key, { ath: undefined }),
      'jti is missing': await proven(key, { jti: undefined }),
      'jti is too long': await proven(key, { jti: 'x'.repeat(300) }),
      'iat is a text': await proven(key, { iat: `${now}` }),
      'another type': await proven(key, {}, { typ: 'JWT' }),
      'a critical extension': await proven(key, {}, { crit: ['b64'], b64: true }),
      'private key in jwk': await proven(key, {}, { jwk: await exportJWK(key.privateKey) }),
      'no jwk': await proven(key, {}, { jwk: undefined }),
      'jwk is a text': await proven(key, {}, { jwk: 'x' }),
      'jwk of another type': await proven(key, {}, { jwk: { kty: 'RSA', n: 'x', e: 'AQAB' } }),
      'symmetric algorithm': await symmetric,
      'no algorithm': `${none}.${body}.`,
      'changed content': `${text.split('.')[0]}.${body}.${(await proven(thief)).split('.')[2]}`,
      'two proofs': `${await proven()}, ${await proven()}`,
      'no JWT': 'x',
    })) {
      const answer = await read({ authorization: `DPoP ${token}`, dpop: proof })
      assert.deepEqual([answer.status, answer.body.error], [401, 'invalid_dpop_proof'], name)
    }
    for (const [name, iat] of [
      ['old', now - 61],
      ['of the future', now + 11],
    ] as const) {
      const dpop = await proven(key, { iat })
      const answer = await read({ authorization: `DPoP ${token}`, dpop })
      assert.deepEqual([answer.status, answer.body.error], [401, 'use_dpop_nonce'], name)
      assert.match(answer.headers.get('www-authenticate') ?? '', /^DPoP error="use_dpop_nonce"/)
    }
    const invented = { nonce: Buffer.alloc(32, 1).toString('base64url') }
    const guess = await read({
      authorization: `DPoP ${token}`,
      dpop: await proven(key, invented),
    })
    assert.equal(guess.body.error, 'use_dpop_nonce')
    const withQuery = { authorization: `DPoP ${token}`, dpop: await proven() }
    assert.equal((await read(withQuery, '/oauth/userinfo?a=1')).status, 200)
  })

  await t.test('a proof is accepted once, on all servers (property 117)', async () => {
    const { databaseUrl, schema, clock } = server
    const other = await openAuthServer(t, {
      database: { url: databaseUrl, schema },
      clock,
      env: server.environment,
    })
    assert.ok(other)
    const headers = { authorization: `DPoP ${token}`, dpop: await proven() }
    const statuses = await Promise.all(
      [url, other.url, url, other.url].map(
        async (from) => (await read(headers, undefined, from)).status,
      ),
    )
    assert.deepEqual(statuses.toSorted(), [200, 401, 401, 401])
    const nonce = (
      await read({ authorization: `DPoP ${token}`, dpop: await proven(key, { iat: 1 }) })
    ).headers.get('dpop-nonce')
    const dpop = await proven(key, { nonce })
    assert.equal(
      (await read({ authorization: `DPoP ${token}`, dpop }, undefined, other.url)).status,
      200,
    )
    assert.equal((await read({ authorization: `DPoP ${token}`, dpop })).status, 401)
  })

  await t.test('codes and refresh tokens are bound to the key as well (property 118)', async () => {
    const start = (fields: Fields) => server.approve(app, user, { scope: 'email', ...fields })
    const { returned, verifier } = await start({ dpop_jkt: key.thumbprint })
    const exchange = toExchange(returned, verifier)
    for (const proof of [undefined, await prove(thief)]) {
      assert.equal((await ask(exchange, proof)).body.error, 'invalid_grant')
    }
    assert.equal((await ask(exchange, await prove())).body.token_type, 'DPoP')

    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    assert.equal((await ask(refresh, undefined)).body.error, 'invalid_dpop_proof')
    assert.equal((await ask(refresh, await prove(thief))).body.error, 'invalid_grant')
    const used = await prove()
    assert.equal((await ask(refresh, used)).body.token_type, 'DPoP', 'the attempts ended nothing')
    assert.equal((await ask(refresh, used)).body.error, 'invalid_dpop_proof', 'replay')

    const confidential = await server.newClient()
    const first = await signIn(confidential)
    const own = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
    const refused = await ask(own, undefined, undefined, confidential)
    assert.equal(refused.body.error, 'invalid_dpop_proof')
    const changed = await ask(own, await prove(thief), undefined, confidential)
    assert.equal(changed.body.token_type, 'DPoP', 'a client with a secret can change its key')
  })

  await t.test(
    'a pushed request binds its code to the key of its proof (property 118)',
    async () => {
      const { answer, verifier } = await server.start(app, { scope: 'email' })
      assert.equal(answer.status, 302)
      const challenge = {
        redirect_uri: 'https://client.example/callback',
        response_type: 'code',
        scope: 'email',
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
      }
      const par = (fields: Fields, proof: string) =>
        ask({ ...challenge, ...fields }, proof, '/oauth/par')
      const proof = () => key.prove('POST', `${url}/oauth/par`)
      const other = await par({ dpop_jkt: thief.thumbprint }, await proof())
      assert.equal(other.body.error, 'invalid_dpop_proof')
      const { status, body } = await par({}, await proof())
      assert.equal(status, 201)
      const [, id] = body.request_uri.split(/:(?=[^:]*$)/)
      const [row] = await server.query('select dpop_jkt from oauth_authorizations where id = $1', [
        id,
      ])
      assert.equal(row.dpop_jkt, key.thumbprint)
      assert.ok(verifier !== '' && queryOf(answer)['authorization_id'] !== undefined)
    },
  )

  await t.test(
    'only hashes of proofs are stored, and they are deleted (property 117)',
    async () => {
      const jti = 'a recognisable identifier'
      await read({ authorization: `DPoP ${token}`, dpop: await proven(key, { jti }) })
      const rows = await server.query('select key, expires_at from dpop_proofs')
      assert.ok(rows.length > 0 && rows.every(({ key: stored }) => stored.length === 32))
      assert.ok(!server.log.join('\n').includes(jti))
    },
  )
})
