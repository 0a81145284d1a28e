/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openExternalServer } from '../../support/external-server.ts'
import { errorOf } from '../../support/flow-server.ts'
import { password, sdk, send } from '../../support/http-client.ts'

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

test('GET /authorize redirects to the provider', async (t) => {
  const server = await openExternalServer(t, ['github', 'keycloak'], {
    AUTH_URI_ALLOW_LIST: 'app://callback',
  })
  if (!server) return
  const flowOf = async (state: string) =>
    (await server.query('select * from flow_states where id = $1', [state]))[0]

  await t.test('with the client id, callback URL, state and provider scopes', async () => {
    const { answer, url, state } = await server.startFlow({ provider: 'GitHub' })
    assert.equal(answer.status, 302)
    assert.equal(`${url.origin}${url.pathname}`, `${server.at('github').url}/login/oauth/authorize`)
    const query = Object.fromEntries(url.searchParams)
    assert.equal(query['client_id'], server.at('github').clientId)
    assert.equal(query['redirect_uri'], 'https://auth.example/callback')
    assert.equal(query['response_type'], 'code')
    assert.equal(query['scope'], 'user:email')
    assert.match(state, /^[\da-f-]{36}$/)
    const flow = await flowOf(state)
    assert.deepEqual(
      [flow.provider_type, flow.referrer, flow.code_challenge, flow.asks_scopes],
      ['github', 'https://site.example', null, false],
    )
  })

  await t.test('requested scopes are added without duplicates', async () => {
    const { url } = await server.startFlow({ provider: 'github', scopes: 'repo,user:email gist' })
    assert.equal(url.searchParams.get('scope'), 'user:email repo gist')
  })

  await t.test('other parameters are forwarded, except those of the protocol', async () => {
    const { url } = await server.startFlow({
      provider: 'keycloak',
      prompt: 'login',
      login_hint: 'ada',
      nonce: 'n',
      Client_ID: 'evil',
      redirect_uri: 'https://evil.example',
      Response_Type: 'token',
      response_mode: 'fragment',
      state: 'mine',
      scope: 'admin',
      client_secret: 'evil',
      code_verifier: 'evil',
      request_uri: 'https://evil.example/request',
    })
    const query = Object.fromEntries(url.searchParams)
    assert.deepEqual([query['prompt'], query['login_hint'], query['nonce']], ['login', 'ada', 'n'])
    assert.equal(JSON.stringify(query).includes('evil'), false)
    assert.deepEqual(
      [query['response_type'], query['scope'], query['response_mode']],
      ['code', 'profile email', undefined],
    )
    assert.notEqual(query['state'], 'mine')
  })

  await t.test('the challenge of the application is stored, and another one is sent', async () => {
    const { url, state } = await server.startFlow({
      provider: 'keycloak',
      code_challenge: challenge,
      code_challenge_method: 's256',
    })
    assert.equal(url.searchParams.get('code_challenge_method'), 'S256')
    assert.notEqual(url.searchParams.get('code_challenge'), challenge)
    const flow = await flowOf(state)
    assert.deepEqual([flow.code_challenge, flow.code_challenge_method], [challenge, 's256'])
    assert.equal(typeof flow.provider_memo.verifier, 'string')
  })

  await t.test('the browser gets a host-only cookie, and only its hash is stored', async () => {
    const { answer, state, cookie } = await server.startFlow({ provider: 'github' })
    assert.match(
      answer.headers.get('set-cookie') ?? '',
      /^__Host-auth-flow-[\da-f-]{36}=[\w-]{43}; Path=\/; Max-Age=300; HttpOnly; Secure; SameSite=Lax$/,
    )
    assert.ok(cookie.includes(state))
    const { browser_hash: hash } = await flowOf(state)
    assert.equal(hash.length, 32)
  })

  await t.test('a permitted redirect is stored, and any other is refused or replaced', async () => {
    const good = await server.startFlow({ provider: 'github', redirect_to: 'app://callback' })
    assert.equal((await flowOf(good.state)).referrer, 'app://callback')
    const count = async () => (await server.query('select count(*) from flow_states'))[0].count
    const before = await count()
    const bad = { provider: 'github', redirect_to: 'https://evil.example' }
    const refused = await server.startFlow(bad)
    assert.deepEqual(errorOf(refused.answer), [
      400,
      'validation_failed',
      'redirect_to is not permitted',
    ])
    assert.equal(await count(), before)
    const replaced = await server.startFlow(bad, sdk)
    assert.equal((await flowOf(replaced.state)).referrer, 'https://site.example')
  })

  const refusals = [
    ['google', 'Unsupported provider: provider is not enabled'],
    ['unknown', 'Unsupported provider: Provider unknown could not be found'],
    ['', 'Unsupported provider: Provider  could not be found'],
    ['__proto__', 'Unsupported provider: Provider __proto__ could not be found'],
  ] as const
  for (const [provider, message] of refusals) {
    await t.test(`provider "${provider}" is refused with a JSON error`, async () => {
      const { answer } = await server.startFlow({ provider })
      assert.deepEqual(errorOf(answer), [400, 'validation_failed', message])
    })
  }

  await t.test('an incomplete PKCE challenge is refused', async () => {
    const { answer } = await server.startFlow({ provider: 'github', code_challenge: challenge })
    assert.equal(errorOf(answer)[0], 400)
  })

  await t.test('an unknown invitation token is refused', async () => {
    const { answer } = await server.startFlow({ provider: 'github', invite_token: 'unknown' })
    assert.deepEqual(errorOf(answer), [404, 'user_not_found', 'User identified by token not found'])
  })

  await t.test('takes one statement', async () => {
    server.takeStatements()
    await server.startFlow({ provider: 'github' })
    assert.deepEqual(server.takeStatements(), ['start_flow'])
  })

  await t.test('the settings list the enabled providers', async () => {
    const { body } = await send(server.url, '/settings')
    const enabled = Object.keys(body.external).filter((id) => body.external[id])
    assert.deepEqual([Object.keys(body.external).length, enabled], [17, ['github', 'keycloak']])
  })

  await t.test('manual linking requires a user and has to be enabled', async () => {
    const path = '/user/identities/authorize?provider=github&skip_http_redirect=true'
    assert.equal((await send(server.url, path)).status, 401)
    const { email } = await server.newUser()
    const { body } = await server.post('/token?grant_type=password', { email, password })
    assert.deepEqual(errorOf(await send(server.url, path, { token: body.access_token })), [
      404,
      'manual_linking_disabled',
      'Manual linking is disabled',
    ])
  })
})
