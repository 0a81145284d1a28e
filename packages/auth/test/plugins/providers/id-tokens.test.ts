/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { type ProviderId, providerIds, providers } from '../../../src/plugins/providers/index.ts'
import type { ProviderDefinition } from '../../../src/plugins/providers/oauth/provider.ts'
import { type ExternalServer, openExternalServer } from '../../support/external-server.ts'
import { errorOf, fragmentOf } from '../../support/flow-server.ts'
import type { Account, ShapeExample } from '../../support/provider-shape.ts'

const path = '/token?grant_type=id_token'

test('only these providers have ID tokens that apps can sign in with', () => {
  const hasIdTokens = (id: ProviderId) => {
    const definition: ProviderDefinition = providers[id]
    const url = definition.url ?? 'https://provider.example'
    const steps = definition.create({
      id,
      clientIds: ['client'],
      secret: 'secret',
      redirectUri: 'https://auth.example/callback',
      at: { url, apiUrl: url, isPublic: true },
      http: {
        fetchObject: () => Promise.reject(new Error('no request expected')),
        fetchList: () => Promise.reject(new Error('no request expected')),
        fetch: () => Promise.reject(new Error('no request expected')),
      },
      openId: { verify: () => Promise.reject(new Error('no token expected')) },
    })
    return steps.idTokens !== undefined
  }
  assert.deepEqual(providerIds.filter(hasIdTokens), [
    ...['apple', 'azure', 'facebook', 'google', 'keycloak'],
    ...['kakao', 'linkedin_oidc', 'snapchat', 'vercel_marketplace'],
  ])
})

test('ID tokens of kakao, linkedin_oidc, snapchat and vercel_marketplace', async (t) => {
  const ids = ['kakao', 'linkedin_oidc', 'snapchat', 'vercel_marketplace', 'zoom']
  const server = await openExternalServer(t, ids, {
    AUTH_EXTERNAL_KAKAO_CLIENT_ID: 'client of kakao,native app',
    AUTH_EXTERNAL_SNAPCHAT_EMAIL_OPTIONAL: 'true',
  })
  if (!server) return
  await testKakao(t, server)
  await testSnapchat(t, server)

  await t.test(
    'linkedin_oidc and vercel_marketplace: the token has the whole profile',
    async () => {
      for (const provider of ['linkedin_oidc', 'vercel_marketplace']) {
        const { identityData }: ShapeExample = server.at(provider).shape.example
        const { status, body } = await signIn(server, provider)
        assert.equal(status, 200, provider)
        assert.equal(body.user.email, identityData['email'])
        const { iss, ...data } = body.user.identities[0].identity_data
        const { iss: _, ...expected } = identityData
        assert.deepEqual(data, expected)
        assert.ok(iss.startsWith(server.at(provider).url), iss)
        assert.deepEqual(body.user.app_metadata, { provider, providers: [provider] })
      }
    },
  )

  await t.test('the user of an ID token is the one of the redirect flow', async () => {
    for (const provider of ['linkedin_oidc', 'vercel_marketplace']) {
      const { account } = server.at(provider).shape.example
      const { access_token: token = '' } = fragmentOf(await server.signInWith(provider, account))
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
      assert.equal((await signIn(server, provider)).body.user.id, claims.sub, provider)
    }
  })

  await t.test('linkedin_oidc: an unverified address has to be confirmed first', async () => {
    const { unverified = {} } = server.at('linkedin_oidc').shape.example
    const refused = await signIn(server, 'linkedin_oidc', unverified)
    assert.deepEqual(errorOf(refused).slice(0, 2), [422, 'provider_email_needs_verification'])
  })

  await t.test('a token for another client or of another issuer is refused', async () => {
    for (const provider of ['kakao', 'linkedin_oidc', 'snapchat', 'vercel_marketplace']) {
      const claims = { sub: '1', email: 'another-user@example.com' }
      const other = await signIn(server, provider, { ...claims, aud: 'another client' })
      assert.equal(
        other.body.error_description,
        'Unacceptable audience in id_token: [another client]',
      )
      const elsewhere = await signIn(server, provider, { ...claims, iss: 'https://evil.example' })
      assert.equal(elsewhere.body.error_description, 'Bad ID token', provider)
    }
  })

  await t.test('a provider without ID tokens refuses them', async () => {
    const refused = await server.post(path, { provider: 'zoom', id_token: 'x' })
    assert.deepEqual(errorOf(refused), [
      400,
      'validation_failed',
      'Custom OIDC provider "zoom" not allowed',
    ])
  })
})

async function signIn(server: ExternalServer, provider: string, claims: Account = {}) {
  const id_token = await server.at(provider).createIdToken(claims)
  return server.post(path, { provider, id_token })
}

async function testKakao(t: TestContext, server: ExternalServer): Promise<void> {
  const kakao = server.at('kakao')
  const { account, identityData } = kakao.shape.example
  const sub = `${account['id']}`

  await t.test('kakao: the user of the redirect flow signs in with an ID token', async () => {
    assert.equal(fragmentOf(await server.signInWith('kakao', account))['provider'], 'kakao')
    const claims = { sub, nickname: '홍길동', email: identityData['email'] }
    const { status, body } = await signIn(server, 'kakao', claims)
    assert.deepEqual([status, body.user?.email], [200, identityData['email']])
    assert.equal(body.user.identities.length, 1)
  })

  await t.test(
    'kakao: ID tokens for the native app are accepted, with a hashed nonce',
    async () => {
      const nonce = createHash('sha256').update('once').digest('hex')
      const id_token = await kakao.createIdToken({
        sub,
        aud: 'native app',
        nonce,
        email: 'a@b.example',
      })
      const body = { provider: 'kakao', id_token, nonce: 'once' }
      assert.equal((await server.post(path, body)).status, 200)
      const wrong = await server.post(path, { ...body, nonce: 'twice' })
      assert.equal(wrong.body.error_description, 'Nonces mismatch')
    },
  )

  await t.test(
    'kakao: an ID token does not prove the address, so no account is linked',
    async () => {
      const { id, email } = await server.newUser()
      const refused = await signIn(server, 'kakao', { sub: 'another', nickname: 'Eve', email })
      assert.notEqual(refused.body.user?.id, id)
      const linked = await server.query('select 1 from identities where user_id = $1', [id])
      assert.equal(linked.length, 1)
    },
  )

  await t.test('kakao: a masked address is not stored', async () => {
    const masked = { is_email_valid: false, is_email_verified: true, email: 'ka***@kakao.example' }
    const fragment = fragmentOf(
      await server.signInWith('kakao', { id: 4, kakao_account: { profile: {}, ...masked } }),
    )
    const message = 'Error getting user email from external provider'
    assert.equal(fragment['error_description'], message)
    assert.deepEqual(await server.mailsTo(masked.email), [])
  })
}

async function testSnapchat(t: TestContext, server: ExternalServer): Promise<void> {
  await t.test(
    'snapchat: a user without an address signs in if addresses are optional',
    async () => {
      const { account, withoutEmail } = server.at('snapchat').shape.example
      const answer = await server.signInWith('snapchat', { ...account, ...withoutEmail })
      assert.equal(fragmentOf(answer)['provider'], 'snapchat')
      const sub = `${withoutEmail['externalId']}`
      const { status, body } = await signIn(server, 'snapchat', { sub, name: 'Joan' })
      assert.equal(status, 200)
      assert.deepEqual([body.user.email, body.user.user_metadata.full_name], ['', 'Joan'])
    },
  )
}
