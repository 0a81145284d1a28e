/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAccount, openExternalServer } from '../../support/external-server.ts'
import { errorOf, fragmentOf, openFlowServer } from '../../support/flow-server.ts'
import { newEmail, password, type RequestOptions, send } from '../../support/http-client.ts'

test('messages are sent only to authorized addresses', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'Ada@team.example, grace@team.example',
    AUTH_SMTP_MAX_FREQUENCY: '0',
  })
  if (!server) return
  const { url, serviceToken } = server
  const admin = (path: string, body: unknown, method = 'POST') =>
    send(url, path, { body, method, token: serviceToken })

  /** The user is created by an administrator, so no message is sent. */
  const newPerson = async (email: string) => {
    const { body: user } = await admin('/admin/users', { email, email_confirm: true })
    const link = await admin('/admin/generate_link', { type: 'magiclink', email })
    const { hashed_token: token } = link.body
    const { body } = await server.post('/verify', { type: 'magiclink', token })
    return { id: user.id, email, token: body.access_token as string }
  }
  const unauthorized = await newPerson(newEmail())
  const refusalOf = (email: string) => [
    400,
    'email_address_not_authorized',
    `Email address "${email}" cannot be used as it is not authorized`,
  ]

  await t.test('whether or not the address belongs to a user', async () => {
    for (const email of [unauthorized.email, newEmail()]) {
      const requests: readonly [string, RequestOptions][] = [
        ['/signup', { body: { email, password } }],
        ['/otp', { body: { email } }],
        ['/magiclink', { body: { email } }],
        ['/recover', { body: { email } }],
        ['/resend', { body: { type: 'signup', email } }],
        ['/invite', { body: { email }, token: serviceToken }],
        ['/admin/generate_link', { body: { type: 'invite', email }, token: serviceToken }],
      ]
      for (const [path, options] of requests) {
        assert.deepEqual(errorOf(await send(url, path, options)), refusalOf(email), path)
      }
    }
    assert.deepEqual(await server.query('select * from outbox'), [])
  })

  await t.test('also for requests of a signed-in user', async () => {
    const { token, email } = unauthorized
    const nonce = await send(url, '/reauthenticate', { token })
    assert.deepEqual(errorOf(nonce), refusalOf(email))
    const other = newEmail()
    const change = await send(url, '/user', { method: 'PUT', body: { email: other }, token })
    assert.deepEqual(errorOf(change), refusalOf(other))
  })

  await t.test('in every spelling, and with a plus suffix', async () => {
    for (const email of ['ADA@team.example', 'ada+one@team.example', 'grace+a+b@team.example']) {
      const { status, body } = await server.post('/otp', { email })
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal((await server.mailsTo(email.toLowerCase())).length, 1, email)
    }
    for (const email of ['ada@team.example.org', '+@team.example', 'xada@team.example']) {
      assert.equal((await server.post('/otp', { email })).status, 400, email)
    }
  })
})

test('an address needs no authorization if no message is sent to it', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'ada@team.example',
    AUTH_MAILER_AUTOCONFIRM: 'true',
  })
  if (!server) return
  assert.equal((await server.post('/signup', { email: newEmail(), password })).status, 200)
})

test('an unverified provider address that has to be confirmed must be authorized', async (t) => {
  const server = await openExternalServer(t, ['keycloak'], {
    AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'ada@team.example',
  })
  if (!server) return
  const unverified = await server.signInWith('keycloak', newAccount({ email_verified: false }))
  assert.equal(fragmentOf(unverified)['error_code'], 'email_address_not_authorized')
  assert.deepEqual(await server.query('select * from users'), [])
  const verified = fragmentOf(await server.signInWith('keycloak', newAccount()))
  assert.ok(verified['access_token'], 'a verified address needs no message')
})
