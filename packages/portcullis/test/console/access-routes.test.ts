import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openConsole } from '../../src/console/console.ts'

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly authorization: string | undefined
  readonly body: string
}

/** Opens a console for an auth server that answers every call in the same way. */
async function open(t: TestContext, answer: unknown) {
  const received: Received[] = []
  const auth = createServer(async (request, response) => {
    const parts = await request.setEncoding('utf8').toArray()
    const { method, url, headers } = request
    const { authorization } = headers
    received.push({ method, url, authorization, body: parts.join('') })
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(auth, 'listening')
  t.after(() => auth.close().closeAllConnections())
  const url = `http://127.0.0.1:${(auth.address() as AddressInfo).port}`
  const running = await openConsole({
    host: '127.0.0.1',
    port: 0,
    token: 'a-token-of-the-console-for-this-test',
    version: '1',
    auth: { url, key: async () => 'the-service-key' },
  })
  t.after(() => running[Symbol.asyncDispose]())
  const { origin } = new URL(running.entryUrl)
  const entry = await fetch(running.entryUrl, { redirect: 'manual' })
  const [cookie = ''] = entry.headers.get('set-cookie')?.split(';') ?? []
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${origin}/api/access${path}`, {
      method,
      headers: {
        cookie,
        'x-portcullis-console': '1',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
  return { received, call, url }
}

const id = '6017eeca-1a6e-4900-bd7b-f570016b480a'

test('calls reach the admin endpoint with the key, which no response contains', async (t) => {
  const { received, call } = await open(t, { answered: true })
  const calls = [
    ['GET', '/clients?page=2&per_page=10', '/admin/oauth/clients?page=2&per_page=10'],
    [
      'POST',
      `/clients/${id}/secret?overlap_seconds=60`,
      `/admin/oauth/clients/${id}/regenerate_secret?overlap_seconds=60`,
    ],
    ['PUT', '/providers/custom%3Aexample', '/admin/custom-providers/custom:example'],
    ['DELETE', `/sso/${id}/scim-tokens/${id}`, `/admin/sso/providers/${id}/scim-tokens/${id}`],
    ['POST', `/keys/${id}/rotate`, `/admin/api-keys/${id}/rotate`],
    ['DELETE', `/service-accounts/${id}`, `/admin/service-accounts/${id}`],
  ] as const
  for (const [method, path, upstream] of calls) {
    const takesBody = method === 'PUT' || path.endsWith('/rotate')
    const { status, text } = await call(method, path, takesBody ? {} : undefined)
    assert.deepEqual([path, status, text], [path, 200, '{"answered":true}'])
    const last = received.at(-1)
    assert.deepEqual(
      [last?.method, last?.url, last?.authorization],
      [method, upstream, 'Bearer the-service-key'],
    )
  }
})

test('only fields of the forms are forwarded', async (t) => {
  const { received, call } = await open(t, {})
  await call('POST', '/keys', { name: 'Nightly', scopes: ['a'], role: 'service_role' })
  assert.deepEqual(JSON.parse(received[0]?.body ?? ''), { name: 'Nightly', scopes: ['a'] })
})

test('a path parameter cannot lead to another endpoint', async (t) => {
  const { received, call } = await open(t, {})
  for (const path of [
    '/clients/..%2F..%2Fusers',
    '/keys/00000000-0000-4000-8000-00000000000/',
    '/providers/custom%3A..%2F..%2Fusers',
    '/providers/github',
    `/sso/${id}%2Fscim-tokens`,
  ]) {
    const { status } = await call('DELETE', path)
    assert.equal(status, 404, path)
  }
  assert.deepEqual(received, [])
})

test('addresses come from the settings of the auth server, and else from its URL', async (t) => {
  const settings = [
    { name: 'AUTH_API_EXTERNAL_URL', value: 'https://auth.example.com/' },
    { name: 'AUTH_CUSTOM_OAUTH_EXTERNAL_URL', value: 'AUTH_API_EXTERNAL_URL' },
    { name: 'AUTH_SAML_EXTERNAL_URL', value: 'https://sso.example.com' },
  ]
  const { call } = await open(t, { settings })
  assert.deepEqual(JSON.parse((await call('GET', '/addresses')).text), {
    callback_url: 'https://auth.example.com/callback',
    saml_entity_id: 'https://sso.example.com/sso/saml/metadata',
    saml_acs_url: 'https://sso.example.com/sso/saml/acs',
    scim_url: 'https://auth.example.com/scim/v2',
  })
  const name = 'AUTH_CUSTOM_OAUTH_SHARED_CALLBACK'
  for (const [value, path] of [
    ['true', '/callback'],
    ['false', '/callback/custom:NAME'],
    ['true if AUTH_COMPAT_MODE is upstream', '/callback/custom:NAME'],
  ] as const) {
    const own = await open(t, { settings: [...settings, { name, value }] })
    const { callback_url: url } = JSON.parse((await own.call('GET', '/addresses')).text)
    assert.equal(url, `https://auth.example.com${path}`)
  }
  const other = await open(t, {})
  const { callback_url: callback } = JSON.parse((await other.call('GET', '/addresses')).text)
  assert.equal(callback, `${other.url}/callback`)
})
