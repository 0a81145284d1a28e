/**
 * @servers postgres-embedded, envoy
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { openGrpcClient } from '@portcullis/grpc-unary/client'
import { createAuthority, open } from '@portcullis/test-servers'
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

test('over gRPC, Envoy refuses what was revoked, replaces and removes identity headers, and knows the key', async (t) => {
  const server = await openKeyServer(t, { AUTH_EXT_AUTHZ_GRPC_ADDRESS: '127.0.0.1:0' })
  if (!server) return
  const { asAdmin, exchange, checksPort } = server
  const api = await listen(t, ({ headers, method }, response) => {
    const seen = Object.entries(headers).filter(([name]) => /^x[-_]auth/.test(name))
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ method, seen: Object.fromEntries(seen), limit: headers['x-key'] }),
    )
  })
  const checksUrl = `http://127.0.0.1:${checksPort}`
  const envoy = await open(t, 'envoy', { config: (port) => toConfig(port, checksUrl, api, 'grpc') })
  if (!envoy) return
  const ada = await server.signUp()
  const call = (token: string, method = 'GET', headers = {}) =>
    send(envoy.url, '/any?full=true', { method, token, headers })
  const toHeaders = (...values: readonly string[]) =>
    Object.fromEntries(headerNames.map((name, index) => [name, values[index] ?? '']))

  const forged = Object.fromEntries(
    [...headerNames, 'x-auth-more', 'x_auth_role', 'X_Auth-Role'].map((name) => [name, 'forged']),
  )
  const own = await call(ada.token, 'GET', forged)
  assert.deepEqual([own.status, own.body.seen], [200, toHeaders(ada.id)])
  const fields = { user_id: ada.id, name: 'a', scopes: ['read', 'write'], plan: 'pro plan' }
  const { api_key: text, id } = (await asAdmin('POST', '/admin/api-keys', fields)).body
  const token = (await exchange(text)).body.access_token
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    const { body } = await call(method === 'POST' ? token : text, method)
    assert.deepEqual(body, {
      method,
      seen: toHeaders(ada.id, '', id, 'read write', 'pro%20plan'),
      // Written by Envoy from the metadata that rate limits use.
      limit: id,
    })
  }
  await asAdmin('DELETE', `/admin/api-keys/${id}`)
  await send(server.url, '/logout', { method: 'POST', token: ada.token })
  for (const revoked of [ada.token, text, token, 'nothing']) {
    const { status: refused, body, headers } = await call(revoked)
    assert.equal(refused, 401)
    assert.equal(headers.get('www-authenticate'), 'Bearer error="invalid_token"')
    assert.equal(headers.get('content-type'), 'application/json')
    assert.equal(typeof body.error_code, 'string')
  }
  const preflight = await send(envoy.url, '/', { method: 'OPTIONS' })
  const { status: refused, headers } = preflight
  assert.deepEqual([refused, headers.get('www-authenticate')], [401, 'Bearer'])
})

test('the gRPC listener has a health service, refuses invalid messages, and can require certificates', async (t) => {
  const [servers, clients] = [createAuthority('servers'), createAuthority('clients')]
  const folder = await mkdtemp(join(tmpdir(), 'checks-'))
  t.after(() => rm(folder, { recursive: true }))
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const { certificate, key } = servers.issue('localhost')
  const server = await openKeyServer(t, {
    AUTH_EXT_AUTHZ_GRPC_ADDRESS: '127.0.0.1:0',
    AUTH_EXT_AUTHZ_TLS_CERT: await write('server.crt', certificate),
    AUTH_EXT_AUTHZ_TLS_KEY: await write('server.key', key),
    AUTH_EXT_AUTHZ_TLS_CLIENT_CA: await write('ca.crt', clients.certificate),
  })
  if (!server) return
  const call = async (path: string, message: Uint8Array, caller = clients) => {
    const identity = caller.issue('envoy')
    const client = await openGrpcClient({
      address: `127.0.0.1:${server.checksPort}`,
      tls: {
        ca: servers.certificate,
        servername: 'localhost',
        cert: identity.certificate,
        key: identity.key,
      },
    })
    await using _ = client
    const { code, response } = await client.call(path, message)
    return [code, response?.toString('hex')]
  }
  const health = '/grpc.health.v1.Health/Check'
  const check = '/envoy.service.auth.v3.Authorization/Check'
  const serving = '0801'
  assert.deepEqual(await call(health, Buffer.alloc(0)), [status.OK, serving])
  const name = Buffer.from('envoy.service.auth.v3.Authorization')
  const named = Buffer.from([0x0a, name.length, ...name])
  assert.deepEqual(await call(health, named), [status.OK, serving])
  assert.equal((await call(health, Buffer.from([0x0a, 1, 0x61])))[0], status.NOT_FOUND)
  assert.equal((await call(check, Buffer.from([0x0a, 9])))[0], status.INVALID_ARGUMENT)
  // A request without headers has no token.
  assert.match(`${(await call(check, Buffer.alloc(0)))[1]}`, new RegExp(hex('no_authorization')))
  assert.notEqual((await call(health, Buffer.alloc(0), createAuthority('clients')))[0], status.OK)
})

const hex = (text: string) => Buffer.from(text).toString('hex')

function toConfig(port: number, authUrl: string, apiUrl: string, kind = 'http'): string {
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
  const overHttp = {
    http_service: {
      server_uri: { uri: authUrl, cluster: 'auth', timeout: '120s' },
      path_prefix: '/ext-authz',
      authorization_response: {
        allowed_upstream_headers: { patterns: [{ prefix: 'x-auth-' }] },
      },
    },
  }
  const overGrpc = {
    transport_api_version: 'V3',
    grpc_service: { envoy_grpc: { cluster_name: 'auth' }, timeout: '120s' },
  }
  const authz = {
    '@type': `${type}.http.ext_authz.v3.ExtAuthz`,
    ...(kind === 'grpc' ? overGrpc : overHttp),
  }
  const http2 = {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http2_protocol_options: {} },
    },
  }
  const auth = {
    ...toCluster('auth', authUrl),
    ...(kind === 'grpc' && { typed_extension_protocol_options: http2 }),
  }
  const manager = {
    '@type': `${type}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'front',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          request_headers_to_add: [
            {
              header: {
                key: 'x-key',
                value: '%DYNAMIC_METADATA(envoy.filters.http.ext_authz:key_id)%',
              },
              append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
            },
          ],
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
      clusters: [auth, toCluster('api', apiUrl)],
    },
  })
}
