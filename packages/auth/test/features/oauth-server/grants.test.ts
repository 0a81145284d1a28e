/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthorizationServer } from '../../support/authorization-server.ts'
import { send } from '../../support/http-client.ts'

test('an administrator lists and revokes the grants of a user', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { url, users } = server
  const owner = await users.newSignedInUser()
  const registered = await server.newClient()
  const { client_id: id } = registered
  const tokens = await server.signIn(registered, owner, { scope: 'email' })
  const path = `/admin/users/${owner.id}/oauth/grants`
  const admin = { token: server.serviceToken }
  const { body: grants } = await send(url, path, admin)
  assert.deepEqual(grants, [
    {
      client: { id, name: 'Notes' },
      scopes: ['email'],
      resources: [],
      granted_at: grants[0].granted_at,
    },
  ])
  assert.equal((await send(url, path, { token: owner.token })).status, 403)
  const revoke = () => send(url, `${path}?client_id=${id}`, { method: 'DELETE', ...admin })
  assert.equal((await revoke()).status, 204)
  assert.equal((await revoke()).body.error_code, 'oauth_consent_not_found')
  const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
  assert.equal((await server.ask(registered, '/oauth/token', refresh)).body.error, 'invalid_grant')
  assert.deepEqual((await send(url, path, admin)).body, [])
  const unknown = '/admin/users/00000000-0000-4000-8000-000000000000/oauth/grants'
  assert.equal((await send(url, unknown, admin)).body.error_code, 'user_not_found')
  const { body: entries } = await send(url, `/admin/audit?query=user:${owner.id}`, admin)
  const entry = entries.find(
    (each: { payload: { action: string } }) => each.payload.action === 'oauth_consent_revoked',
  )
  assert.equal(entry.payload.actor_username, 'service_role')
  assert.equal(entry.payload.traits.client_id, id)
})
