/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { type ExternalServer, openExternalServer } from '../../support/external-server.ts'
import { fragmentOf, queryOf } from '../../support/flow-server.ts'
import { openOAuthServer } from '../../support/oauth-server.ts'
import { keycloak as keycloakShape } from '../../support/provider-shapes/keycloak.ts'

const idTokenPath = '/token?grant_type=id_token'

test('provider-specific behaviour', async (t) => {
  const keycloak = await openOAuthServer(t, keycloakShape)
  const ids = ['apple', 'facebook', 'gitlab', 'slack', 'twitter', 'workos']
  const server = await openExternalServer(t, ids, {
    ...keycloak.env,
    AUTH_EXTERNAL_KEYCLOAK_URL: 'https://sso.example/realms/main/',
    AUTH_EXTERNAL_KEYCLOAK_API_URL: keycloak.url,
    AUTH_EXTERNAL_IOS_BUNDLE_ID: 'org.app',
  })
  if (!server) return
  await testApple(t, server)
  await testTwitter(t, server)

  await t.test('facebook: ID tokens from its SDKs have nonces that cannot be checked', async () => {
    const claims = {
      sub: '7',
      email: 'sdk@facebook.example',
      given_name: 'Ada',
      family_name: 'Byron',
      picture: 'https://facebook.example/7.jpg',
      nonce: 'from the SDK',
    }
    const id_token = await server.at('facebook').createIdToken(claims)
    const { status, body } = await server.post(idTokenPath, { provider: 'facebook', id_token })
    assert.equal(status, 200)
    const { full_name, avatar_url, slug } = body.user.user_metadata
    assert.deepEqual([full_name, avatar_url, slug], ['Ada Byron', claims.picture, 'Ada Byron'])
  })

  await t.test('gitlab: secondary addresses are not linked, confirmed or not', async () => {
    const { id, email } = await server.newUser()
    const { account } = server.at('gitlab').shape.example
    const emails = [{ id: 3, email, confirmed_at: '2021-03-26T19:07:56.248Z' }]
    const fragment = fragmentOf(await server.signInWith('gitlab', { ...account, emails }))
    assert.equal(fragment['provider'], 'gitlab')
    const user = await userOf(server, `${account['id']}`)
    assert.notEqual(user.id, id)
    assert.equal(user.email, account['email'])
  })

  await t.test('keycloak: the browser may use another URL than the server', async () => {
    const { url, cookie } = await server.startFlow({ provider: 'keycloak' })
    const { origin, pathname, search } = url
    assert.equal(origin, 'https://sso.example')
    const inside = `${keycloak.url}${pathname.replace('/realms/main', '')}${search}`
    const answer = await server.finishFlow(await keycloak.agree(inside), cookie)
    assert.equal(fragmentOf(answer)['provider'], 'keycloak')
    const { account } = keycloak.shape.example
    const { raw_user_meta_data: metadata } = await userOf(server, `${account['sub']}`)
    assert.equal(metadata.iss, 'https://sso.example/realms/main')
  })

  await t.test('slack: the log has the reason for a missing profile', async () => {
    const slack = server.at('slack')
    slack.failure = 'API fails'
    await server.signInWith('slack', slack.shape.example.account)
    assert.match(server.log.slice(-2).join(), /slack returned no profile: overloaded/)
  })

  await t.test('workos: workos_provider is sent as provider', async () => {
    const { url } = await server.startFlow({ provider: 'workos', workos_provider: 'GoogleOAuth' })
    assert.deepEqual(url.searchParams.getAll('provider'), ['GoogleOAuth'])
    assert.equal(url.searchParams.has('workos_provider'), false)
  })
})

async function userOf(server: ExternalServer, providerId: string) {
  const [user] = await server.query(
    'select u.* from users u join identities i on i.user_id = u.id where i.provider_id = $1',
    [providerId],
  )
  return user
}

