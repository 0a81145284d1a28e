/**
 * @servers postgres
 */
// The recipe docs/recipes/verify-tokens.md.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startExample } from '../support/example-program.ts'
import { send } from '../support/http-client.ts'
import { openRecipeServer } from './support/recipe-server.ts'

test('each API identifies users by their tokens without a request to the auth server', async (t) => {
  const server = await openRecipeServer(t)
  if (!server) return
  const [ada, bob] = [await server.openSession(), await server.openSession()]
  const frameworks = ['express', 'fastify', 'hono']
  for (const framework of frameworks) {
    await t.test(framework, async (t) => {
      const file = `recipes/verify-tokens/${framework}.ts`
      const api = await startExample(t, file, { AUTH_URL: server.url })
      assert.equal((await send(api, '/health')).status, 200)
      for (const { id, email, token } of [ada, bob]) {
        const { status, body } = await send(api, '/me', { token })
        assert.deepEqual([status, body], [200, { id, email }])
      }
      const anonymous = await send(api, '/me')
      assert.equal(anonymous.status, 401)
      assert.match(anonymous.headers.get('www-authenticate') ?? '', /^Bearer/)
      const forged = await send(api, '/me', { token: ada.forgedToken })
      assert.deepEqual([forged.status, forged.body.error], [401, 'bad_signature'])
      const service = await send(api, '/me', { token: server.serviceToken })
      assert.equal(service.status, 401)
    })
  }
  assert.equal(server.countKeyRequests(), frameworks.length, 'each API fetched the keys once')
})
