/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { dataOf, errorOf, openClientServer } from '../support/auth-js.ts'
import { send } from '../support/http-client.ts'
import { signingKeys } from '../support/signing-keys.ts'

const callback = 'https://client.example/callback'

test('the OAuth methods of the client library', async (t) => {
  const server = await openClientServer(t, {
    AUTH_OAUTH_SERVER_ENABLED: 'true',
    AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '/consent',
    AUTH_JWT_KEYS: signingKeys,
  })
  if (!server) return
  const { email, id: userId } = await server.newUser()
  const tab = await server.signIn(email)
  const client = dataOf(
    await server.admin.oauth.createClient({ client_name: 'Notes', redirect_uris: [callback] }),
  )
  const start = async () => {
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: callback,
      response_type: 'code',
      code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
      code_challenge_method: 'S256',
    })
    const { headers } = await send(server.url, `/oauth/authorize?${query}`)
    const { searchParams } = new URL(headers.get('location') ?? '')
    return searchParams.get('authorization_id') ?? ''
  }

  const first = await start()
  assert.deepEqual(dataOf(await tab.oauth.getAuthorizationDetails(first)), {
    authorization_id: first,
    redirect_uri: callback,
    client: { id: client.client_id, name: 'Notes' },
    user: { id: userId, email },
    scope: 'email',
  })
  const denied = dataOf(await tab.oauth.denyAuthorization(first))
  assert.equal(new URL(denied.redirect_url).searchParams.get('error'), 'access_denied')

  const second = await start()
  dataOf(await tab.oauth.getAuthorizationDetails(second))
  const approved = dataOf(await tab.oauth.approveAuthorization(second))
  assert.ok(new URL(approved.redirect_url).searchParams.get('code'))
  const silent = dataOf(await tab.oauth.getAuthorizationDetails(await start()))
  assert.deepEqual(Object.keys(silent), ['redirect_url'])

  const [grant] = dataOf(await tab.oauth.listGrants())
  assert.deepEqual([grant?.client.id, grant?.scopes], [client.client_id, ['email']])
  dataOf(await tab.oauth.revokeGrant({ clientId: client.client_id }))
  assert.deepEqual(dataOf(await tab.oauth.listGrants()), [])
  assert.deepEqual(errorOf(await tab.oauth.revokeGrant({ clientId: client.client_id })), [
    'oauth_consent_not_found',
    404,
    'No active grant found for this client',
  ])
  const unknown = await tab.oauth.getAuthorizationDetails('unknown')
  assert.equal(errorOf(unknown)[0], 'oauth_authorization_not_found')
})
