/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyText } from '../../src/features/api-keys/key-text.ts'
import { createTokenSigner } from '../../src/tokens/json-web-token.ts'
import { createSigningKeys } from '../../src/tokens/signing-keys.ts'
import { openKeyServer } from '../support/api-keys.ts'
import { jwtSecret } from '../support/auth-server.ts'
import { checkRequest, openCheckClient } from '../support/ext-authz.ts'
import { send } from '../support/http-client.ts'

const settings = { AUTH_EXT_AUTHZ_ENABLED: 'true', AUTH_EXT_AUTHZ_GRPC_ADDRESS: '127.0.0.1:0' }

test('ext_authz: guesses of API keys are limited by client, and expired tokens are not guesses (property 125)', async (t) => {
  const server = await openKeyServer(t, { ...settings, AUTH_RATE_LIMIT_API_KEY_GUESS: '2' })
  if (!server) return
  const client = await openCheckClient(server.checksPort)
  t.after(() => client.close())
  const ada = await server.signUp()
  const fields = { user_id: ada.id, name: 'a' }
  const { api_key: key } = (await server.asAdmin('POST', '/admin/api-keys', fields)).body
  const wrong = createKeyText(ada.id)
  const check = async (token: string, ip: string) =>
    (await checkRequest(client, { token, ip })).status
  const attacker = '192.0.2.1'

  for (const token of ['expired', ada.token.slice(0, -5), '']) {
    for (let count = 0; count < 3; count++) assert.equal(await check(token, attacker), 401)
  }
  assert.deepEqual([await check(wrong, attacker), await check('pck_x', attacker)], [401, 401])
  // A right guess is refused as well, so that guessing is useless.
  assert.deepEqual([await check(wrong, attacker), await check(key, attacker)], [429, 429])
  const refused = await checkRequest(client, { token: wrong, ip: attacker })
  assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)
  assert.match(refused.body, /over_request_rate_limit/)
  assert.equal(await check(key, '192.0.2.2'), 200)
  // Signed-in users at the same address are not locked out.
  assert.equal(await check(ada.token, attacker), 200)

  // Over HTTP the address may be that of Envoy, so valid keys are still accepted.
  const ask = async (token: string) => (await send(server.url, '/ext-authz/', { token })).status
  assert.deepEqual([await ask(wrong), await ask(wrong), await ask(wrong)], [401, 401, 429])
  assert.equal(await ask(key), 200)
})

test('ext_authz: tokens and keys for another audience, and delegated tokens, are refused (property 126)', async (t) => {
  const audiences = { AUTH_JWT_AUD: 'authenticated', AUTH_JWT_ALLOWED_AUDIENCES: 'reports' }
  const byDefault = await openKeyServer(t, { ...settings, ...audiences })
  const chosen = await openKeyServer(t, {
    ...settings,
    ...audiences,
    AUTH_EXT_AUTHZ_AUDIENCES: 'reports,https://api.example',
  })
  if (!byDefault || !chosen) return
  const signer = createTokenSigner(
    createSigningKeys({ secret: jwtSecret, keyId: undefined, keys: undefined }),
  )
  for (const [server, accepted] of [
    [byDefault, 'authenticated'],
    [chosen, 'reports'],
  ] as const) {
    const client = await openCheckClient(server.checksPort)
    t.after(() => client.close())
    const judge = async (token: string) => {
      const { status, headers, body } = await checkRequest(client, { token })
      assert.equal((await send(server.url, '/ext-authz/', { token })).status, status)
      if (status === 200) return 'accepted'
      assert.equal(headers['www-authenticate'], 'Bearer error="invalid_token"')
      return JSON.parse(body).error_code
    }
    for (const aud of ['authenticated', 'reports']) {
      const user = { email: `${aud}@example.com`, password: 'a long password', aud }
      const { body } = await server.asAdmin('POST', '/admin/users', {
        ...user,
        email_confirm: true,
      })
      const fields = { user_id: body.id, name: 'a' }
      const { api_key: key } = (await server.asAdmin('POST', '/admin/api-keys', fields)).body
      const expected = aud === accepted ? 'accepted' : 'unexpected_audience'
      assert.equal(await judge(key), expected, `a key for ${aud}`)
      assert.equal(await judge((await server.exchange(key)).body.access_token), expected)
      const sign = (claims: object) =>
        signer.sign({ sub: body.id, exp: Math.floor(server.clock.now() / 1_000) + 60, ...claims })
      assert.equal(await judge(sign({ aud })), expected)
      assert.equal(await judge(sign({ aud: ['https://other.example', aud] })), expected)
      assert.equal(await judge(sign({ aud: 'https://other.example' })), 'unexpected_audience')
      assert.equal(await judge(sign({})), 'unexpected_audience')
      assert.equal(await judge(sign({ aud: accepted, token_use: 'delegated' })), 'bad_jwt')
    }
  }
})

test('ext_authz: what was revoked is refused with the next request, and identity headers cannot be forged (property 127)', async (t) => {
  const server = await openKeyServer(t, settings)
  if (!server) return
  const client = await openCheckClient(server.checksPort)
  t.after(() => client.close())
  const [ada, ben, eve] = [await server.signUp(), await server.signUp(), await server.signUp()]
  const fields = { user_id: ada.id, name: 'a', plan: 'pro' }
  const { api_key: key, id } = (await server.asAdmin('POST', '/admin/api-keys', fields)).body
  const token = (await server.exchange(key)).body.access_token
  const all = [ada.token, ben.token, eve.token, key, token]
  const statuses = async () => {
    const decisions = await Promise.all(all.map((each) => checkRequest(client, { token: each })))
    return decisions.map(({ status }) => status)
  }
  assert.deepEqual(await statuses(), [200, 200, 200, 200, 200])
  const names = ['x-auth-user-id', 'x-auth-role', 'x-auth-key-id', 'x-auth-scope', 'x-auth-plan']
  const forged = Object.fromEntries(
    [...names, 'x-auth-admin', 'x_auth_role'].map((name) => [name, 'forged']),
  )
  const { headers, removed } = await checkRequest(client, { token: ben.token, headers: forged })
  assert.deepEqual(headers, {
    ...Object.fromEntries(names.map((name) => [name, ''])),
    'x-auth-user-id': ben.id,
  })
  assert.deepEqual(removed, ['x-auth-admin', 'x_auth_role'])

  await send(server.url, '/logout', { method: 'POST', token: ada.token })
  await server.asAdmin('PUT', `/admin/users/${ben.id}`, { ban_duration: '1h' })
  await server.asAdmin('DELETE', `/admin/users/${eve.id}`)
  await server.asAdmin('DELETE', `/admin/api-keys/${id}`)
  assert.deepEqual(await statuses(), [401, 401, 401, 401, 401])
})
