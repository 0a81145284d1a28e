/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { SignJWT } from 'jose'
import { endpoints } from '../../src/features/index.ts'
import { jwtSecret, openAuthServer } from '../support/auth-server.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { samlEnvironment } from '../support/saml/sso-server.ts'

type Header = Readonly<Record<string, unknown>>

const toSegment = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Builds a token by hand; header and body may be any text. */
function forge(header: unknown, claims: unknown, key: string | Buffer, digest = 'sha256'): string {
  const data = `${toSegment(header)}.${toSegment(claims)}`
  return `${data}.${createHmac(digest, key).update(data).digest('base64url')}`
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const theirRsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const theirEc = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const keys = JSON.stringify([
  { ...rsa.privateKey.export({ format: 'jwk' }), kid: 'rsa', alg: 'RS256', key_ops: ['sign'] },
  { ...ec.publicKey.export({ format: 'jwk' }), kid: 'ec', alg: 'ES256', key_ops: ['verify'] },
])

const configurations = {
  'a secret, the default': {},
  'keys of RSA and elliptic curves': { AUTH_JWT_KEYS: keys },
} as const

for (const [name, env] of Object.entries(configurations)) {
  test(`forged access tokens, with ${name} (property 9)`, async (t) => {
    const server = await openAuthServer(t, { env })
    if (!server) return
    const { url } = server
    const { body } = await send(url, '/signup', { body: { email: newEmail(), password } })
    const token: string = body.access_token
    const [head = '', payload = '', signature = ''] = token.split('.')
    const real = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const claims = { ...real, role: 'service_role' }
    const now = real.iat
    const hs = { alg: 'HS256', typ: 'JWT' }
    const sign = (header: Header & { readonly alg: string }, key: KeyObject) =>
      new SignJWT(claims).setProtectedHeader(header).sign(key)
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const publicKeys = {
      'in PEM': pem,
      'in PEM without the last line break': pem.trim(),
      'in PEM of PKCS 1': rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
      'in DER': rsa.publicKey.export({ type: 'spki', format: 'der' }),
      'as a JWK': JSON.stringify(rsa.publicKey.export({ format: 'jwk' })),
      'its modulus': Buffer.from(`${rsa.publicKey.export({ format: 'jwk' }).n}`, 'base64url'),
    }
    const confused = Object.entries(publicKeys).flatMap(([form, key]) => [
      [`the public key ${form} as a secret`, forge(hs, claims, key)] as const,
      [`the same with its kid`, forge({ ...hs, kid: 'rsa' }, claims, key)] as const,
    ])
    const withoutSignature = ['none', 'None', 'NONE', 'nOnE', '', null, 0].flatMap((alg) => [
      [`alg ${alg}`, `${toSegment({ alg })}.${toSegment(claims)}.`] as const,
      [`alg ${alg}, one dot less`, `${toSegment({ alg })}.${toSegment(claims)}`] as const,
      [`alg ${alg} with a signature`, `${toSegment({ alg })}.${toSegment(claims)}.eA`] as const,
    ])
    const otherKid = forge({ ...hs, kid: 'rsa' }, claims, jwtSecret)
    const twice = JSON.stringify(claims).replace('{', '{"role":"authenticated","exp":1,')
    const forged: readonly (readonly [string, string])[] = [
      ...withoutSignature,
      ...confused,
      ['an unsupported algorithm', forge({ alg: 'HS512' }, claims, jwtSecret, 'sha512')],
      ['the name of a method as algorithm', forge({ alg: 'toString' }, claims, jwtSecret)],
      ['a list as algorithm', forge({ alg: ['HS256'] }, claims, jwtSecret)],
      ['RS256 with the secret', forge({ alg: 'RS256', kid: 'rsa' }, claims, jwtSecret)],
      ['an unknown kid', await sign({ alg: 'RS256', kid: 'x' }, theirRsa.privateKey)],
      ['a known kid', await sign({ alg: 'RS256', kid: 'rsa' }, theirRsa.privateKey)],
      ['no kid', await sign({ alg: 'RS256' }, theirRsa.privateKey)],
      ['the kid of another algorithm', await sign({ alg: 'RS256', kid: 'ec' }, rsa.privateKey)],
      ['the reverse', await sign({ alg: 'ES256', kid: 'rsa' }, ec.privateKey)],
      ['another hash for a key', await sign({ alg: 'RS512', kid: 'rsa' }, rsa.privateKey)],
      ['another padding for a key', await sign({ alg: 'PS256', kid: 'rsa' }, rsa.privateKey)],
      ['another curve', await sign({ alg: 'ES256', kid: 'ec' }, theirEc.privateKey)],
      [
        'a key in the header',
        await sign(
          { alg: 'RS256', jwk: theirRsa.publicKey.export({ format: 'jwk' }) },
          theirRsa.privateKey,
        ),
      ],
      [
        'a key set URL in the header',
        await sign({ alg: 'RS256', jku: 'https://evil.example/jwks' }, theirRsa.privateKey),
      ],
      ['a kid that is a file', forge({ ...hs, kid: '../../../dev/null' }, claims, '')],
      ['a kid that is SQL', forge({ ...hs, kid: "' union select 'a" }, claims, 'a')],
      ['a kid of the prototype', forge({ ...hs, kid: '__proto__' }, claims, '[object Object]')],
      ['no secret', forge(hs, claims, '')],
      ['another secret', forge(hs, claims, 'another secret of thirty-two bytes!')],
      ['the secret in base64', forge(hs, claims, Buffer.from(jwtSecret, 'base64'))],
      ['a changed body', `${head}.${toSegment(claims)}.${signature}`],
      ['a changed header', `${toSegment({ ...hs, x: 1 })}.${payload}.${signature}`],
      ['a truncated signature', `${head}.${payload}.${signature.slice(0, -4)}`],
      ['half a signature', `${head}.${payload}.${signature.slice(0, 20)}`],
      ['a longer signature', `${head}.${payload}.${signature}AAAA`],
      ['an empty signature', `${head}.${payload}.`],
      ['a signature of zeros', `${head}.${payload}.${'A'.repeat(signature.length)}`],
      ['no body', `${head}..${signature}`],
      ['five parts', `${token}.x.y`],
      ['no dots', 'token'],
      ['characters of plain base64', `${head}.${payload}.${signature.slice(0, -1)}+`],
      ['padding', `${token}=`],
      ['a body that is a list', forge(hs, [claims], jwtSecret)],
      ['a body that is null', forge(hs, 'null', jwtSecret)],
      ['a body that is not JSON', forge(hs, '{', jwtSecret)],
      ['expired', forge(hs, { ...claims, exp: now - 1 }, jwtSecret)],
      ['expired long ago', forge(hs, { ...claims, exp: -1 }, jwtSecret)],
      ['exp as a string', forge(hs, { ...claims, exp: '9999999999' }, jwtSecret)],
      ['exp null', forge(hs, { ...claims, exp: null }, jwtSecret)],
      ['not valid yet', forge(hs, { ...claims, nbf: now + 3_600 }, jwtSecret)],
      ['nbf as a string', forge(hs, { ...claims, nbf: '0' }, jwtSecret)],
      ...[['exp'], ['b64'], [], null, 'exp', {}].map(
        (crit) =>
          [
            `crit ${JSON.stringify(crit)} (property 52)`,
            forge({ ...hs, crit, b64: true }, claims, jwtSecret),
          ] as const,
      ),
      ['duplicate claims', forge(hs, twice, jwtSecret)],
      ['the same with spaces', forge(hs, twice.replaceAll('":', '" : '), jwtSecret)],
      ['the same in another spelling', forge(hs, twice.replace('role', 'r\\u006fle'), jwtSecret)],
      ...('AUTH_JWT_KEYS' in env
        ? ([['the secret with the kid of a key', otherKid]] as const)
        : []),
      ['alg twice', forge('{"alg":"none","alg":"HS256"}', claims, jwtSecret)],
      ['forty kilobytes', forge(hs, { ...claims, x: 'x'.repeat(30_000) }, 'another')],
    ]
    for (const [what, forgery] of forged) {
      for (const path of ['/user', '/admin/users']) {
        const answer = await send(url, path, { token: forgery })
        assert.deepEqual([answer.status, answer.body.error_code], [403, 'bad_jwt'], what)
        assert.match(answer.body.msg, /^invalid JWT: /, what)
      }
    }
    const huge = await send(url, '/user', { token: forge(hs, { x: 'x'.repeat(60_000) }, 'x') })
    assert.equal(huge.status, 431)

    const bare = { ...real, sub: undefined }
    const accepted = {
      'its own': token,
      'with spaces': forge(hs, JSON.stringify(real, null, 1), jwtSecret),
      'a nested name that also exists at the top level': forge(
        hs,
        `{ "sub": "${real.sub}", "a": { "sub": 1, "b": [{ "sub": "\\"{" }] } }`,
        jwtSecret,
      ),
    }
    for (const [what, good] of Object.entries(accepted)) {
      assert.equal((await send(url, '/user', { token: good })).status, 200, what)
    }
    const bareToken = await send(url, '/user', { token: forge(hs, bare, jwtSecret) })
    assert.deepEqual([bareToken.status, bareToken.body.error_code], [403, 'bad_jwt'])
  })
}

test('users cannot become administrators', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    ...samlEnvironment,
  })
  if (!server) return
  const { url, post, query } = server
  const roles = {
    role: 'service_role',
    roles: ['service_role'],
    is_super_admin: true,
    app_metadata: { role: 'service_role', claims_admin: true },
  }
  const assigned = {
    ...roles,
    id: '11111111-1111-4111-8111-111111111111',
    aud: 'elsewhere',
    email_confirmed_at: '2020-01-01T00:00:00Z',
    confirmed_at: '2020-01-01T00:00:00Z',
    phone_confirmed_at: '2020-01-01T00:00:00Z',
    email_confirm: true,
    is_anonymous: true,
    is_sso_user: true,
    banned_until: null,
    created_at: '2000-01-01T00:00:00Z',
    last_sign_in_at: '2000-01-01T00:00:00Z',
    invited_at: '2000-01-01T00:00:00Z',
    encrypted_password: '$2b$10$x',
    raw_app_meta_data: roles,
    identities: [{ provider: 'google', provider_id: '1' }],
    factors: [{ status: 'verified' }],
  }
  const columns = `id, aud, role, email_confirmed_at is not null as confirmed, phone, is_sso_user,
    is_anonymous, invited_at, raw_app_meta_data, created_at > now() - interval '1 day' as is_new,
    (select count(*)::int from identities i where i.user_id = u.id) as identities`
  const usual = {
    aud: '',
    role: '',
    confirmed: false,
    phone: null,
    is_sso_user: false,
    is_anonymous: false,
    invited_at: null,
    raw_app_meta_data: { provider: 'email', providers: ['email'] },
    is_new: true,
    identities: 1,
  }

  await t.test(
    'no user reaches an admin endpoint, whatever their token claims (property 10)',
    async () => {
      const { id, email } = await server.newUser()
      await query('update users set raw_user_meta_data = $2 where id = $1', [id, roles])
      const signedIn = await post('/token?grant_type=password', { email, password, ...roles })
      const { app_metadata: _, ...rest } = roles
      const token = signedIn.body.access_token
      await send(url, '/user', { method: 'PUT', body: { ...rest, data: roles }, token })
      const refused = await send(url, '/user', { method: 'PUT', body: roles, token })
      assert.deepEqual([refused.status, refused.body.error_code], [403, 'not_admin'])
      const refreshed = await post('/token?grant_type=refresh_token', {
        refresh_token: signedIn.body.refresh_token,
        ...roles,
      })
      const anonymous = await post('/signup', { data: roles, ...roles })
      assert.equal(anonymous.body.user.is_anonymous, true)
      const tokens = [token, refreshed.body.access_token, anonymous.body.access_token]
      const adminEndpoints = endpoints.filter(({ allowed }) => allowed === 'admin')
      assert.ok(adminEndpoints.length >= 9)
      for (const { method, path } of adminEndpoints) {
        for (const each of tokens) {
          const answer = await send(url, path.replaceAll(/:\w+/g, id), {
            method,
            token: each,
            ...(method !== 'GET' && { body: roles }),
            headers: { 'x-jwt-aud': 'service_role', apikey: server.serviceToken },
          })
          assert.equal(answer.status, 403, `${method} ${path}`)
          assert.equal(answer.body.error_code, 'not_admin', `${method} ${path}`)
        }
        const anonymous = await send(url, path.replaceAll(/:\w+/g, id), {
          method,
          ...(method !== 'GET' && { body: {} }),
        })
        assert.equal(anonymous.status, 401, `${method} ${path}`)
      }
    },
  )

  const signUps = {
    'POST /signup': '/signup',
    'POST /otp': '/otp',
    'POST /magiclink': '/magiclink',
  } as const
  for (const [name, path] of Object.entries(signUps)) {
    await t.test(`${name} assigns only the intended fields (property 11)`, async () => {
      const email = newEmail()
      const data = { ...assigned, sub: assigned.id, email: 'x@y.z', email_verified: true }
      const answer = await post(path, { ...assigned, email, password, data })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      const [row] = await query(`select ${columns} from users u where email = $1`, [email])
      assert.notEqual(row.id, assigned.id)
      assert.deepEqual(row, { ...usual, id: row.id })
      const [identity] = await query('select * from identities where user_id = $1', [row.id])
      const { sub, email: said, email_verified: verified } = identity.identity_data
      assert.deepEqual([sub, said, verified], [row.id, email, false])
    })
  }

  await t.test('PUT /user assigns only the intended fields (property 11)', async () => {
    const { id, email } = await server.newUser()
    const signedIn = await post('/token?grant_type=password', { email, password })
    const before = await query('select * from users where id = $1', [id])
    const { app_metadata: _, ...body } = assigned
    const answer = await send(url, '/user', {
      method: 'PUT',
      body: { ...body, email_change_confirm_status: 2, deleted_at: null },
      token: signedIn.body.access_token,
    })
    assert.equal(answer.status, 200)
    const after = await query('select * from users where id = $1', [id])
    assert.deepEqual({ ...after[0], updated_at: 0 }, { ...before[0], updated_at: 0 })
  })
})

