/**
 * @legs safety
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAuthorizationServer, toExchange } from '../../support/authorization-server.ts'
import { send } from '../../support/http-client.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

test('the device grant', async (t) => {
  const server = await openAuthorizationServer(t)
  if (!server) return
  const { url, users } = server
  const user = await users.newSignedInUser()
  const device = await server.newClient({
    token_endpoint_auth_method: 'none',
    grant_types: [grantType, 'refresh_token'],
    redirect_uris: [],
  })
  const start = async (scope = 'email') =>
    (await server.ask(device, '/oauth/device_authorization', { scope })).body
  const poll = (code: string, by = device) =>
    server.ask(by, '/oauth/token', { grant_type: grantType, device_code: code })
  const errorOfPoll = async (code: string, by = device) => (await poll(code, by)).body.error
  const typeIn = (userCode: string) =>
    send(url, '/oauth/device', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${new URLSearchParams({ user_code: userCode })}`,
    })
  const idOf = async (userCode: string) => {
    const { headers } = await typeIn(userCode)
    return new URL(headers.get('location') ?? '').searchParams.get('authorization_id') ?? ''
  }

  await t.test('a user types in the code, allows it, and the device gets tokens', async () => {
    const started = await start()
    assert.match(started.user_code, /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/)
    assert.deepEqual(
      [started.verification_uri, started.interval, started.expires_in],
      [`${url}/oauth/device`, 5, 600],
    )
    assert.equal(await errorOfPoll(started.device_code), 'authorization_pending')
    assert.equal(await errorOfPoll(started.device_code), 'slow_down')
    const page = await send(url, new URL(started.verification_uri_complete).pathname)
    assert.match(page.body, /The code on your device/)
    const id = await idOf(started.user_code.toLowerCase().replace('-', ' '))
    const { body: details } = await server.details(user, id)
    assert.deepEqual([details.scope, details.redirect_uri], ['email', ''])
    const { body } = await server.decide(user, id, 'approve')
    assert.equal(body.redirect_url, `${url}/oauth/device?done=approved`)
    server.clock.aheadMs += 5_001
    const { status, body: tokens } = await poll(started.device_code)
    assert.deepEqual([status, tokens.scope], [200, 'email'])
    const profile = await send(url, '/oauth/userinfo', { token: tokens.access_token })
    assert.equal(profile.body.email, user.email)
    assert.equal(await errorOfPoll(started.device_code), 'invalid_grant')
  })

  await t.test('a refused or late request gives no tokens', async () => {
    const refused = await start()
    const id = await idOf(refused.user_code)
    await server.details(user, id)
    await server.decide(user, id, 'deny')
    assert.equal(await errorOfPoll(refused.device_code), 'access_denied')
    const late = await start()
    server.clock.aheadMs += 600_001
    assert.equal((await typeIn(late.user_code)).status, 400)
    assert.equal(await errorOfPoll(late.device_code), 'expired_token')
  })

  await t.test(
    'a user who granted this before is asked again, because someone may have sent the code',
    async () => {
      const owner = await users.newSignedInUser()
      for (const _ of [1, 2]) {
        const { user_code: code } = await start()
        const id = await idOf(code)
        const { body } = await server.details(owner, id)
        assert.equal(body.redirect_url, undefined)
        assert.equal(body.user_code, code.replace('-', ''))
        await server.decide(owner, id, 'approve')
      }
    },
  )

  await t.test('a device code is for its client and its grant only', async () => {
    const owner = await users.newSignedInUser()
    const { user_code: code, device_code: deviceCode } = await start()
    const id = await idOf(code)
    await server.details(owner, id)
    await server.decide(owner, id, 'approve')
    const other = await server.newClient({ grant_types: [grantType] })
    assert.equal(await errorOfPoll(deviceCode, other), 'invalid_grant')
    const web = await server.newClient()
    assert.equal(await errorOfPoll(deviceCode, web), 'unauthorized_client')
    const asCode = toExchange({ code: deviceCode }, '')
    assert.equal((await server.ask(web, '/oauth/token', asCode)).body.error, 'invalid_grant')
    const refused = await server.ask(web, '/oauth/device_authorization', {})
    assert.equal(refused.body.error, 'unauthorized_client')
    assert.equal((await typeIn('BBBB-BBBB')).status, 400)
    assert.equal((await poll(deviceCode)).status, 200)
  })
})
