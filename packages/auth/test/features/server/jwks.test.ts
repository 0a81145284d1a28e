/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { openAuthServer } from '../../support/auth-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

test('a symmetric signing secret is not published as a public key', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const { status, body, headers } = await send(server.url, '/.well-known/jwks.json')
  assert.equal(status, 200)
  assert.deepEqual(body, { keys: [] })
  assert.equal(headers.get('cache-control'), 'public, max-age=600')
})

test('access tokens can be verified with the public keys, which have no private part', async (t) => {
  const signing = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const former = generateKeyPairSync('ed25519')
  const keys = [
    {
      ...signing.privateKey.export({ format: 'jwk' }),
      ...{ kid: 'now', alg: 'ES256', key_ops: ['sign', 'verify'] },
    },
    {
      ...former.publicKey.export({ format: 'jwk' }),
      ...{ kid: 'before', alg: 'EdDSA', key_ops: ['verify'] },
    },
    {
      ...{ kty: 'oct', k: randomBytes(32).toString('base64url') },
      ...{ kid: 'shared', alg: 'HS256', key_ops: ['verify'] },
    },
  ]
  const server = await openAuthServer(t, { env: { AUTH_JWT_KEYS: JSON.stringify(keys) } })
  if (!server) return
  const { body } = await send(server.url, '/.well-known/jwks.json')
  assert.deepEqual(
    body.keys.map(({ kid, kty, alg, use, key_ops }: Record<string, unknown>) => ({
      ...{ kid, kty, alg, use, key_ops },
    })),
    [
      { kid: 'now', kty: 'EC', alg: 'ES256', use: 'sig', key_ops: ['verify'] },
      { kid: 'before', kty: 'OKP', alg: 'EdDSA', use: 'sig', key_ops: ['verify'] },
    ],
  )
  for (const key of body.keys) assert.equal('d' in key || 'k' in key, false)
  const email = newEmail()
  const signup = await send(server.url, '/signup', { body: { email, password } })
  const verified = await jwtVerify(signup.body.access_token, createLocalJWKSet(body))
  assert.equal(verified.protectedHeader.kid, 'now')
  assert.equal(verified.payload['email'], email)
})
