import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { OutgoingError } from '../../../src/outgoing/http-client.ts'
import { defineOAuth2, type OAuth2Definition } from '../../../src/plugins/providers/oauth/oauth2.ts'
import { createOpenId } from '../../../src/plugins/providers/oauth/oidc.ts'
import { toOneEmail, toProfile } from '../../../src/plugins/providers/oauth/profile-parts.ts'
import { createProviderHttp } from '../../../src/plugins/providers/oauth/provider-http.ts'
import { type OAuthServer, openOAuthServer } from '../../support/oauth-server.ts'
import { keycloak } from '../../support/provider-shapes/keycloak.ts'

const paths = {
  authorizeUrl: ({ url }: { url: string }) => `${url}/protocol/openid-connect/auth`,
  tokenUrl: ({ url }: { url: string }) => `${url}/protocol/openid-connect/token`,
}

/** A minimal provider definition, registered with a server. */
function createSteps(server: OAuthServer, more: Partial<OAuth2Definition> = {}) {
  const http = createProviderHttp({ timeoutMs: 60_000, maxBytes: 100_000 })
  return defineOAuth2({
    ...paths,
    scopes: ['profile', 'email'],
    readProfile: async ({ tokens }) =>
      toProfile({ id: tokens.accessToken, issuer: '', emails: toOneEmail('a@b.example', true) }),
    ...more,
  }).create({
    id: 'keycloak',
    clientIds: [server.clientId],
    secret: server.secret,
    redirectUri: 'https://auth.example/callback',
    at: { url: server.url, apiUrl: server.url, isPublic: false },
    http,
    openId: createOpenId({ http, now: Date.now }),
  })
}

async function signInWith(server: OAuthServer, steps: ReturnType<typeof createSteps>) {
  const { url, memo } = await steps.start({ state: 's', scopes: [], parameters: {} })
  const back = new URL((await server.agree(url)).url)
  return steps.exchange({ parameters: Object.fromEntries(back.searchParams), memo })
}

test('client credentials are sent in the form that the provider accepts', async (t) => {
  await t.test('in the Authorization header first, percent-encoded', async (t) => {
    const server = await openOAuthServer(t, { ...keycloak, credentials: 'basic' })
    assert.match((await signInWith(server, createSteps(server))).accessToken, /^access /)
    assert.deepEqual(server.refusals, [])
  })
  await t.test('in the body if the header is refused', async (t) => {
    const server = await openOAuthServer(t, { ...keycloak, credentials: 'body' })
    assert.match((await signInWith(server, createSteps(server))).accessToken, /^access /)
    assert.deepEqual(server.refusals, ['credentials not in the body'])
  })
  await t.test('in the body at once if the definition says so', async (t) => {
    const server = await openOAuthServer(t, { ...keycloak, credentials: 'body' })
    await signInWith(server, createSteps(server, { credentials: 'body' }))
    assert.deepEqual(server.refusals, [])
  })
  await t.test('only once if the definition says so', async (t) => {
    const server = await openOAuthServer(t, { ...keycloak, credentials: 'body' })
    await assert.rejects(signInWith(server, createSteps(server, { credentials: 'basic' })))
    assert.equal(server.refusals.length, 1)
  })
})

test('a 200 response that contains an error is an error', async (t) => {
  const server = await openOAuthServer(t, { ...keycloak, hidesRefusals: true })
  const steps = createSteps(server, { usesPkce: true })
  const { url } = await steps.start({ state: 's', scopes: [], parameters: {} })
  const back = new URL((await server.agree(url)).url)
  const parameters = Object.fromEntries(back.searchParams)
  await assert.rejects(steps.exchange({ parameters, memo: { verifier: 'another' } }), {
    message: 'keycloak returned no access token: invalid_grant',
  })
})

test('scopes are fixed and parameters renamed according to the definition', async (t) => {
  const server = await openOAuthServer(t, keycloak)
  const steps = createSteps(server, {
    hasFixedScopes: true,
    renamed: { workos_provider: 'provider' },
    parameters: { response_mode: 'form_post' },
  })
  const parameters = { workos_provider: 'x', response_mode: 'query' }
  const { url } = await steps.start({ state: 's', scopes: ['more'], parameters })
  const query = Object.fromEntries(new URL(url).searchParams)
  assert.deepEqual(
    [query['scope'], query['provider'], query['response_mode']],
    ['profile email', 'x', 'form_post'],
  )
})

async function openAnswer(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x?secret=1`
}

test('a provider response is limited in time and size, and redirects are not followed', async (t) => {
  const cases: readonly (readonly [string, RequestListener, RegExp])[] = [
    ['no response', () => {}, /did not respond within 100 ms/],
    ['half a response', (_, to) => void to.write('{"a":'), /did not respond within 100 ms/],
    ['too much', (_, to) => void to.end(`"${'x'.repeat(2_000)}"`), /is longer than 1000 bytes/],
    ['a redirect', (_, to) => void to.writeHead(302, { location: '/' }).end(), /cannot be reached/],
    ['no JSON', (_, to) => void to.end('<html>'), /x responded with neither JSON nor form data/],
    ['a list', (_, to) => void to.end('[]'), /JSON that is not an object/],
    ['503', (_, to) => void to.writeHead(503).end('{"error":"busy"}'), /x responded with 503 busy/],
    ['zoom', (_, to) => void to.writeHead(401).end('{"code":124,"message":"m"}'), /with 401 m$/],
    ['kakao', (_, to) => void to.writeHead(401).end('{"code":-401,"msg":"m"}'), /with 401 m$/],
    ['x', (_, to) => void to.writeHead(403).end('{"detail":"m","status":403}'), /with 403 m$/],
    ['an object', (_, to) => void to.writeHead(500).end('{"message":{"a":1}}'), /with 500$/],
    [
      'a long reason',
      (_, to) => void to.writeHead(500).end(JSON.stringify({ message: 'y'.repeat(900) })),
      /with 500 y{200}$/,
    ],
  ]
  for (const [what, listener, message] of cases) {
    await t.test(what, async (t) => {
      // A slow machine must not affect the cases that expect a response.
      const timeoutMs = message.source.includes('100 ms') ? 100 : 20_000
      const http = createProviderHttp({ timeoutMs, maxBytes: 1_000 })
      await assert.rejects(http.fetchObject(await openAnswer(t, listener)), (error) => {
        assert.ok(error instanceof OutgoingError)
        assert.match(error.message, message)
        return !error.message.includes('secret')
      })
    })
  }
})

test('a profile without an id is refused', () => {
  for (const id of [undefined, null, '']) {
    assert.throws(() => toProfile({ id, issuer: '', emails: [] }), TypeError)
  }
})
