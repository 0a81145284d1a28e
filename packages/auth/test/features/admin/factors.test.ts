/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimsOf, createFactorCalls, factorEnvironment } from '../../support/factors.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { type RequestOptions, send } from '../../support/http-client.ts'

const someId = '11111111-2222-4333-8444-555555555555'

test('administration of MFA factors', async (t) => {
  const server = await openFlowServer(t, factorEnvironment)
  if (!server) return
  const { url, query, serviceToken: token } = server
  const calls = createFactorCalls(server)
  const member = await calls.newMember()
  const path = `/admin/users/${member.id}/factors`
  const admin = (to: string, options: RequestOptions = {}) => send(url, to, { token, ...options })
  const put = (id: string, body: object) => admin(`${path}/${id}`, { method: 'PUT', body })
  const remove = (to: string) => admin(to, { method: 'DELETE' })

  await t.test('lists factors without their secrets, in one statement', async () => {
    server.takeStatements()
    const { status, body } = await admin(path)
    assert.equal(status, 200)
    assert.deepEqual(server.takeStatements(), ['find_user_by_id'])
    assert.deepEqual(body, (await calls.user(member)).factors)
    assert.equal(body[0].id, member.factorId)
    assert.ok(!JSON.stringify(body).includes('secret'))
  })

  await t.test('renames factors and changes the phone number of a phone factor', async () => {
    const { body: phone } = await calls.enroll(member, { factor_type: 'phone', phone: '15550101' })
    const renamed = await put(member.factorId, { friendly_name: ' Work ' })
    assert.deepEqual([renamed.body.friendly_name, renamed.body.id], ['Work', member.factorId])
    assert.equal((await put(phone.id, { phone: '+15550102' })).body.phone, '15550102')
    assert.deepEqual(errorOf(await put(phone.id, { friendly_name: 'Work' })), [
      422,
      'mfa_factor_name_conflict',
      'A factor with the friendly name "Work" for this user already exists',
    ])
    const { body: second } = await calls.enroll(member, { factor_type: 'phone', phone: '15550103' })
    assert.equal((await put(second.id, { phone: '15550102' })).body.error_code, 'phone_exists')
    assert.equal((await put(phone.id, { phone: 'abc' })).body.error_code, 'validation_failed')
    assert.equal(
      (await put(member.factorId, { phone: '15550104' })).body.error_code,
      'validation_failed',
    )
    await remove(`${path}/${phone.id}`)
    await remove(`${path}/${second.id}`)
  })

  await t.test('removes factors, which lowers the level of their sessions', async () => {
    assert.equal((await calls.call(member, '/factors/recovery-codes')).status, 200)
    const { status, body } = await remove(`${path}/${member.factorId}`)
    assert.deepEqual([status, body.id, body.factor_type], [200, member.factorId, 'totp'])
    assert.deepEqual((await admin(path)).body, [])
    calls.take(member, await calls.refresh(member.refreshToken))
    assert.equal(claimsOf(member.token).aal, 'aal1')
    const entries = await query(
      `select payload ->> 'action' as action, payload -> 'traits' as traits from audit_log_entries
       where payload #>> '{traits,user_id}' = $1 and payload ->> 'log_type' = 'factor'
       order by created_at`,
      [member.id],
    )
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['factor_updated', 'factor_updated', 'factor_deleted', 'factor_deleted', 'factor_deleted'],
    )
    assert.equal(entries.at(-1).traits.factor_id, member.factorId)
  })

  await t.test('unknown users and factors are not found', async () => {
    const noUser = [404, 'user_not_found', 'User not found']
    const noFactor = [404, 'mfa_factor_not_found', 'Factor not found']
    assert.deepEqual(errorOf(await admin(`/admin/users/${someId}/factors`)), noUser)
    assert.deepEqual(errorOf(await remove(`/admin/users/${someId}/factors/${someId}`)), noUser)
    assert.deepEqual(errorOf(await remove(`${path}/${someId}`)), noFactor)
    assert.deepEqual(errorOf(await put(someId, {})), noFactor)
    assert.equal((await remove(`${path}/x`)).body.msg, 'factor_id must be an UUID')
    assert.equal((await admin('/admin/users/x/factors')).body.msg, 'user_id must be an UUID')
    assert.equal((await send(url, path, { token: member.token })).body.error_code, 'not_admin')
  })
})
