/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthServer } from '../../support/auth-server.ts'
import { sdk, send } from '../../support/http-client.ts'

test('client features that this server does not support return a specific error', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const cases = [
    ['POST', '/sso', 404, 'saml_provider_disabled', 'SAML 2.0 is disabled'],
    ['GET', '/admin/sso/providers', 404, 'saml_provider_disabled', 'SAML 2.0 is disabled'],
    ['POST', '/token?grant_type=web3', 422, 'web3_provider_disabled', 'Web3 provider is disabled'],
    ['GET', '/oauth/authorize', 404, 'feature_disabled', 'OAuth server is disabled'],
  ] as const
  for (const [method, path, status, code, message] of cases) {
    const answer = await send(server.url, path, {
      method,
      headers: sdk,
      ...(method === 'POST' && { body: {} }),
    })
    assert.deepEqual([answer.status, answer.body.code], [status, code], path)
    assert.equal(answer.body.message, message)
  }
})

test('a disabled feature is reported before the fields of the body are checked', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const cases = [
    ['/sso', 'saml_provider_disabled', { domain: 1 }],
    // The client library sends a signature of bytes as an object.
    ['/token?grant_type=web3', 'web3_provider_disabled', { signature: { 0: 1, 1: 2 } }],
  ] as const
  for (const [path, code, body] of cases) {
    const answer = await send(server.url, path, { method: 'POST', headers: sdk, body })
    assert.equal(answer.body.code, code, path)
  }
  const other = await send(server.url, '/token?grant_type=password', {
    body: { signature: { 0: 1 } },
    headers: sdk,
  })
  assert.equal(other.body.code, 'bad_json')
})
