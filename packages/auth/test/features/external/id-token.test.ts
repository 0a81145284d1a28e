/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { newAccount, openExternalServer } from '../../support/external-server.ts'
import { errorOf } from '../../support/flow-server.ts'
import { type HttpAnswer, password, send } from '../../support/http-client.ts'

const path = '/token?grant_type=id_token'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const refusalOf = ({ status, body }: HttpAnswer) => [status, body.error, body.error_description]

test('sign-in with an ID token', async (t) => {
  const server = await openExternalServer(t, ['keycloak', 'google', 'github'], {
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_EXTERNAL_GOOGLE_SKIP_NONCE_CHECK: 'true',
  })
  if (!server) return
  const keycloak = server.at('keycloak')
  const provider = 'keycloak'
  const create = (claims = {}) => keycloak.createIdToken({ ...newAccount(), ...claims })

  await t.test('creates a user, who is found again at the next sign-in', async () => {
    const account = newAccount()
    const first = await server.post(path, { provider, id_token: await create(account) })
    assert.equal(first.status, 200)
    assert.equal(first.body.user.email, account.email)
    assert.deepEqual(first.body.user.app_metadata, { provider, providers: [provider] })
    const second = await server.post(path, { provider, id_token: await create(account) })
    assert.equal(second.body.user.id, first.body.user.id)
  })

  await t.test('a disabled provider is named by its issuer', async () => {
    const tokenOf = (iss: string) =>
      ['e30', Buffer.from(JSON.stringify({ iss })).toString('base64url'), 'x'].join('.')
    const tenant = 'https://login.microsoftonline.com/0b1c/v2.0'
    const cases = [
      ['facebook', 'any', 'https://www.facebook.com'],
      ['apple', tokenOf('https://account.apple.com'), 'https://account.apple.com'],
      ['apple', 'x.y', 'https://appleid.apple.com'],
      ['azure', tokenOf(tenant), tenant],
    ] as const
    for (const [id, id_token, issuer] of cases) {
      const message = `Provider (issuer "${issuer}") is not enabled`
      assert.deepEqual(
        errorOf(await server.post(path, { provider: id, id_token })),
        [400, 'provider_disabled', message],
        id,
      )
    }
    for (const id of ['gitlab', 'nowhere']) {
      const { body } = await server.post(path, { provider: id, id_token: 'x' })
      assert.equal(body.msg, `Custom OIDC provider "${id}" not allowed`)
    }
  })

  await t.test('a nonce must match the hash in the token', async () => {
    const id_token = await create({ nonce: sha256('right') })
    const fine = await server.post(path, { provider, id_token, nonce: 'right' })
    assert.equal(fine.status, 200)
    const wrong = await server.post(path, { provider, id_token, nonce: 'wrong' })
    assert.deepEqual(refusalOf(wrong), [400, 'invalid nonce', 'Nonces mismatch'])
  })

  await t.test('the nonce check can be disabled', async () => {
    const id_token = await server.at('google').createIdToken({ ...newAccount(), nonce: 'any' })
    assert.equal((await server.post(path, { provider: 'google', id_token })).status, 200)
  })

  await t.test('an access token must match the at_hash of the ID token', async () => {
    const half = createHash('sha256').update('access').digest().subarray(0, 16)
    const id_token = await create({ at_hash: half.toString('base64url') })
    const fine = await server.post(path, { provider, id_token, access_token: 'access' })
    assert.equal(fine.status, 200)
    const wrong = await server.post(path, { provider, id_token, access_token: 'another' })
    assert.deepEqual(refusalOf(wrong), [400, 'invalid request', 'Bad ID token'])
  })

  await t.test('older apps send an issuer and a client id', async () => {
    const { url: issuer, clientId: client_id } = keycloak
    const id_token = await create()
    assert.equal((await server.post(path, { issuer, client_id, id_token })).status, 200)
    const other = await server.post(path, { issuer, client_id: 'other', id_token })
    assert.deepEqual(refusalOf(other), [
      400,
      'invalid request',
      'Unacceptable audience in id_token: [other]',
    ])
  })

  await t.test('a claim of the wrong type is refused with its name', async () => {
    const wrong: Readonly<Record<string, readonly [value: unknown, error: string]>> = {
      sub: [{ a: 'b' }, 'Bad ID token: the user id must be a string'],
      email: [['a@b.example'], 'Bad ID token: email must be a string'],
      email_verified: [{ a: true }, 'Bad ID token: email_verified must be a boolean'],
      name: [{}, 'Bad ID token: name must be a string'],
      given_name: [1, 'Bad ID token: given_name must be a string'],
      preferred_username: [['x'], 'Bad ID token: preferred_username must be a string'],
      at_hash: [{}, 'Bad ID token: at_hash must be a string'],
      iss: [[keycloak.url], 'Bad ID token'],
      aud: [[{ a: 'b' }], 'Unacceptable audience in id_token: []'],
      exp: ['tomorrow', 'Bad ID token'],
      nonce: [{}, 'Passed nonce and nonce in id_token should either both exist or not.'],
    }
    for (const [claim, [value, error]] of Object.entries(wrong)) {
      const id_token = await create({ [claim]: value })
      const refused = await server.post(path, { provider, id_token, access_token: 'access' })
      assert.deepEqual(refusalOf(refused), [400, 'invalid request', error], claim)
    }
    const subjects = [['a'], true, 1.5, 'x'.repeat(256), 'a\u0000b', '\ud800']
    for (const sub of subjects) {
      const refused = await server.post(path, { provider, id_token: await create({ sub }) })
      assert.equal(refused.status, 400, JSON.stringify(sub))
    }
    assert.doesNotMatch(server.log.join(''), /level=error/)
  })

  await t.test('a missing parameter is named', async () => {
    assert.deepEqual(refusalOf(await server.post(path, { provider })), [
      400,
      'invalid request',
      'id_token required',
    ])
    assert.deepEqual(refusalOf(await server.post(path, { id_token: 'x' })), [
      400,
      'invalid request',
      'provider or client_id and issuer required',
    ])
    assert.deepEqual(errorOf(await server.post(path, { provider: 'github', id_token: 'x' })), [
      400,
      'validation_failed',
      'Custom OIDC provider "github" not allowed',
    ])
    assert.deepEqual(errorOf(await server.post(path, { provider: 'apple', id_token: 'x' }))[0], 400)
  })

  await t.test('an unverified address has to be confirmed first', async () => {
    const id_token = await create({ email_verified: false })
    const answer = await server.post(path, { provider, id_token })
    assert.deepEqual(errorOf(answer).slice(0, 2), [422, 'provider_email_needs_verification'])
  })

  await t.test('with a bearer token the identity is linked to that user', async () => {
    const { id, email } = await server.newUser()
    const { body } = await server.post('/token?grant_type=password', { email, password })
    const link = { provider, id_token: await create(), link_identity: true }
    assert.equal((await server.post(path, link)).status, 401)
    const linked = await send(server.url, path, { body: link, token: body.access_token })
    assert.equal(linked.status, 200)
    assert.equal(linked.body.user.id, id)
    assert.deepEqual(linked.body.user.app_metadata.providers, ['email', provider])
    const again = await send(server.url, path, { body: link, token: body.access_token })
    assert.deepEqual(errorOf(again), [422, 'identity_already_exists', 'Identity is already linked'])
  })

  await t.test('the keys of the provider are fetched once', async () => {
    const before = keycloak.refusals.length
    const started = keycloak.keyRequests
    await server.post(path, { provider, id_token: await create() })
    await server.post(path, { provider, id_token: await create() })
    assert.deepEqual([keycloak.refusals.length, keycloak.keyRequests], [before, started])
    assert.ok(started > 0)
  })
})
