/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPerson } from '../../security/people.ts'
import { newAccount, openExternalServer } from '../../support/external-server.ts'
import { fragmentOf } from '../../support/flow-server.ts'
import { type HttpAnswer, send } from '../../support/http-client.ts'

const elsewhere = 'https://elsewhere.example/path'
const site = 'https://site.example'
const originOf = ({ headers }: HttpAnswer) => new URL(headers.get('location') ?? 'none:').origin

for (const mode of ['auto', 'specification', 'upstream'] as const) {
  test(`AUTH_COMPAT_MODE=${mode} decides when the redirect has the tokens of the provider`, async (t) => {
    const server = await openExternalServer(t, ['keycloak'], { AUTH_COMPAT_MODE: mode })
    if (!server) return
    const plain = fragmentOf(await server.signInWith('keycloak', newAccount()))
    const scoped = fragmentOf(
      await server.signInWith('keycloak', newAccount(), { scopes: 'offline_access' }),
    )
    assert.equal('provider_token' in plain, mode === 'upstream')
    if (mode === 'upstream') assert.match(plain['provider_token'] ?? '', /^access /)
    assert.match(scoped['provider_token'] ?? '', /^access /)
    assert.equal(plain['provider'], 'keycloak')
  })
}

test('in upstream mode, a browser with a refused redirect is sent to the site, also with an error', async (t) => {
  const server = await openExternalServer(t, ['keycloak'], { AUTH_COMPAT_MODE: 'upstream' })
  if (!server) return
  const { url } = server

  const { email } = await newPerson(server)
  const link = await send(url, '/admin/generate_link', {
    token: server.serviceToken,
    body: { type: 'magiclink', email },
  })
  const verify = (token: string) =>
    send(url, `/verify?type=magiclink&token=${token}&redirect_to=${elsewhere}`)
  const verified = await verify(link.body.hashed_token)
  assert.deepEqual([verified.status, originOf(verified)], [303, site])
  assert.equal(typeof fragmentOf(verified)['access_token'], 'string')
  const failed = await verify(link.body.hashed_token)
  assert.deepEqual([failed.status, originOf(failed)], [303, site])
  assert.equal(fragmentOf(failed)['error_code'], 'otp_expired')

  const query = { provider: 'keycloak', redirect_to: elsewhere }
  const provider = server.at('keycloak')
  provider.account = newAccount()
  const { answer, url: there, cookie, state } = await server.startFlow(query)
  assert.equal(answer.status, 302)
  const back = await server.finishFlow(await provider.agree(`${there}`), cookie)
  assert.equal(originOf(back), site)
  assert.equal(typeof fragmentOf(back)['access_token'], 'string')
  const again = await server.startFlow(query)
  const denied = await server.finishFlow(
    { url: `https://auth.example/callback?state=${again.state}&error=access_denied` },
    again.cookie,
  )
  assert.equal(originOf(denied), site)
  assert.equal(fragmentOf(denied)['error'], 'access_denied')
  const unknown = await server.finishFlow(
    { url: `https://auth.example/callback?state=${state}` },
    '',
  )
  assert.equal(originOf(unknown), site)
})

test('in other modes, a refused redirect of a browser is an error', async (t) => {
  const server = await openExternalServer(t, ['keycloak'])
  if (!server) return
  const refused = await send(
    server.url,
    `/authorize?provider=keycloak&redirect_to=${encodeURIComponent(elsewhere)}`,
  )
  assert.deepEqual([refused.status, refused.body.msg], [400, 'redirect_to is not permitted'])
})
