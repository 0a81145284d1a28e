/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { type FlowServer, openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { until } from '../support/outbox.ts'
import { createUser, logIn, refresh, signIn, signToken, uuid } from './people.ts'

test('Configuration: tokens', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_JWT_EXP: '120',
    AUTH_JWT_AUD: 'people',
    AUTH_JWT_DEFAULT_GROUP_NAME: 'member',
    AUTH_JWT_ADMIN_GROUP_NAME: 'chief',
    AUTH_JWT_ADMIN_ROLES: 'service_role, boss',
    AUTH_API_EXTERNAL_URL: 'https://id.example/auth',
    AUTH_REQUEST_ID_HEADER: 'X-Request-Id',
    AUTH_DB_MAX_POOL_SIZE: '2',
    AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '1m30s',
  })
  if (!server) return
  const { url, post, serviceToken } = server

  await t.test('Configuration › JWT_EXP: number seconds', async () => {
    const { token } = await signIn(server)
    const { iat = 0, exp } = decodeJwt(token)
    assert.equal(exp, iat + 120)
    server.clock.aheadMs = 121_000
    assert.equal((await send(url, '/user', { token })).status, 403)
    server.clock.aheadMs = 0
  })

  await t.test('Configuration › JWT_AUD: default audience', async () => {
    const { token } = await signIn(server)
    assert.equal(decodeJwt(token).aud, 'people')
    assert.equal((await send(url, '/user', { token })).body.aud, 'people')
  })

  await t.test('Configuration › JWT_DEFAULT_GROUP_NAME: group for new users', async () => {
    const signedUp = await post('/signup', { email: newEmail(), password })
    assert.equal(signedUp.body.role, 'member')
    const { token } = await signIn(server)
    assert.equal(decodeJwt(token)['role'], 'member')
  })

  await t.test('Configuration › JWT_ADMIN_GROUP_NAME: string', async () => {
    const put = async (role: string) => {
      const { email } = await createUser(server, { role, password })
      const { body } = await logIn(url, email)
      const change = { method: 'PUT', body: { app_metadata: { plan: 'paid' } } }
      return send(url, '/user', { ...change, token: body.access_token })
    }
    assert.equal((await put('member')).body.error_code, 'not_admin')
    assert.equal((await put('chief')).body.app_metadata.plan, 'paid')
  })

  await t.test(
    'Configuration › JWT_ADMIN_ROLES: role claim values that grant admin access',
    async () => {
      const statusOf = async (role: string) =>
        (await send(url, '/admin/users', { token: await signToken({ role }) })).status
      const roles = ['service_role', 'boss', 'supabase_admin', 'member']
      assert.deepEqual(await Promise.all(roles.map(statusOf)), [200, 200, 403, 403])
    },
  )

  await t.test(
    'Configuration › SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: duration string, only with rotation enabled',
    async () => {
      const { refreshToken } = await signIn(server)
      const { body: child } = await refresh(url, refreshToken)
      server.clock.aheadMs += 60_000
      const inside = await refresh(url, refreshToken)
      assert.equal(inside.body.refresh_token, child.refresh_token)
      server.clock.aheadMs += 31_000
      assert.equal((await refresh(url, refreshToken)).status, 400)
      server.clock.aheadMs = 0
    },
  )

  await t.test('Configuration › API_EXTERNAL_URL: public URL of this server', async () => {
    const email = newEmail()
    await post('/signup', { email, password })
    const { url: link } = await server.mailTo(email)
    assert.equal(link.origin + link.pathname, 'https://id.example/auth/verify')
    const body = { type: 'magiclink', email: (await createUser(server)).email }
    const made = await send(url, '/admin/generate_link', { token: serviceToken, body })
    assert.match(made.body.action_link, /^https:\/\/id\.example\/auth\/verify\?token=/)
  })

  await t.test(
    'Configuration › REQUEST_ID_HEADER: name of an incoming header whose value becomes the request id',
    async () => {
      const { token } = await signIn(server)
      // A server error contains the id that is in the log.
      await server.query('alter table users rename to gone')
      const known = await send(url, '/user', { token, headers: { 'x-request-id': 'of-the-proxy' } })
      const unknown = await send(url, '/user', { token })
      await server.query('alter table gone rename to users')
      assert.deepEqual([known.status, known.body.error_id], [500, 'of-the-proxy'])
      assert.match(unknown.body.error_id, uuid)
      assert.ok(server.log.some((line) => line.includes('of-the-proxy')))
    },
  )

  await t.test('Configuration › DB_MAX_POOL_SIZE: int', async () => {
    const { token } = await signIn(server)
    assert.equal(await countWaiting(server, token, 12, 2), 2)
  })
})

test('Configuration: tokens and database with default settings', async (t) => {
  const server = await openFlowServer(t, {}, { applicationName: 'default settings' })
  if (!server) return
  const { url, post } = server

  await t.test('Configuration › DB_MAX_POOL_SIZE: default 0 (unlimited)', async () => {
    const { token } = await signIn(server)
    // Background work can wait for the same lock.
    assert.ok((await countWaiting(server, token, 25, 25)) >= 25)
  })

  await t.test('Configuration › DB_NAMESPACE: prefix for all table names', async () => {
    const email = newEmail()
    const { body } = await post('/signup', { email, password })
    const rows = await server.query(`select id from ${server.schema}.users where email = $1`, [
      email,
    ])
    assert.deepEqual(rows, [{ id: body.id }])
    const outside = await server.query(
      `select 1 from information_schema.tables
       where table_schema = 'public' and table_name = 'users'`,
    )
    assert.deepEqual(outside, [])
  })

  await t.test('Configuration › JWT_ADMIN_GROUP_NAME: default `admin`', async () => {
    const { email } = await createUser(server, { role: 'admin', password })
    const { body } = await logIn(url, email)
    const change = { method: 'PUT', body: { app_metadata: { plan: 'paid' } } }
    const answer = await send(url, '/user', { ...change, token: body.access_token })
    assert.equal(answer.body.app_metadata.plan, 'paid')
  })

  await t.test('Configuration › API_HOST: listen host', () => {
    assert.equal(new URL(url).hostname, '127.0.0.1')
  })
})

/** Counts how many statements wait for a table when this many requests need it. */
async function countWaiting(
  { url, query }: FlowServer,
  token: string,
  requests: number,
  atLeast: number,
): Promise<number> {
  const count = async () => {
    const rows = await query(
      `select 1 from pg_locks where not granted and relation = 'users'::regclass`,
    )
    return rows.length
  }
  await query('begin')
  try {
    await query('lock table users')
    const answers = Promise.all(
      Array.from({ length: requests }, () => send(url, '/user', { token })),
    )
    await until(async () => (await count()) >= atLeast)
    const waiting = await count()
    await query('rollback')
    for (const { status } of await answers) assert.equal(status, 200)
    return waiting
  } finally {
    await query('rollback')
  }
}