test('with a configured issuer, tokens of other issuers are refused (property 52)', async (t) => {
  const issuer = 'https://auth.example/auth/v1'
  const server = await openAuthServer(t, {
    env: { AUTH_JWT_ISSUER: issuer, AUTH_JWT_ACCEPTED_ISSUERS: 'keys-of-ours' },
  })
  if (!server) return
  const { url } = server
  const { body } = await send(url, '/signup', { body: { email: newEmail(), password } })
  const [, payload = ''] = body.access_token.split('.')
  const real = JSON.parse(Buffer.from(payload, 'base64url').toString())
  assert.equal(real.iss, issuer)
  const requestWith = async (path: string, claims: object) => {
    const token = forge({ alg: 'HS256', typ: 'JWT' }, claims, jwtSecret)
    const { status, body: answer } = await send(url, path, { token })
    return [status, answer.error_code]
  }
  const service = { role: 'service_role' }
  const others = [
    'https://other.example',
    `${issuer}/`,
    '',
    'supabase',
    [issuer],
    { a: 1 },
    null,
    1,
  ]
  for (const iss of others) {
    const refused = [403, 'bad_jwt']
    assert.deepEqual(await requestWith('/user', { ...real, iss }), refused, JSON.stringify(iss))
    assert.deepEqual(await requestWith('/admin/users', { ...service, iss }), refused)
  }
  for (const iss of [issuer, 'keys-of-ours', undefined]) {
    assert.equal((await requestWith('/user', { ...real, iss }))[0], 200, iss)
    assert.equal((await requestWith('/admin/users', { ...service, iss }))[0], 200, iss)
  }
})

test('with an issuer, API keys generated by Supabase still work; without one, any issuer does (property 52)', async (t) => {
  const withIssuer = await openAuthServer(t, { env: { AUTH_JWT_ISSUER: 'https://auth.example' } })
  const without = await openAuthServer(t)
  if (!withIssuer || !without) return
  const statusOf = async (url: string, iss: string) => {
    const token = forge({ alg: 'HS256', typ: 'JWT' }, { role: 'service_role', iss }, jwtSecret)
    return (await send(url, '/admin/users', { token })).status
  }
  for (const iss of ['supabase', 'supabase-demo']) {
    assert.equal(await statusOf(withIssuer.url, iss), 200, iss)
  }
  assert.equal(await statusOf(withIssuer.url, 'anybody'), 403)
  assert.equal(await statusOf(without.url, 'anybody'), 200)
})
