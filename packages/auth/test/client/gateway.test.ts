/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createAuthClient,
  dataOf,
  enterByFragment,
  follow,
  openClientServer,
} from '../support/auth-js.ts'
import { newEmail, password } from '../support/http-client.ts'

test('the client works behind a gateway, configured like supabase-js', async (t) => {
  const server = await openClientServer(t, {
    AUTH_API_EXTERNAL_URL: 'https://project.example/auth/v1',
    AUTH_API_PATH_PREFIX: '/auth/v1',
  })
  if (!server) return
  const url = `${server.url}/auth/v1`
  const setups = {
    'an API key that is a JWT': server.serviceToken,
    'an opaque API key': 'sb_publishable_0123456789abcdef',
  }

  for (const [name, key] of Object.entries(setups)) {
    await t.test(`below a path prefix, with ${name} in every request`, async () => {
      const headers = {
        apikey: key,
        Authorization: `Bearer ${key}`,
        'X-Client-Info': 'supabase-js-node/2.119.0',
      }
      const client = createAuthClient(url, { headers })
      const email = newEmail()
      dataOf(await client.signUp({ email, password }))
      const { link } = await server.mailbox.readNext(email)
      assert.match(link, /^https:\/\/project\.example\/auth\/v1\/verify\?/)
      const followed = await follow(link.replace('https://project.example', server.url))
      dataOf(await enterByFragment(client, followed))
      dataOf(await client.refreshSession())
      dataOf(await client.updateUser({ data: { a: 1 } }))
      assert.equal(dataOf(await client.getUser()).user.user_metadata['a'], 1)
      assert.equal(dataOf(await client.getClaims())?.claims.email, email)
      assert.equal((await client.signOut()).error, null)
      dataOf(await client.signInWithPassword({ email, password }))
    })
  }
})
