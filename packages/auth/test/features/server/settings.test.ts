/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { providerIds, specifiedProviderIds } from '../../../src/plugins/providers/index.ts'
import { openAuthServer } from '../../support/auth-server.ts'
import { openExternalServer } from '../../support/external-server.ts'
import { sdk, send } from '../../support/http-client.ts'

/** The keys of `external` that clients of Supabase Auth read. */
const supabaseKeys = [
  ...['anonymous_users', 'apple', 'azure', 'bitbucket', 'discord', 'email', 'facebook', 'figma'],
  ...['fly', 'github', 'gitlab', 'google', 'kakao', 'keycloak', 'linkedin', 'linkedin_oidc'],
  ...['notion', 'phone', 'slack', 'slack_oidc', 'snapchat', 'spotify', 'twitch', 'twitter'],
  ...['workos', 'zoom'],
]
const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }

test('clients of Supabase Auth get its settings', async (t) => {
  const auto = await openAuthServer(t, { env })
  const upstream = await openAuthServer(t, { env: { ...env, AUTH_COMPAT_MODE: 'upstream' } })
  if (!auto || !upstream) return
  const answers = [
    await send(auto.url, '/settings', { headers: sdk }),
    await send(upstream.url, '/settings'),
  ]
  for (const { body } of answers) {
    for (const key of supabaseKeys) assert.equal(typeof body.external[key], 'boolean', key)
    const { email, phone, anonymous_users: anonymous, github } = body.external
    assert.deepEqual([email, phone, anonymous, github], [true, false, true, false])
    const { saml_enabled, saml_private_key_next_configured, passkeys_enabled } = body
    assert.deepEqual(
      [saml_enabled, saml_private_key_next_configured, passkeys_enabled],
      [false, false, false],
    )
    assert.deepEqual(
      [body.disable_signup, body.mailer_autoconfirm, body.phone_autoconfirm, body.sms_provider],
      [false, true, false, ''],
    )
  }
})

test('other clients get the providers of this server only', async (t) => {
  const server = await openAuthServer(t, { env: { ...env, AUTH_COMPAT_MODE: 'specification' } })
  if (!server) return
  for (const headers of [{}, sdk]) {
    const { body } = await send(server.url, '/settings', { headers })
    const named = Object.keys(body.external)
    assert.ok(named.every((id) => providerIds.some((known) => known === id)))
    assert.ok(!('email' in body.external) && !('saml_enabled' in body))
    assert.equal(body.autoconfirm, true)
  }
})

test('the discovery document names the issuer, the keys and their algorithms', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { ...privateKey.export({ format: 'jwk' }), kid: 'a', alg: 'ES256' }
  const server = await openAuthServer(t, {
    env: {
      AUTH_JWT_KEYS: JSON.stringify([{ ...key, key_ops: ['sign', 'verify'] }]),
      AUTH_JWT_ISSUER: 'https://issuer.example/auth/v1',
    },
  })
  if (!server) return
  const { status, body, headers } = await send(server.url, '/.well-known/openid-configuration')
  assert.equal(status, 200)
  assert.equal(headers.get('cache-control'), 'public, max-age=600')
  assert.equal(body.issuer, 'https://issuer.example/auth/v1')
  assert.equal(body.jwks_uri, 'https://auth.example/.well-known/jwks.json')
  assert.deepEqual(body.id_token_signing_alg_values_supported, ['ES256'])
  const { keys } = (await send(server.url, new URL(body.jwks_uri).pathname)).body
  assert.equal(keys[0].kid, 'a')
})

test('the discovery document names only endpoints that exist', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const { body } = await send(server.url, '/.well-known/openid-configuration')
  assert.equal(body.issuer, 'https://auth.example', 'without AUTH_JWT_ISSUER, the public URL')
  assert.deepEqual(body.id_token_signing_alg_values_supported, ['HS256'])
  const urls = Object.values(body).filter(
    (value): value is string => typeof value === 'string' && value !== body.issuer,
  )
  assert.ok(urls.length > 0)
  for (const url of urls) {
    const { status } = await send(server.url, new URL(url).pathname)
    assert.notEqual(status, 404, url)
  }
})

test('GET /settings lists seventeen providers, then the enabled ones among the others', async (t) => {
  const server = await openExternalServer(t, ['github', 'zoom', 'linkedin_oidc'])
  if (!server) return
  const { body } = await send(server.url, '/settings')
  assert.equal(specifiedProviderIds.length, 17)
  assert.deepEqual(Object.keys(body.external), [...specifiedProviderIds, 'linkedin_oidc', 'zoom'])
  const enabled = Object.keys(body.external).filter((id) => body.external[id])
  assert.deepEqual(enabled, ['github', 'linkedin_oidc', 'zoom'])
})
