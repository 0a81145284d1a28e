/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorOf, fragmentOf, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, sdk, send } from '../../support/http-client.ts'

test('POST /magiclink', async (t) => {
  const server = await openFlowServer(t)
  if (!server) return
  const { url, post, mailTo, mailsTo, query } = server

  await t.test('sends a link that signs in with the type magiclink', async () => {
    const { email } = await server.newUser()
    const answer = await post('/magiclink?redirect_to=https://site.example/in', { email })
    assert.deepEqual([answer.status, answer.body], [200, {}])
    const mail = await mailTo(email)
    const parameters = mail.url.searchParams
    assert.deepEqual(
      [mail.url.pathname, [...parameters.keys()]],
      ['/verify', ['token', 'type', 'redirect_to']],
    )
    const followed = await send(url, mail.path)
    assert.match(followed.headers.get('location') ?? '', /^https:\/\/site\.example\/in#/)
    const { type, access_token } = fragmentOf(followed)
    assert.equal(type, 'magiclink')
    assert.equal((await send(url, '/user', { token: access_token ?? '' })).body.email, email)
  })

  await t.test('signs new users up and confirms unconfirmed ones', async () => {
    const email = newEmail()
    await post('/magiclink', { email, data: { a: 1 } })
    server.clock.aheadMs += 61_000
    // Only the data of the request whose link is followed is stored.
    await post('/magiclink', { email, data: { b: 2 } })
    assert.deepEqual(
      (await mailsTo(email)).map(({ kind }) => kind),
      ['magic_link', 'magic_link'],
    )
    const { body } = await post('/verify', {
      type: 'magiclink',
      token: (await mailTo(email)).token,
    })
    assert.ok(body.user.email_confirmed_at)
    const [user] = await query('select raw_user_meta_data from users where email = $1', [email])
    const { a, b } = user.raw_user_meta_data
    assert.deepEqual([a, b], [undefined, 2])
  })

  await t.test('for the client library, new users get the sign-up message', async () => {
    const email = newEmail()
    await post('/magiclink', { email }, sdk)
    server.clock.aheadMs += 901_000
    await post('/magiclink', { email }, sdk)
    assert.deepEqual(
      (await mailsTo(email)).map(({ kind }) => kind),
      ['confirmation', 'confirmation'],
    )
    await post('/verify', { type: 'signup', token: (await mailTo(email)).token }, sdk)
    server.clock.aheadMs += 61_000
    await post('/magiclink', { email }, sdk)
    assert.equal((await mailTo(email)).kind, 'magic_link')
  })

  await t.test('sends at most one message per minute', async () => {
    const { email } = await server.newUser()
    await post('/magiclink', { email })
    server.clock.aheadMs += 30_000
    const early = await post('/magiclink', { email })
    assert.deepEqual([early.status, early.body.error_code], [429, 'over_email_send_rate_limit'])
    assert.equal((await mailsTo(email)).length, 1)
    // A magic link requested by another person does not delay the recovery of the account.
    assert.equal((await post('/recover', { email })).status, 200)
    server.clock.aheadMs += 30_000
    await post('/magiclink', { email })
    assert.equal((await mailsTo(email)).length, 3)
  })

  await t.test('reports invalid requests', async () => {
    assert.deepEqual(errorOf(await post('/magiclink', {})), [
      422,
      'validation_failed',
      'Password recovery requires an email',
    ])
    assert.deepEqual(errorOf(await post('/magiclink', { email: 'not-an-address' })), [
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ])
    assert.deepEqual(
      errorOf(await post('/magiclink', { email: `${'a'.repeat(250)}@example.com` })),
      [400, 'validation_failed', 'An email address is too long'],
    )
    const unparsable = await send(url, '/magiclink', { body: '{' })
    assert.deepEqual([unparsable.status, unparsable.body.error_code], [400, 'bad_json'])
  })
})

test('SMTP_MAX_FREQUENCY, if set, is also the cooldown between magic links', async (t) => {
  const server = await openFlowServer(t, { AUTH_SMTP_MAX_FREQUENCY: '10' })
  if (!server) return
  const { email } = await server.newUser()
  await server.post('/magiclink', { email })
  server.clock.aheadMs += 11_000
  await server.post('/magiclink', { email })
  assert.equal((await server.mailsTo(email)).length, 2)
})

const switches = [
  ['AUTH_EXTERNAL_EMAIL_ENABLED', 'Email logins are disabled'],
  ['AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED', 'Login with magic link is disabled'],
] as const
for (const [name, message] of switches) {
  test(`POST /magiclink and /otp are off with ${name}=false`, async (t) => {
    const server = await openFlowServer(t, { [name]: 'false' })
    if (!server) return
    for (const path of ['/magiclink', '/otp']) {
      const answer = await server.post(path, { email: newEmail() })
      assert.deepEqual(errorOf(answer), [422, 'email_provider_disabled', message])
    }
    if (name === 'AUTH_EXTERNAL_EMAIL_ENABLED') {
      for (const path of ['/recover', '/resend']) {
        const answer = await server.post(path, { email: newEmail(), type: 'signup' })
        assert.deepEqual(errorOf(answer), [400, 'email_provider_disabled', message])
      }
    }
    assert.deepEqual(await server.query('select 1 from users'), [])
  })
}
