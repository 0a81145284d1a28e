/**
 * @servers postgres, envoy
 */
// The recipe docs/recipes/envoy.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { dataOf } from '../support/auth-js.ts'
import { startExample } from '../support/example-program.ts'
import { password, send } from '../support/http-client.ts'
import { openRateLimitService } from '../support/rate-limit-service.ts'
import { exceedLimit, openRecipeServer } from './support/recipe-server.ts'

const folder = join(import.meta.dirname, '../../../../examples/recipes/envoy')
const read = (file: string) => readFileSync(join(folder, file), 'utf8')

test('Envoy verifies tokens, and limits users by their plan', async (t) => {
  const server = await openRecipeServer(t)
  if (!server) return
  const [service, api] = await Promise.all([
    openRateLimitService(t, read('rules/edge.yaml'), { DRAIN_DELAY: '0s', WARM_UP: 'false' }),
    startExample(t, 'recipes/envoy/api.ts', {}),
  ])
  const ports = {
    8081: new URL(server.url).port,
    8082: service.address.split(':')[1],
    4000: new URL(api).port,
  }
  const envoy = await open(t, 'envoy', {
    config: (port) => toConfig(read('envoy.yaml'), { ...ports, 10000: `${port}` }),
  })
  if (!envoy) return
  const { url } = envoy
  const [ada, bob] = [await server.openSession(), await server.openSession()]

  await t.test('users sign in without a token, and the API knows them by their id', async () => {
    const body = { email: ada.email, password }
    const signedIn = await send(url, '/auth/v1/token?grant_type=password', { body })
    assert.equal(signedIn.status, 200)
    const mine = await send(url, '/', { token: signedIn.body.access_token })
    assert.deepEqual([mine.status, mine.body], [200, { id: ada.id }])
  })

  await t.test('requests without a valid token get 401', async () => {
    const headers = { 'x-user-id': ada.id }
    assert.equal((await send(url, '/', { headers })).status, 401)
    assert.equal((await send(url, '/', { token: ada.forgedToken })).status, 401)
  })

  await t.test('clients cannot choose the id that the API receives', async () => {
    const { body } = await send(url, '/', { token: bob.token, headers: { 'x-user-id': ada.id } })
    assert.deepEqual(body, { id: bob.id })
  })

  await t.test('a user over the limit gets 429, and another user does not', async () => {
    await exceedLimit(5, () => send(url, '/', { token: ada.token }))
    const other = await send(url, '/', { token: bob.token })
    assert.equal(other.status, 200)
    assert.match(other.headers.get('x-ratelimit-limit') ?? '', /^5, /)
  })

  await t.test('a user with another plan has another limit', async () => {
    const { id, email } = await server.newUser()
    dataOf(await server.admin.updateUserById(id, { app_metadata: { plan: 'pro' } }))
    const body = { email, password }
    const { access_token: token } = (await send(server.url, '/token?grant_type=password', { body }))
      .body
    const { status, headers } = await send(url, '/', { token })
    assert.equal(status, 200)
    assert.match(headers.get('x-ratelimit-limit') ?? '', /^100, /)
  })

  await t.test('each API key has a limit that depends on its plan', async () => {
    const token = server.serviceToken
    const post = async (path: string, body: object) =>
      (await send(server.url, path, { token, body })).body
    const exchange = async (owner: object) => {
      const { api_key } = await post('/admin/api-keys', { ...owner, name: 'nightly' })
      const path = '/auth/v1/token?grant_type=api_key'
      return (await send(url, path, { body: { api_key } })).body.access_token
    }
    const [first, second] = [
      await exchange({ user_id: bob.id }),
      await exchange({ user_id: bob.id }),
    ]
    await exceedLimit(3, () => send(url, '/', { token: first }))
    assert.notEqual(
      (await send(url, '/', { token: second })).headers.get('x-ratelimit-limit'),
      null,
    )
    const account = await post('/admin/service-accounts', { name: 'reports', plan: 'pro' })
    const { status, body, headers } = await send(url, '/', {
      token: await exchange({ service_account_id: account.id }),
    })
    assert.deepEqual([status, body], [200, { id: account.id }])
    assert.match(headers.get('x-ratelimit-limit') ?? '', /^50, /)
  })

  await t.test('the admin API is not reachable', async () => {
    const { status } = await send(url, '/auth/v1/admin/users', { token: server.serviceToken })
    assert.equal(status, 404)
  })
})

/** The configuration with other ports. */
function toConfig(text: string, ports: Readonly<Record<string, string | undefined>>): string {
  return (
    text
      .replaceAll(/(?<=port_value: )\d+/g, (port) => {
        assert.ok(ports[port], port)
        return ports[port]
      })
      // Long, so that a busy machine does not change the outcome.
      .replaceAll(/(?<=timeout: )[\d.]+s/g, '120s')
  )
}
