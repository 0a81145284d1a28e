/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints } from '../../src/features/index.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { sdk, send } from '../support/http-client.ts'

test('a known path with an unsupported method', async (t) => {
  const server = await openAuthServer(t, { env: { AUTH_API_PATH_PREFIX: '/auth/v1' } })
  if (!server) return
  const { url } = server

  await t.test('returns 405 in JSON with an Allow header', async () => {
    const cases = [
      ['DELETE', '/user', 'GET, PUT, OPTIONS'],
      ['POST', '/user/', 'GET, PUT, OPTIONS'],
      ['HEAD', '/user', 'GET, PUT, OPTIONS'],
      ['GET', '/token', 'POST, OPTIONS'],
      ['GET', '/auth/v1/token?grant_type=password', 'POST, OPTIONS'],
      ['PUT', '/health', 'GET, HEAD, OPTIONS'],
    ] as const
    for (const [method, path, allow] of cases) {
      const { status, headers, body } = await send(url, path, { method })
      const message = `${method} ${path}`
      assert.deepEqual([status, headers.get('allow')], [405, allow], message)
      assert.equal(headers.get('x-sb-error-code'), 'method_not_allowed', message)
      if (method === 'HEAD') continue
      assert.deepEqual([body.code, body.error_code], [405, 'method_not_allowed'], message)
      assert.match(body.msg, new RegExp(allow), message)
    }
    const { body } = await send(url, '/token', { method: 'PATCH', headers: sdk })
    assert.equal(body.code, 'method_not_allowed')
  })

  await t.test(
    'is refused before the body is parsed, and the response has CORS headers',
    async () => {
      const headers = { origin: 'https://app.example' }
      const answer = await send(url, '/user', { method: 'POST', body: '{', headers })
      assert.equal(answer.status, 405)
      assert.equal(answer.headers.get('access-control-allow-origin'), 'https://app.example')
    },
  )

  await t.test('an unknown path returns 404', async () => {
    const { status, body, headers } = await send(url, '/users', { method: 'DELETE' })
    assert.deepEqual([status, body.error_code], [404, 'route_not_found'])
    assert.equal(headers.get('allow'), null)
  })

  await t.test('OPTIONS requests are accepted', async () => {
    const { status } = await send(url, '/user', { method: 'OPTIONS' })
    assert.equal(status, 204)
  })
})

test('HEAD works for every public GET endpoint and has no side effects', async (t) => {
  const server = await openAuthServer(t, { env: { AUTH_RATE_LIMIT_VERIFY: '1' } })
  if (!server) return
  const open = endpoints.filter(
    ({ method, allowed, path }) =>
      method === 'GET' &&
      allowed === 'anyone' &&
      // Envoy asks about HEAD requests too, which need a token there.
      !path.startsWith('/ext-authz'),
  )
  assert.ok(open.length >= 5)
  server.takeStatements()
  for (const { path } of open) {
    const answer = await send(server.url, path, { method: 'HEAD' })
    assert.deepEqual([answer.status, answer.body], [200, ''], path)
    assert.equal(answer.headers.get('cache-control'), 'no-store', path)
  }
  // HEAD requests are not counted by the rate limit either.
  for (let attempt = 0; attempt < 3; attempt++) {
    assert.equal((await send(server.url, '/verify', { method: 'HEAD' })).status, 200)
  }
  // Readiness is checked, because monitoring tools may use HEAD.
  assert.deepEqual(server.takeStatements(), ['check_readiness'])
})
