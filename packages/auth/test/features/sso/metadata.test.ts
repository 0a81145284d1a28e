/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createAuthority } from '@portcullis/test-servers'
import { fragmentOf, queryOf } from '../../support/flow-server.ts'
import { send } from '../../support/http-client.ts'
import { createIdentityProvider, createKey } from '../../support/saml/identity-provider.ts'
import { acsUrl, entityId, openSsoServer } from '../../support/saml/sso-server.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

test('metadata is read again daily, and when a response has an unknown key', async (t) => {
  const authority = createAuthority('tests')
  const { certificate, key } = authority.issue('localhost')
  const idp = createIdentityProvider(acsUrl, entityId)
  let document = ''
  let requests = 0
  const http = createServer({ cert: certificate, key }, (_request, response) => {
    requests += 1
    if (document === '') response.writeHead(503)
    response.end(document)
  })
  await new Promise<void>((resolve) => http.listen(0, resolve))
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  const env = { AUTH_SAML_METADATA_ALLOWED_HOSTS: 'localhost' }
  const server = await openSsoServer(t, env, { metadataCa: authority.certificate })
  if (!server) return
  const { port } = http.address() as AddressInfo
  // Whatever the provider says, its metadata is read again after a day.
  const longCache = 'cacheDuration="P365D"'
  document = idp.metadata(undefined, longCache)
  const { status, body } = await send(server.url, '/admin/sso/providers', {
    token: server.serviceToken,
    body: { type: 'saml', metadata_url: `https://localhost:${port}/metadata` },
  })
  assert.equal(status, 201, JSON.stringify(body))
  assert.equal(requests, 1)
  const company = { id: `${body.id}`, idp }
  const isSignedIn = async (options: object = {}) => {
    const answer = await server.signIn(company, options)
    const { access_token: token } = fragmentOf(answer)
    return token === undefined ? queryOf(answer)['error_description'] : true
  }
  const unknown =
    'SAML Assertion is not valid: the signature does not match any key of the identity provider'

  await t.test('a new key is found, but not more often than every five minutes', async () => {
    const next = createKey()
    assert.equal(await isSignedIn({ key: next }), unknown)
    assert.equal(requests, 1)
    server.clock.aheadMs += 6 * minuteMs
    document = idp.metadata([idp.key, next], longCache)
    assert.equal(await isSignedIn({ key: next }), true)
    assert.equal(requests, 2)
    assert.equal(await isSignedIn({ key: createKey() }), unknown)
    assert.equal(requests, 2)
  })

  await t.test('a key that the provider has withdrawn is refused after a day', async () => {
    const withdrawn = createKey()
    server.clock.aheadMs += 6 * minuteMs
    document = idp.metadata([idp.key, withdrawn], longCache)
    assert.equal(await isSignedIn({ key: withdrawn }), true)
    document = idp.metadata(undefined, longCache)
    assert.equal(await isSignedIn({ key: withdrawn }), true)
    server.clock.aheadMs += dayMs + minuteMs
    assert.equal(await isSignedIn({ key: withdrawn }), unknown)
    assert.equal(await isSignedIn(), true)
  })

  await t.test('the stored metadata is used while the URL does not respond', async () => {
    document = ''
    server.clock.aheadMs += dayMs + minuteMs
    assert.equal(await isSignedIn(), true)
    // Nor is metadata of another provider used.
    document = createIdentityProvider(acsUrl, entityId).metadata()
    server.clock.aheadMs += dayMs + minuteMs
    assert.equal(await isSignedIn(), true)
  })
})
