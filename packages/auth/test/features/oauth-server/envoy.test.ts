/**
 * @servers postgres-embedded, envoy
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { openAuthorizationServer, queryOf } from '../../support/authorization-server.ts'
import { send } from '../../support/http-client.ts'

const filters = 'type.googleapis.com/envoy.extensions.filters.http'

/** Envoy signs users in (oauth2), and verifies the access token (jwt_authn) before it forwards a request. */
function toConfig(port: number, authUrl: string, id: string, secret: string) {
  const auth = new URL(authUrl)
  const address = (toPort: string | number) => ({
    socket_address: { address: '127.0.0.1', port_value: Number(toPort) },
  })
  const oauth2 = {
    '@type': `${filters}.oauth2.v3.OAuth2`,
    config: {
      token_endpoint: { cluster: 'auth', uri: `${authUrl}/oauth/token`, timeout: '60s' },
      authorization_endpoint: `${authUrl}/oauth/authorize`,
      redirect_uri: `http://127.0.0.1:${port}/callback`,
      redirect_path_matcher: { path: { exact: '/callback' } },
      signout_path: { path: { exact: '/signout' } },
      auth_type: 'BASIC_AUTH',
      auth_scopes: ['openid', 'email'],
      forward_bearer_token: true,
      credentials: {
        client_id: id,
        token_secret: { name: 'token' },
        hmac_secret: { name: 'hmac' },
      },
    },
  }
  const jwt = {
    '@type': `${filters}.jwt_authn.v3.JwtAuthentication`,
    providers: {
      auth: {
        issuer: authUrl,
        audiences: ['authenticated'],
        remote_jwks: {
          http_uri: { uri: `${authUrl}/.well-known/jwks.json`, cluster: 'auth', timeout: '60s' },
        },
      },
    },
    rules: [{ match: { prefix: '/' }, requires: { provider_name: 'auth' } }],
  }
  const manager = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'front',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [
            {
              match: { prefix: '/' },
              direct_response: { status: 200, body: { inline_string: 'private' } },
            },
          ],
        },
      ],
    },
    http_filters: [
      { name: 'envoy.filters.http.oauth2', typed_config: oauth2 },
      { name: 'envoy.filters.http.jwt_authn', typed_config: jwt },
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${filters}.router.v3.Router` },
      },
    ],
  }
  const chain = { name: 'envoy.filters.network.http_connection_manager', typed_config: manager }
  return JSON.stringify({
    static_resources: {
      listeners: [{ name: 'front', address: address(port), filter_chains: [{ filters: [chain] }] }],
      clusters: [
        {
          name: 'auth',
          connect_timeout: '60s',
          load_assignment: {
            cluster_name: 'auth',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: address(auth.port) } }] }],
          },
        },
      ],
      secrets: [
        { name: 'token', generic_secret: { secret: { inline_string: secret } } },
        { name: 'hmac', generic_secret: { secret: { inline_string: 'h'.repeat(32) } } },
      ],
    },
  })
}

test('Envoy signs users in with its OAuth filter, and verifies their access tokens', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const user = await server.users.newSignedInUser()
  const client = await server.newClient({ redirect_uris: ['http://127.0.0.1/callback'] })
  const { client_id: id, client_secret: secret = '' } = client
  const envoy = await open(t, 'envoy', {
    config: (port) => toConfig(port, server.url, id, secret),
  })
  if (!envoy) return
  const cookies = new Map<string, string>()
  const visit = async (path: string) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await send(envoy.url, path, { headers: { cookie } })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    return answer
  }

  const first = await visit('/private')
  assert.equal(first.status, 302)
  const start = first.headers.get('location') ?? ''
  assert.ok(start.startsWith(`${server.url}/oauth/authorize?`), start)
  const started = await send(server.url, start.slice(server.url.length))
  const { authorization_id: request = '' } = queryOf(started)
  await server.details(user, request)
  const { body } = await server.decide(user, request, 'approve')
  const { pathname, search } = new URL(body.redirect_url)
  const back = await visit(`${pathname}${search}`)
  assert.equal(back.status, 302)
  const opened = await visit('/private')
  assert.deepEqual([opened.status, opened.body], [200, 'private'])
})
