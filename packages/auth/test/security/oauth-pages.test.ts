/**
 * @legs safety
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthorizationServer } from '../support/authorization-server.ts'
import { newAccount } from '../support/external-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { openOAuthServer } from '../support/oauth-server.ts'
import { createVisitor } from '../support/page-visitor.ts'
import { providerShapes } from '../support/provider-shapes/index.ts'

test('attacks on the built-in page of the OAuth server', async (t) => {
  const shape = providerShapes.find(({ id }) => id === 'keycloak')
  assert.ok(shape)
  const provider = await openOAuthServer(t, shape)
  const server = await openAuthorizationServer(t, {
    ...provider.env,
    AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '',
    AUTH_SESSIONS_TIMEBOX: '1h',
  })
  if (!server) return
  const client = await server.newClient()

  await t.test('the cookie ends with its session (property 119)', async () => {
    const email = newEmail()
    await send(server.url, '/admin/users', {
      token: server.serviceToken,
      body: { email, password, email_confirm: true },
    })
    const visitor = createVisitor(server)
    const first = await server.start(client)
    await visitor.submit(first.id, { step: 'sign-in', email, password })
    assert.match((await visitor.open(first.id)).body, /You are signed in/)
    server.clock.aheadMs += 3_600_001
    const later = await server.start(client)
    assert.match((await visitor.open(later.id)).body, /Sign in to/)
  })

  await t.test('the return from a provider is bound to its browser (property 119)', async () => {
    provider.account = newAccount()
    const attacker = createVisitor(server)
    const victim = createVisitor(server)
    const { id } = await server.start(client)
    await attacker.open(id)
    const started = await attacker.submit(id, { step: 'provider', provider: 'keycloak' })
    const { url } = await provider.agree(`${started.headers.get('location')}`)
    const { pathname, search } = new URL(url)
    const returned = await attacker.get(`${pathname}${search}`)
    await victim.open(id)
    const refused = await victim.follow(returned)
    assert.equal(refused.status, 400)
    assert.ok(!refused.headers.getSetCookie().join().includes('auth-session'))
    assert.match((await victim.open(id)).body, /Sign in to/)
    const other = await server.start(client)
    const { searchParams } = new URL(returned.headers.get('location') ?? '')
    const path = `/oauth/consent?authorization_id=${other.id}&code=${searchParams.get('code')}`
    assert.equal((await attacker.get(path)).status, 400, 'the code is for one request')
    assert.equal((await attacker.follow(returned)).status, 303)
  })
})
