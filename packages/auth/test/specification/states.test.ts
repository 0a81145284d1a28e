/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { refresh, signIn, signInAgain } from './people.ts'

test('States and transitions', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url } = server
  const statusOf = async (token: string) => (await refresh(url, token)).status

  await t.test('States › Refresh tokens are active or revoked', async () => {
    const { token, refreshToken } = await signIn(server)
    const active = await refresh(url, refreshToken)
    assert.equal(active.status, 200)
    await send(url, '/logout', { method: 'POST', token })
    assert.equal(await statusOf(active.body.refresh_token), 400)
  })

  await t.test(
    'States › active, POST /logout, caller authenticated: all refresh tokens of the user revoked',
    async () => {
      const one = await signIn(server)
      const two = await signInAgain(server, one)
      const otherUser = await signIn(server)
      assert.equal((await send(url, '/logout', { method: 'POST', token: one.token })).status, 204)
      assert.equal(await statusOf(one.refreshToken), 400)
      assert.equal(await statusOf(two.refreshToken), 400)
      assert.equal(await statusOf(otherUser.refreshToken), 200)
    },
  )

  await t.test('States › active, POST /logout, caller not authenticated: nothing', async () => {
    const { refreshToken } = await signIn(server)
    assert.equal((await send(url, '/logout', { method: 'POST' })).status, 401)
    assert.equal(await statusOf(refreshToken), 200)
  })

  await t.test('States › POST /logout: issued JWTs stay valid until expiry', async () => {
    const { id, token } = await signIn(server)
    await send(url, '/logout', { method: 'POST', token })
    const getUser = () => send(url, '/user', { token })
    assert.deepEqual([(await getUser()).status, (await getUser()).body.id], [200, id])
    server.clock.aheadMs += 3_601_000
    assert.equal((await getUser()).status, 403)
    server.clock.aheadMs = 0
  })

  await t.test(
    'States › revoked, the previous one, inside reuse interval: the child refresh token is returned',
    async () => {
      const { refreshToken } = await signIn(server)
      const { body: child } = await refresh(url, refreshToken)
      const again = await refresh(url, refreshToken)
      assert.equal(again.status, 200)
      assert.equal(again.body.refresh_token, child.refresh_token)
    },
  )

  await t.test('States › … inside reuse interval: not treated as an attack', async () => {
    const { refreshToken } = await signIn(server)
    const { body: child } = await refresh(url, refreshToken)
    await refresh(url, refreshToken)
    assert.equal(await statusOf(child.refresh_token), 200)
  })

  await t.test(
    'States › revoked, older than the previous one: reuse is detected as malicious; every token descended from it is revoked',
    async () => {
      const { refreshToken } = await signIn(server)
      const { body: child } = await refresh(url, refreshToken)
      const { body: grandchild } = await refresh(url, child.refresh_token)
      assert.equal(await statusOf(refreshToken), 400)
      assert.equal(await statusOf(grandchild.refresh_token), 400)
      assert.equal(await statusOf(child.refresh_token), 400)
    },
  )

  await t.test(
    'States › revoked, outside the interval: reuse is detected as malicious; every token descended from it is revoked',
    async () => {
      const { refreshToken } = await signIn(server)
      const { body: child } = await refresh(url, refreshToken)
      server.clock.aheadMs += 10_500
      assert.equal(await statusOf(refreshToken), 400)
      assert.equal(await statusOf(child.refresh_token), 400)
      server.clock.aheadMs = 0
    },
  )

  await t.test('States › … reuse by one session: other sessions of the user stay', async () => {
    const one = await signIn(server)
    const other = await signInAgain(server, one)
    const { body: child } = await refresh(url, one.refreshToken)
    await refresh(url, child.refresh_token)
    assert.equal(await statusOf(one.refreshToken), 400)
    assert.equal(await statusOf(other.refreshToken), 200)
  })
})