async function testApple(t: TestContext, server: ExternalServer): Promise<void> {
  const provider = server.at('apple')
  const { account } = provider.shape.example

  await t.test('apple: the name of the first sign-in is kept if later ones lack it', async () => {
    await server.signInWith('apple', account)
    const answer = await server.signInWith('apple', { ...account, user: undefined })
    assert.equal(fragmentOf(answer)['provider'], 'apple')
    const user = await userOf(server, `${account['sub']}`)
    assert.equal(user.raw_user_meta_data.full_name, 'Grace Hopper')
    assert.equal(user.email, account['email'])
  })

  const fields = [
    ['no JSON', '{', undefined],
    ['another shape', '{"name":"Eve"}', undefined],
    ['a partial name', '{"name":{"firstName":"Eve"}}', 'Eve'],
    ['of another type', '{"sub":"x","name":{"firstName":{"a":1}}}', undefined],
  ] as const
  for (const [what, user, name] of fields) {
    await t.test(`apple: a user field that is ${what} does not prevent the sign-in`, async () => {
      const sub = `field ${what}`
      provider.account = { ...account, sub, email: `${what.replaceAll(' ', '-')}@apple.example` }
      const { url, cookie } = await server.startFlow({ provider: 'apple' })
      const { url: back, form } = await provider.agree(`${url}`)
      const answer = await server.finishFlow({ url: back, form: { ...form, user } }, cookie)
      assert.equal(fragmentOf(answer)['provider'], 'apple')
      assert.equal((await userOf(server, sub)).raw_user_meta_data.full_name, name)
    })
  }

  await t.test('apple: the cookie is sent with a cross-site form post', async () => {
    const { answer } = await server.startFlow({ provider: 'apple' })
    assert.match(answer.headers.get('set-cookie') ?? '', /; Secure; SameSite=None$/)
  })

  await t.test('apple: response mode and scopes cannot be changed', async () => {
    const query = { provider: 'apple', response_mode: 'query', scopes: 'more' }
    const { searchParams } = (await server.startFlow(query)).url
    assert.deepEqual(searchParams.getAll('response_mode'), ['form_post'])
    assert.equal(searchParams.get('scope'), 'email name')
  })

  await t.test('apple: ID tokens for the iOS app are accepted, with a hashed nonce', async () => {
    const nonce = createHash('sha256').update('once').digest('hex')
    const { user: _, ...claims } = account
    const id_token = await provider.createIdToken({ ...claims, aud: 'org.app', nonce })
    const body = { provider: 'apple', id_token, nonce: 'once' }
    const { status, body: tokens } = await server.post(idTokenPath, body)
    assert.deepEqual([status, tokens.user?.email], [200, account['email']])
    const wrong = await server.post(idTokenPath, { ...body, nonce: 'twice' })
    assert.equal(wrong.status, 400)
  })
}

async function testTwitter(t: TestContext, server: ExternalServer): Promise<void> {
  const twitter = server.at('twitter')
  const exchangeFails = /^Unable to exchange external code: /

  await t.test('twitter: the returned token must match the requested one', async () => {
    const mine = await server.startFlow({ provider: 'twitter' })
    const others = await server.startFlow({ provider: 'twitter' })
    const back = new URL((await twitter.agree(`${mine.url}`)).url)
    const stolen = new URL((await twitter.agree(`${others.url}`)).url)
    stolen.searchParams.set('state', back.searchParams.get('state') ?? '')
    const refusals = twitter.refusals.length
    const answer = await server.finishFlow({ url: stolen.href }, mine.cookie)
    assert.match(queryOf(answer)['error_description'] ?? '', exchangeFails)
    assert.match(server.log.slice(-2).join(), /twitter returned a different request token/)
    assert.equal(twitter.refusals.length, refusals, 'no request was sent')
  })

  await t.test('twitter: a wrong verifier is refused by the provider', async () => {
    const { url, cookie } = await server.startFlow({ provider: 'twitter' })
    const back = new URL((await twitter.agree(`${url}`)).url)
    back.searchParams.set('oauth_verifier', 'guessed')
    const answer = await server.finishFlow({ url: back.href }, cookie)
    assert.match(queryOf(answer)['error_description'] ?? '', exchangeFails)
    assert.equal(twitter.refusals.at(-1), 'verifier guessed')
  })

  await t.test('twitter: the state is bound to one browser', async () => {
    const { url } = await server.startFlow({ provider: 'twitter' })
    const { url: back } = await twitter.agree(`${url}`)
    const answer = await server.finishFlow({ url: back }, '')
    assert.equal(queryOf(answer)['error_description'], 'OAuth state not found or expired')
  })

  await t.test('twitter: parameters of the application are forwarded, not its token', async () => {
    const query = { provider: 'twitter', force_login: 'true', oauth_token: 'mine' }
    const { url } = await server.startFlow(query)
    assert.equal(url.searchParams.get('force_login'), 'true')
    assert.match(url.searchParams.getAll('oauth_token').join(), /^request [\da-f-]{36}$/)
  })

  await t.test('twitter: no redirect and no flow if the provider is unreachable', async () => {
    const count = async () => (await server.query('select 1 from flow_states')).length
    const before = await count()
    twitter.failure = 'oversized response'
    const { answer } = await server.startFlow({ provider: 'twitter' }).finally(() => {
      twitter.failure = undefined
    })
    assert.deepEqual([answer.status, await count()], [500, before])
  })
}
