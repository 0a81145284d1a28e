/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { createFactorCalls } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'

test('administrators can revoke all sessions (property 66)', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, serviceToken, query } = server
  const calls = createFactorCalls(server)
  const revokeAll = (token?: string, parameters = '') =>
    send(url, `/admin/sessions${parameters}`, {
      method: 'DELETE',
      ...(token !== undefined && { token }),
    })
  const statusOf = async (refreshToken: string) => (await calls.refresh(refreshToken)).status

  await t.test('only administrators can', async () => {
    const { token, refreshToken } = await calls.newSignedInUser()
    assert.equal((await revokeAll()).status, 401)
    assert.equal((await revokeAll(token)).status, 403)
    assert.equal(await statusOf(refreshToken), 200)
  })

  await t.test('of all users, except sessions that were opened later', async () => {
    const one = await calls.newSignedInUser()
    const other = await calls.newSignedInUser()
    const before = new Date(server.clock.now()).toISOString()
    const late = await calls.newSignedInUser()
    const { status, body } = await revokeAll(serviceToken, `?before=${before}`)
    assert.equal(status, 200)
    assert.deepEqual([body.revoked >= 2, body.before, body.after], [true, before, undefined])
    assert.deepEqual(
      [await statusOf(one.refreshToken), await statusOf(other.refreshToken)],
      [400, 400],
    )
    assert.equal(await statusOf(late.refreshToken), 200)
    const entries = await query(
      `select payload -> 'traits' as traits from audit_log_entries
       where payload #>> '{traits,reason}' = 'all_sessions_revoked'`,
    )
    assert.equal(entries.length, 1)
    assert.equal(entries[0].traits.count, body.revoked)
  })

  await t.test('in several calls if there are many', async () => {
    const { id, refreshToken } = await calls.newSignedInUser()
    await query(
      `insert into sessions (id, user_id, created_at)
       select gen_random_uuid(), $1, '2020-01-01' from generate_series(1, 4100)`,
      [id],
    )
    // A slow server would have returned a cursor in the middle.
    const [{ middle }] = await query(
      'select id as middle from sessions order by id offset 2000 limit 1',
    )
    const rest = await revokeAll(serviceToken, `?after=${middle}`)
    assert.ok(rest.body.revoked > 2_000 && rest.body.revoked < 2_200, `${rest.body.revoked}`)
    const all = await revokeAll(serviceToken)
    assert.ok(all.body.revoked > 1_900, `${all.body.revoked}`)
    assert.equal(await statusOf(refreshToken), 400)
    assert.deepEqual(await query('select from sessions where revoked_at is null'), [])
    const wrong = await revokeAll(serviceToken, '?before=tomorrow')
    assert.equal(wrong.status, 400)
  })

  await t.test('with a command, for one user or for all', async () => {
    const env = {
      ...testEnvironment,
      DATABASE_URL: server.databaseUrl,
      AUTH_DB_NAMESPACE: server.schema,
    }
    const revoke = (...args: string[]) => runCommand(['admin', 'revokesessions', ...args], { env })
    const one = await calls.newSignedInUser()
    const other = await calls.newSignedInUser()
    const single = await revoke(one.email)
    assert.equal(single.code, 0, single.stderr)
    assert.ok(single.stdout.endsWith(`(${one.email}) is signed out of all sessions\n`))
    assert.equal(await statusOf(one.refreshToken), 400)
    assert.equal(await statusOf(other.refreshToken), 200)
    // The test clock is ahead of PostgreSQL, whose time the command uses.
    await query("update sessions set created_at = now() - interval '1 hour'")
    const all = await revoke('--all')
    assert.equal(all.code, 0, all.stderr)
    assert.match(all.stdout, /^revoked [1-9]\d* sessions?$/m)
    assert.equal(await statusOf(other.refreshToken), 400)
    assert.equal((await revoke()).code, 2)
    assert.equal((await revoke(one.email, '--all')).code, 2)
  })
})
