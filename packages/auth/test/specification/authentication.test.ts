/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jwtVerify } from 'jose'
import { jwtSecret } from '../support/auth-server.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, send } from '../support/http-client.ts'
import { createUser, refresh, signIn, signToken } from './people.ts'

test('Authentication', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_URI_ALLOW_LIST: 'https://*.preview.example/cb,myapp://login',
  })
  if (!server) return
  const { url, serviceToken } = server

  await t.test(
    'Authentication › protected endpoints take the header `Authorization: Bearer <ACCESS_TOKEN>`',
    async () => {
      const { token } = await signIn(server)
      const statusOf = async (authorization: string) =>
        (await send(url, '/user', { headers: { authorization } })).status
      assert.equal(await statusOf(`Bearer ${token}`), 200)
      for (const wrong of [token, `Basic ${token}`, 'Bearer', `Bearer ${token} ${token}`]) {
        assert.equal(await statusOf(wrong), 401, wrong)
      }
      assert.equal((await send(url, `/user?access_token=${token}`)).status, 401)
    },
  )

  await t.test('Authentication › access tokens are JWTs signed with JWT_SECRET', async () => {
    const { id, token } = await signIn(server)
    const secret = new TextEncoder().encode(jwtSecret)
    const { payload, protectedHeader } = await jwtVerify(token, secret)
    assert.equal(protectedHeader.alg, 'HS256')
    assert.equal(payload.sub, id)
    const own = await send(url, '/user', { token: await signToken({ sub: id }) })
    assert.equal(own.status, 200)
    const foreign = await signToken({ sub: id }, 'the secret of another auth server')
    assert.equal((await send(url, '/user', { token: foreign })).status, 403)
    const unsigned = `${btoa('{"alg":"none"}')}.${token.split('.')[1]}.`
    assert.equal((await send(url, '/user', { token: unsigned })).status, 403)
  })

  await t.test('Authentication › valid JWT_EXP seconds (default 3600)', async () => {
    const { token } = await signIn(server)
    const { payload } = await jwtVerify(token, new TextEncoder().encode(jwtSecret))
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 3_600)
    server.clock.aheadMs = 3_540_000
    assert.equal((await send(url, '/user', { token })).status, 200)
    server.clock.aheadMs = 3_601_000
    assert.equal((await send(url, '/user', { token })).status, 403)
    server.clock.aheadMs = 0
  })

  await t.test(
    'Authentication › admin endpoints need a role claim listed in JWT_ADMIN_ROLES',
    async () => {
      const { id } = await createUser(server)
      const endpoints = [
        ['GET', '/admin/users'],
        ['POST', '/admin/users'],
        ['GET', `/admin/users/${id}`],
        ['POST', `/admin/users/${crypto.randomUUID()}`],
        ['PUT', `/admin/users/${id}`],
        ['DELETE', `/admin/users/${crypto.randomUUID()}`],
        ['POST', '/admin/generate_link'],
        ['GET', '/admin/audit'],
      ] as const
      const wrong = [
        await signToken({ role: 'authenticated' }),
        await signToken({ role: '' }),
        await signToken({ roles: ['service_role'], user_metadata: { role: 'service_role' } }),
        (await signIn(server)).token,
      ]
      for (const [method, path] of endpoints) {
        const body = method === 'GET' ? {} : { body: {} }
        assert.equal((await send(url, path, { method, ...body })).status, 401, path)
        for (const token of wrong) {
          const answer = await send(url, path, { method, token, ...body })
          assert.deepEqual([answer.status, answer.body.error_code], [403, 'not_admin'], path)
        }
        const answer = await send(url, path, { method, token: serviceToken, ...body })
        assert.doesNotMatch(`${answer.status}`, /401|403/, path)
      }
    },
  )

  await t.test(
    'Authentication › refresh tokens are exchanged at POST /token with grant type `refresh_token`',
    async () => {
      const { refreshToken } = await signIn(server)
      assert.equal((await refresh(url, refreshToken)).status, 200)
      for (const wrong of ['', 'unknown', `${refreshToken}x`]) {
        assert.equal((await refresh(url, wrong)).status, 400, wrong)
      }
    },
  )

  await t.test(
    'Authentication › a `redirect_to` value must share a host with SITE_URL',
    async () => {
      const statusOf = async (target: string) => {
        const path = `/recover?redirect_to=${encodeURIComponent(target)}`
        return (await send(url, path, { body: { email: newEmail() } })).status
      }
      const permitted = [
        'https://site.example',
        'https://site.example/a/b?c=d#e',
        'https://site.example:8443/',
        'http://site.example/',
      ]
      for (const target of permitted) assert.equal(await statusOf(target), 200, target)
      const refused = [
        'https://other.example/',
        'https://site.example.other.example/',
        'https://sub.site.example/',
        'https://site.example@other.example/',
        'javascript://site.example/%0aalert(1)',
        '//site.example/',
        '/path',
      ]
      for (const target of refused) assert.equal(await statusOf(target), 400, target)
    },
  )

  await t.test('Authentication › … or match URI_ALLOW_LIST', async () => {
    const statusOf = async (target: string) => {
      const path = `/recover?redirect_to=${encodeURIComponent(target)}`
      return (await send(url, path, { body: { email: newEmail() } })).status
    }
    assert.equal(await statusOf('https://pr-7.preview.example/cb'), 200)
    assert.equal(await statusOf('myapp://login'), 200)
    for (const target of ['https://preview.example/cb', 'myapp://logout']) {
      assert.equal(await statusOf(target), 400, target)
    }
  })
})
