/**
 * @servers postgres
 */
// The recipe docs/recipes/plans.md.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { dataOf } from '../support/auth-js.ts'
import { launchExample, startExample } from '../support/example-program.ts'
import { send } from '../support/http-client.ts'
import { exceedLimit, openRecipeServer } from './support/recipe-server.ts'

test('the plan and the tenant in the token decide on the limit', async (t) => {
  const server = await openRecipeServer(t)
  if (!server) return
  const api = await startExample(t, 'recipes/plans/api.ts', { AUTH_URL: server.url })
  const getPlan = (token: string) => send(api, '/plan', { token })

  const refresh = async (refreshToken: string): Promise<string> => {
    const body = { refresh_token: refreshToken }
    return (await send(server.url, '/token?grant_type=refresh_token', { body })).body.access_token
  }

  const ada = await server.openSession()

  await t.test('a user without a plan has the lowest limit', async () => {
    const { status, body, headers } = await getPlan(ada.token)
    assert.deepEqual([status, body], [200, { plan: 'free' }])
    assert.equal(headers.get('ratelimit-limit'), '5')
    const refused = await exceedLimit(5, () => getPlan(ada.token))
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
  })

  await t.test('users cannot choose their plan', async () => {
    const bob = await server.openSession()
    const body = { data: { plan: 'pro' }, app_metadata: { plan: 'pro' } }
    await send(server.url, '/user', { method: 'PUT', token: bob.token, body })
    const answer = await getPlan(await refresh(bob.refreshToken))
    assert.deepEqual([answer.status, answer.body], [200, { plan: 'free' }])
  })

  await t.test('a new plan applies after the next refresh', async () => {
    const env = { AUTH_URL: server.url, AUTH_ADMIN_KEY: server.serviceToken }
    const child = launchExample(t, 'recipes/plans/set-plan.ts', env, [ada.id, 'pro'])
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    assert.equal(code, 0)
    assert.match(output, /"plan":"pro"/)
    const { status, body, headers } = await getPlan(await refresh(ada.refreshToken))
    assert.deepEqual([status, body], [200, { plan: 'pro' }])
    assert.equal(headers.get('ratelimit-limit'), '100')
  })

  await t.test('the users of a tenant share a limit', async () => {
    const members = [await server.openSession(), await server.openSession()]
    const tokens: string[] = []
    for (const member of members) {
      const app_metadata = { plan: 'pro', tenant: 'acme' }
      dataOf(await server.admin.updateUserById(member.id, { app_metadata }))
      tokens.push(await refresh(member.refreshToken))
    }
    const [first = '', second = ''] = tokens
    assert.deepEqual((await getPlan(first)).body, { plan: 'pro', tenant: 'acme' })
    await exceedLimit(20, () => getPlan(first))
    // The second user has sent no request; a new window may have begun.
    const { status, headers } = await getPlan(second)
    assert.ok(status === 429 || headers.get('ratelimit-remaining') === '19', `status ${status}`)
  })

  await t.test('invalid tokens are refused', async () => {
    assert.equal((await getPlan(ada.forgedToken)).status, 401)
    assert.equal((await send(api, '/plan')).status, 401)
  })
})
