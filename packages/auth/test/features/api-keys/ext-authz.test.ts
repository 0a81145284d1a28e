/**
 * @servers postgres-embedded, envoy
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { openKeyServer } from '../../support/api-keys.ts'
import { send } from '../../support/http-client.ts'
import { listen } from '../../verify/listen.ts'

const headerNames = [
  'x-auth-user-id',
  'x-auth-role',
  'x-auth-key-id',
  'x-auth-scope',
  'x-auth-plan',
]

test('Envoy refuses revoked tokens and keys, and passes on who the caller is', async (t) => {
  const server = await openKeyServer(t, { AUTH_EXT_AUTHZ_ENABLED: 'true' })
  if (!server) return
  const api = await listen(t, ({ headers, method }, response) => {
    const shown = headerNames.map((name) => headers[name] ?? '')
    response.setHeader('content-type', 'application/json').end(JSON.stringify([method, ...shown]))
  })
  const envoy = await open(t, 'envoy', { config: (port) => toConfig(port, server.url, api) })
  if (!envoy) return
  const { asAdmin, exchange } = server
  const ada = await server.signUp()
  const path = '/reports/7?full=true'
  const call = (token: string, method = 'GET') =>
    send(envoy.url, path, { method, token, ...(method !== 'GET' && { body: { a: 1 } }) })

  const forged = Object.fromEntries(headerNames.map((name) => [name, 'forged']))
  const root = await send(envoy.url, '/', { token: ada.token })
  assert.deepEqual([root.status, root.body[1]], [200, ada.id])
  const own = await send(envoy.url, path, { token: ada.token, headers: forged })
  assert.deepEqual([own.status, own.body], [200, ['GET', ada.id, '', '', '', '']])
  const created = await asAdmin('POST', '/admin/api-keys', {
    user_id: ada.id,
    name: 'a',
    scopes: ['read', 'write'],
    plan: 'pro plan',
  })
  const { api_key: text, id } = created.body
  const token = (await exchange(text)).body.access_token
  const byKey = [ada.id, '', id, 'read write', 'pro%20plan']
  assert.deepEqual((await call(text)).body, ['GET', ...byKey])
  // Claims are not encoded when they are signed, and the header is the same.
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.deepEqual((await call(token, method)).body, [method, ...byKey])
  }
  await asAdmin('DELETE', `/admin/api-keys/${id}`)
  await send(server.url, '/logout', { method: 'POST', token: ada.token })
  for (const revoked of [ada.token, text, token, 'nothing']) {
    assert.equal((await call(revoked)).status, 401)
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    const { status, headers } = await send(envoy.url, path, { method })
    assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer'], method)
    // The policy of the auth server is not that of the API.
    assert.equal(headers.get('access-control-allow-methods'), null)
  }
})

test('a role and a plan with any characters do not fail the check', async (t) => {
  const server = await openKeyServer(t, { AUTH_EXT_AUTHZ_ENABLED: 'true' })
  if (!server) return
  const fields = { name: 'a', role: 'отчёт', plan: 'größe 1' }
  const account = (await server.asAdmin('POST', '/admin/service-accounts', fields)).body
  const key = { service_account_id: account.id, name: 'a' }
  const { api_key: token } = (await server.asAdmin('POST', '/admin/api-keys', key)).body
  const { status, headers } = await send(server.url, '/ext-authz/', { token })
  assert.equal(status, 200)
  assert.equal(decodeURIComponent(headers.get('x-auth-role') ?? ''), 'отчёт')
  assert.equal(decodeURIComponent(headers.get('x-auth-plan') ?? ''), 'größe 1')
})

test('the endpoint for Envoy is off by default, so that Envoy refuses everything', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const { token } = await server.signUp()
  const { status, body } = await send(server.url, '/ext-authz/', { token })
  assert.deepEqual([status, body.error_code], [404, 'feature_disabled'])
})

function toConfig(port: number, authUrl: string, apiUrl: string): string {
  const toCluster = (name: string, url: string) => ({
    name,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: toAddress(new URL(url)) } }] }],
    },
  })
  const toAddress = ({ hostname, port: portText }: URL) => ({
    socket_address: { address: hostname, port_value: Number(portText) },
  })
  const type = 'type.googleapis.com/envoy.extensions.filters'
  const authz = {
    '@type': `${type}.http.ext_authz.v3.ExtAuthz`,
    http_service: {
      server_uri: { uri: authUrl, cluster: 'auth', timeout: '120s' },
      path_prefix: '/ext-authz',
      authorization_response: {
        allowed_upstream_headers: { patterns: [{ prefix: 'x-auth-' }] },
      },
    },
  }
  const manager = {
    '@type': `${type}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'front',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'api' } }],
        },
      ],
    },
    http_filters: [
      { name: 'envoy.filters.http.ext_authz', typed_config: authz },
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${type}.http.router.v3.Router` },
      },
    ],
  }
  return JSON.stringify({
    static_resources: {
      listeners: [
        {
          address: { socket_address: { address: '127.0.0.1', port_value: port } },
          filter_chains: [
            {
              filters: [
                { name: 'envoy.filters.network.http_connection_manager', typed_config: manager },
              ],
            },
          ],
        },
      ],
      clusters: [toCluster('auth', authUrl), toCluster('api', apiUrl)],
    },
  })
}
