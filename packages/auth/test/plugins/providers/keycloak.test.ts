/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type ExternalServer, openExternalServer } from '../../support/external-server.ts'
import { send } from '../../support/http-client.ts'
import {
  type KeycloakExchange,
  keycloakClient,
  keycloakMissing,
  openKeycloak,
  recordExchange,
} from '../../support/keycloak.ts'

const recording = join(import.meta.dirname, '../../support/keycloak-exchange.json')
const { clientId, secret, redirectUri } = keycloakClient

function openServer(t: TestContext): Promise<ExternalServer | undefined> {
  return openExternalServer(t, [], {
    AUTH_CUSTOM_OAUTH_INTERNAL_HOSTS: '127.0.0.1',
    // The redirect address of the recording.
    AUTH_CUSTOM_OAUTH_SHARED_CALLBACK: 'true',
  })
}

/** Registers Keycloak as a custom provider. */
async function register(
  { url, serviceToken: token }: ExternalServer,
  issuer: string,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { status, body } = await send(url, '/admin/custom-providers', {
    token,
    body: {
      provider_type: 'oidc',
      identifier: 'custom:acme',
      name: 'Acme',
      client_id: clientId,
      client_secret: secret,
      scopes: ['profile', 'email'],
      issuer,
      ...more,
    },
  })
  assert.equal(status, 201, JSON.stringify(body))
}

async function checkReturned(server: ExternalServer, url: string, cookie: string): Promise<void> {
  const returned = await server.finishFlow({ url }, cookie)
  const location = new URL(returned.headers.get('location') ?? '')
  const tokens = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  assert.ok(tokens['access_token'], `${location}`)
  const { body: user } = await send(server.url, '/user', { token: tokens['access_token'] })
  assert.equal(user.email, 'ada@acme.example')
  const { name, given_name, preferred_username } = user.identities[0].identity_data
  assert.deepEqual([name, given_name, preferred_username], ['Ada Lovelace', 'Ada', 'ada'])
}

test('users sign in with a real Keycloak', { skip: keycloakMissing }, async (t) => {
  const keycloak = await openKeycloak(t)
  const server = await openServer(t)
  if (!server) return
  if (process.env['UPDATE_RECORDING'] === '1') {
    writeFileSync(recording, `${JSON.stringify(await recordExchange(keycloak), null, 2)}\n`)
  }
  await register(server, keycloak.issuer)
  const { url, cookie } = await server.startFlow({ provider: 'custom:acme' })
  await checkReturned(server, await keycloak.logIn(`${url}`), cookie)
})

async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** Answers like Keycloak did, but only to the right requests of the same flow. */
async function replay(t: TestContext, exchange: KeycloakExchange) {
  let challenge: string | null = null
  const { origin: recorded } = new URL(exchange.issuer)
  const pathOf = (name: string) => new URL(`${exchange.discovery[name]}`).pathname
  const basic = `Basic ${Buffer.from(new URLSearchParams({ [clientId]: secret }).toString().replace('=', ':')).toString('base64')}`
  const answer = async (request: IncomingMessage, origin: string) => {
    switch (request.url) {
      case new URL(`${exchange.issuer}/.well-known/openid-configuration`).pathname: {
        const moved = JSON.stringify(exchange.discovery).replaceAll(recorded, origin)
        return { ...JSON.parse(moved), issuer: exchange.issuer }
      }
      case pathOf('jwks_uri'):
        return exchange.keys
      case pathOf('token_endpoint'): {
        const form = Object.fromEntries(new URLSearchParams(await readBody(request)))
        const { code_verifier: verifier = '', ...others } = form
        const { code } = exchange.redirect
        assert.deepEqual(others, {
          grant_type: 'authorization_code',
          code,
          redirect_uri: redirectUri,
        })
        assert.equal(createHash('sha256').update(verifier).digest('base64url'), challenge)
        assert.equal(request.headers.authorization, basic)
        return exchange.tokens
      }
      case pathOf('userinfo_endpoint'):
        assert.equal(request.headers.authorization, `Bearer ${exchange.tokens['access_token']}`)
        return exchange.userinfo
      default:
        throw new Error(`Keycloak was not asked for ${request.url}`)
    }
  }
  const http = createServer((request, response) => {
    answer(request, `http://${request.headers.host}`).then(
      (body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(`${error}`),
    )
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => http.close())
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    /** Returns the URL that the browser is redirected to. */
    logIn({ searchParams: query }: URL) {
      challenge = query.get('code_challenge')
      assert.equal(query.get('nonce'), exchange.nonce)
      const state = query.get('state') ?? ''
      return `${redirectUri}?${new URLSearchParams({ ...exchange.redirect, state })}`
    },
  }
}

test('users sign in with a recorded Keycloak', async (t) => {
  const exchange: KeycloakExchange = JSON.parse(readFileSync(recording, 'utf8'))
  const server = await openServer(t)
  if (!server) return
  server.clock.aheadMs = exchange.nowMs - Date.now()
  const keycloak = await replay(t, exchange)
  const { pathname } = new URL(`${exchange.issuer}/.well-known/openid-configuration`)
  await register(server, exchange.issuer, { discovery_url: `${keycloak.url}${pathname}` })
  const { nonce } = exchange
  const { url, cookie } = await server.startFlow({ provider: 'custom:acme', nonce })
  await checkReturned(server, keycloak.logIn(url), cookie)
})
