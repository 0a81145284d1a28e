/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAccount } from '../../support/external-server.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { openOAuthServer } from '../../support/oauth-server.ts'
import { providerShapes } from '../../support/provider-shapes/index.ts'

const path = '/token?grant_type=id_token'

test('AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS', async (t) => {
  const shape = providerShapes.find(({ id }) => id === 'keycloak')
  assert.ok(shape)
  const [allowed, other] = [await openOAuthServer(t, shape), await openOAuthServer(t, shape)]
  const { url: issuer, clientId: client_id } = allowed
  const server = await openFlowServer(t, {
    GOTRUE_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: `https://accounts.google.com,${issuer}`,
  })
  if (!server) return
  const create = (claims = {}) => allowed.createIdToken({ ...newAccount(), ...claims })

  await t.test('ID tokens of these issuers sign users in', async () => {
    const account = newAccount()
    const signIn = async () =>
      server.post(path, { issuer, client_id, id_token: await create(account) })
    const { status, body } = await signIn()
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.user.email, account.email)
    assert.deepEqual(body.user.app_metadata, { provider: issuer, providers: [issuer] })
    assert.equal((await signIn()).body.user.id, body.user.id)
  })

  await t.test('the signature, audience and nonce are checked', async () => {
    const forged = await other.createIdToken({ ...newAccount(), iss: issuer })
    assert.equal((await server.post(path, { issuer, client_id, id_token: forged })).status, 400)
    const foreign = await create({ aud: 'another app' })
    assert.equal((await server.post(path, { issuer, client_id, id_token: foreign })).status, 400)
    const nonce = await create({ nonce: 'x' })
    assert.equal((await server.post(path, { issuer, client_id, id_token: nonce })).status, 400)
  })

  await t.test('other issuers, and those of disabled providers, are refused', async () => {
    const id_token = await other.createIdToken(newAccount())
    for (const issuer of [other.url, 'https://accounts.google.com', 'https://appleid.apple.com']) {
      const refused = await server.post(path, { issuer, client_id, id_token })
      assert.deepEqual(errorOf(refused).slice(0, 2), [400, 'provider_disabled'], issuer)
    }
  })

  await t.test('an unverified address has to be confirmed', async () => {
    const id_token = await create({ email_verified: false })
    const answer = await server.post(path, { issuer, client_id, id_token })
    assert.deepEqual(errorOf(answer).slice(0, 2), [422, 'provider_email_needs_verification'])
  })
})

test('AUTH_EXTERNAL_ALLOWED_ID_TOKEN_CLIENT_IDS restricts the audience', async (t) => {
  const shape = providerShapes.find(({ id }) => id === 'keycloak')
  assert.ok(shape)
  const { url: issuer, clientId, createIdToken } = await openOAuthServer(t, shape)
  const server = await openFlowServer(t, {
    AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: issuer,
    AUTH_EXTERNAL_ALLOWED_ID_TOKEN_CLIENT_IDS: clientId,
  })
  if (!server) return
  const ours = await createIdToken(newAccount())
  const theirs = await createIdToken({ ...newAccount(), aud: 'their app' })
  const signIn = (client_id: string, id_token: string) =>
    server.post(path, { issuer, client_id, id_token })
  assert.equal((await signIn(clientId, ours)).status, 200)
  assert.equal((await signIn('their app', theirs)).status, 400)
})
