/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { openDnsServer } from '../support/dns-server.ts'
import { newAccount, openExternalServer } from '../support/external-server.ts'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { password, send } from '../support/http-client.ts'

const refused = (email: string) => [
  400,
  'email_address_invalid',
  `Email address "${email}" is invalid`,
]

let last = 0
const newEmailAt = (domain: string) => `person${++last}@${domain}`

test('AUTH_MAILER_EMAIL_VALIDATION_EXTENDED', async (t) => {
  const dns = await openDnsServer(t, {
    'good.site': { mx: ['mx.good.site'] },
    'blocked.site': { mx: ['mx.good.site', 'MX.spam.site'] },
    'mute.site': {},
  })
  const server = await openFlowServer(
    t,
    {
      AUTH_MAILER_EMAIL_VALIDATION_EXTENDED: 'true',
      AUTH_MAILER_EMAIL_VALIDATION_BLOCKED_MX: '["mx.spam.site"]',
      AUTH_SMTP_MAX_FREQUENCY: '0',
    },
    { checkers: { dnsServers: [dns.address] } },
  )
  if (!server) return

  await t.test('messages to a domain that receives email are sent', async () => {
    const email = newEmailAt('good.site')
    assert.equal((await server.post('/signup', { email, password })).status, 200)
    assert.equal((await server.mailTo(email)).kind, 'confirmation')
  })

  await t.test(
    'a domain that receives none is refused, whether the user exists or not',
    async () => {
      for (const domain of ['mute.site', 'missing.site', 'blocked.site']) {
        for (const [path, body] of [
          ['/signup', { password }],
          ['/otp', {}],
          ['/magiclink', {}],
          ['/recover', {}],
          ['/resend', { type: 'signup' }],
        ] as const) {
          const email = newEmailAt(domain)
          const answer = await server.post(path, { ...body, email })
          assert.deepEqual(errorOf(answer), refused(email), path)
          assert.deepEqual(await server.mailsTo(email), [])
        }
      }
      const users = await server.query("select from users where email not like '%good.site'")
      assert.deepEqual(users, [])
    },
  )

  await t.test('reserved names are refused without a DNS query', async () => {
    const before = dns.questions.length
    for (const email of [
      'a.person@localhost',
      'a.person@shop.test',
      'a.person@example.com',
      'a.person@mail.example.org',
      'short@gmail.com',
    ]) {
      assert.deepEqual(errorOf(await server.post('/recover', { email })), refused(email))
    }
    assert.equal(dns.questions.length, before)
  })

  await t.test('administrators and users who change their address get the same error', async () => {
    const email = newEmailAt('missing.site')
    const token = server.serviceToken
    const invited = await send(server.url, '/invite', { body: { email }, token })
    assert.deepEqual(errorOf(invited), refused(email))
    // Users with an address that was accepted earlier can still change it.
    const admin = { email: newEmailAt('mute.site'), password, email_confirm: true }
    await send(server.url, '/admin/users', { body: admin, token })
    const { body } = await server.post('/token?grant_type=password', admin)
    const change = (address: string) =>
      send(server.url, '/user', {
        method: 'PUT',
        body: { email: address },
        token: body.access_token,
      })
    assert.deepEqual(errorOf(await change(email)), refused(email))
    assert.equal((await change(newEmailAt('good.site'))).status, 200)
  })

  await t.test('no address is refused while the DNS server is unavailable', async () => {
    dns.failure = 'server failure'
    assert.equal((await server.post('/otp', { email: newEmailAt('other.site') })).status, 200)
  })
})

/** A service that decides which addresses are valid. */
async function openValidator(t: TestContext) {
  const calls: { readonly headers: IncomingHttpHeaders; readonly body: unknown }[] = []
  const state = { status: 200, responseBody: '{"valid": true}' }
  const server = createServer(async (request, response) => {
    assert.equal(request.method, 'POST')
    calls.push({ headers: request.headers, body: JSON.parse(await text(request)) })
    response.writeHead(state.status, { 'content-type': 'application/json' })
    response.end(state.responseBody)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/check`, calls, state }
}

test('AUTH_MAILER_EMAIL_VALIDATION_SERVICE_URL', async (t) => {
  const validator = await openValidator(t)
  const server = await openExternalServer(t, ['keycloak'], {
    AUTH_MAILER_EMAIL_VALIDATION_SERVICE_URL: validator.url,
    AUTH_MAILER_EMAIL_VALIDATION_SERVICE_HEADERS:
      '{"Authorization": ["Bearer key"], "X-Tenant": ["a", "b"]}',
  })
  if (!server) return
  const otp = async (email: string) => server.post('/otp', { email })

  await t.test('the service gets the address and the headers', async () => {
    const email = newEmailAt('any.test')
    assert.equal((await otp(email)).status, 200)
    const [call] = validator.calls
    assert.deepEqual(call?.body, { email })
    assert.equal(call?.headers['content-type'], 'application/json')
    assert.equal(call?.headers.authorization, 'Bearer key')
    assert.equal(call?.headers['x-tenant'], 'b')
  })

  await t.test('only {"valid": false} refuses an address', async () => {
    validator.state.responseBody = '{"valid": false}'
    const email = newEmailAt('any.test')
    assert.deepEqual(errorOf(await otp(email)), refused(email))
    const account = newAccount({ email_verified: false })
    const { headers } = await server.signInWith('keycloak', account)
    assert.match(headers.get('location') ?? '', /error_code=email_address_invalid/)
    assert.deepEqual(await server.mailsTo(account.email), [])
    for (const [status, responseBody] of [
      [200, '{}'],
      [200, 'no'],
      [200, '{"valid": null}'],
      [500, '{"valid": false}'],
      [302, '{"valid": false}'],
    ] as const) {
      Object.assign(validator.state, { status, responseBody })
      assert.equal((await otp(newEmailAt('any.test'))).status, 200, responseBody)
    }
  })

  await t.test('each of the two outages of the service is logged once', () => {
    const lines = server.log.filter((line) => line.includes('email validation service'))
    assert.equal(lines.length, 2, lines.join(''))
  })
})
