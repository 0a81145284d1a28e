/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, send } from '../../support/http-client.ts'

test('POST /admin/users/:user_id/token', async (t) => {
  const server = await openFlowServer(t, { AUTH_JWT_EXP: '3600' })
  if (!server) return
  const { url, query, serviceToken: token } = server
  const email = newEmail()
  const { body: user } = await send(url, '/admin/users', {
    token,
    body: { email, email_confirm: true, app_metadata: { plan: 'gold' } },
  })
  const path = `/admin/users/${user.id}/token`

  await t.test(
    'the token has the claims of the user, a lifetime of five minutes and no session',
    async () => {
      const { status, body } = await send(url, path, { token, method: 'POST' })
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(Object.keys(body), [
        'access_token',
        'token_type',
        'expires_in',
        'expires_at',
      ])
      assert.equal(body.expires_in, 300)
      const claims = decodeJwt(body.access_token)
      assert.deepEqual([claims.sub, claims['email'], claims['aal']], [user.id, email, 'aal1'])
      assert.equal(Object(claims['app_metadata']).plan, 'gold')
      assert.deepEqual(await query('select from sessions where user_id = $1', [user.id]), [])
      const own = await send(url, '/user', { token: body.access_token })
      assert.equal(errorOf(own)[1], 'session_not_found', 'this server does not accept it')
    },
  )

  await t.test('the audit log has an entry about the user, without the token', async () => {
    const { body } = await send(url, path, { token, method: 'POST' })
    const entries = await query(
      "select payload from audit_log_entries where payload ->> 'action' = 'token_issued'",
    )
    assert.equal(entries.length, 2)
    const text = JSON.stringify(entries)
    assert.match(text, new RegExp(user.id))
    // Searches leave out entries of the type token, which are mostly refreshes.
    assert.doesNotMatch(text, /"log_type":"token"/)
    assert.ok(!text.includes(body.access_token))
  })

  await t.test('only administrators get one, and not for unknown or banned users', async () => {
    const { body } = await send(url, path, { token, method: 'POST' })
    const asUser = await send(url, path, { token: body.access_token, method: 'POST' })
    assert.equal(asUser.status, 403)
    assert.equal((await send(url, path, { method: 'POST' })).status, 401)
    const unknown = `/admin/users/${crypto.randomUUID()}/token`
    assert.equal(errorOf(await send(url, unknown, { token, method: 'POST' }))[1], 'user_not_found')
    await send(url, `/admin/users/${user.id}`, {
      token,
      method: 'PUT',
      body: { ban_duration: '1h' },
    })
    assert.equal(errorOf(await send(url, path, { token, method: 'POST' }))[1], 'user_banned')
  })
})
