/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { openAuthServer } from '../../support/auth-server.ts'
import { newEmail, password, send } from '../../support/http-client.ts'

test('AUTH_SECURITY_REFRESH_TOKEN_ALLOW_REUSE accepts every earlier token of a session', async (t) => {
  const server = await openAuthServer(t, {
    env: { GOTRUE_SECURITY_REFRESH_TOKEN_ALLOW_REUSE: 'true' },
  })
  if (!server) return
  const { url, clock } = server
  const refresh = async (refresh_token: string) =>
    send(url, '/token?grant_type=refresh_token', { body: { refresh_token } })
  const { body } = await send(url, '/signup', { body: { email: newEmail(), password } })
  const tokens: string[] = [body.refresh_token]
  for (let count = 0; count < 3; count += 1) {
    tokens.push((await refresh(tokens.at(-1) ?? '')).body.refresh_token)
  }
  clock.aheadMs += 3_600_000
  for (const token of tokens.slice(0, -1)) {
    const answer = await refresh(token)
    assert.deepEqual([answer.status, answer.body.refresh_token], [200, tokens.at(-1)])
  }
  assert.equal((await refresh(tokens.at(-1) ?? '')).status, 200, 'the session continues')
})

test('AUTH_JWT_VALID_METHODS refuses tokens that the secret has signed', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = privateKey.export({ format: 'jwk' })
  const key = { ...jwk, kid: 'a', alg: 'ES256', key_ops: ['sign', 'verify'] }
  const keys = { GOTRUE_JWT_KEYS: JSON.stringify([key]) }
  for (const [methods, status] of [
    ['ES256', 403],
    ['ES256,HS256', 200],
    ['', 200],
  ] as const) {
    const server = await openAuthServer(t, {
      env: { ...keys, GOTRUE_JWT_VALID_METHODS: methods },
    })
    if (!server) return
    const { url, serviceToken } = server
    const users = await send(url, '/admin/users', { token: serviceToken })
    assert.equal(users.status, status, methods)
    if (status === 403) assert.match(users.body.msg, /signing method HS256 is invalid/)
    const { body } = await send(url, '/signup', { body: { email: newEmail(), password } })
    assert.equal((await send(url, '/user', { token: body.access_token })).status, 200)
  }
})
