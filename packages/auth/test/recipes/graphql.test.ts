/**
 * @servers postgres
 */
// The recipe docs/recipes/graphql.md.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startExample } from '../support/example-program.ts'
import { send } from '../support/http-client.ts'
import { exceedLimit, openRecipeServer } from './support/recipe-server.ts'

test('the GraphQL API shows users their own notes and limits each user', async (t) => {
  const server = await openRecipeServer(t)
  if (!server) return
  const api = await startExample(t, 'recipes/graphql/api.ts', { AUTH_URL: server.url })
  const run = async (query: string, token?: string) => {
    const headers = { accept: 'application/graphql-response+json' }
    const options = { body: { query }, headers, ...(token !== undefined && { token }) }
    const { status, body } = await send(api, '/graphql', options)
    return { status, body: typeof body === 'string' ? JSON.parse(body) : body }
  }
  const [ada, bob] = [await server.openSession(), await server.openSession()]

  await t.test('each user sees only their own notes', async () => {
    await run('mutation { addNote(text: "buy milk") }', ada.token)
    const mine = await run('{ me notes }', ada.token)
    assert.deepEqual(mine, {
      status: 200,
      body: { data: { me: ada.email, notes: ['buy milk'] } },
    })
    const other = await run('{ me notes }', bob.token)
    assert.deepEqual(other.body, { data: { me: bob.email, notes: [] } })
  })

  await t.test('anonymous callers have no notes, and a forged token gets 401', async () => {
    assert.deepEqual((await run('{ me }')).body, { data: { me: null } })
    const { errors } = (await run('{ notes }')).body
    assert.equal(errors[0].extensions.code, 'UNAUTHENTICATED')
    const forged = await run('{ me }', ada.forgedToken)
    assert.equal(forged.status, 401)
    assert.match(forged.body.errors[0].message, /signature/)
  })

  await t.test('a query with many aliases is refused', async () => {
    const aliases = Array.from({ length: 21 }, (_, index) => `a${index}: me`)
    const { status, body } = await run(`{ ${aliases.join(' ')} }`, bob.token)
    assert.equal(status, 400)
    assert.match(body.errors[0].message, /21 aliases/)
  })

  await t.test('a user over the limit gets 429, and another user does not', async () => {
    const refused = await exceedLimit(20, () => run('{ me }', ada.token))
    assert.match(refused.body.errors[0].message, /^Try again in \d+ s\.$/)
    assert.equal((await run('{ me }', bob.token)).status, 200)
  })

  await t.test('guesses of tokens are limited by address', async () => {
    const { body } = await exceedLimit(10, () => run('{ me }', ada.forgedToken))
    assert.match(body.errors[0].message, /^Try again in/)
  })
})
