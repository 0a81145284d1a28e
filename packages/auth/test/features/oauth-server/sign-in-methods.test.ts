/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  type AuthorizationServer,
  openAuthorizationServer,
  queryOf,
} from '../../support/authorization-server.ts'
import { newAccount } from '../../support/external-server.ts'
import type { HttpAnswer } from '../../support/http-client.ts'
import { openOAuthServer } from '../../support/oauth-server.ts'
import { createVisitor, fieldOf, type Visitor } from '../../support/page-visitor.ts'
import { createPasskeyCalls, passkeyEnvironment } from '../../support/passkeys.ts'
import { newPhone } from '../../support/phone-server.ts'
import { providerShapes } from '../../support/provider-shapes/index.ts'
import { createAuthenticator } from '../../support/software-authenticator.ts'

const builtIn = { AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '' }

/** Allows the request, and returns the code that the client gets. */
async function allow(visitor: Visitor, id: string): Promise<string | undefined> {
  assert.match((await visitor.open(id)).body, /You are signed in/)
  return queryOf(await visitor.submit(id, { step: 'approve' }))['code']
}

test('the built-in page signs users in by email and by a provider', async (t) => {
  const shape = providerShapes.find(({ id }) => id === 'keycloak')
  assert.ok(shape)
  const provider = await openOAuthServer(t, shape)
  const server = await openAuthorizationServer(t, { ...builtIn, ...provider.env })
  if (!server) return
  const { users } = server
  const client = await server.newClient()

  await t.test('a code by email signs in', async () => {
    const user = await users.newSignedInUser()
    const visitor = createVisitor(server)
    const { id } = await server.start(client)
    assert.match((await visitor.open(id)).body, /Get a code by email/)
    const sent = await visitor.submit(id, { step: 'send-code', email: user.email })
    assert.match(sent.body, new RegExp(`If <strong>${user.email}</strong> has an account`))
    const { code } = await server.mailTo(user.email)
    const wrong = await visitor.submit(id, { step: 'email-code', email: user.email, code: '000' })
    assert.equal(wrong.status, 400)
    assert.match(wrong.body, /role="alert".*name="code"/s)
    const right = await visitor.submit(id, { step: 'email-code', email: user.email, code })
    assert.equal(right.status, 303)
    assert.ok(await allow(visitor, id))
  })

  await t.test('an unknown address gets the same page, no account and no message', async () => {
    const visitor = createVisitor(server)
    const { id } = await server.start(client)
    const email = 'unknown@example.com'
    const { status, body } = await visitor.submit(id, { step: 'send-code', email })
    assert.equal(status, 200)
    assert.match(body, /If <strong>unknown@example\.com<\/strong> has an account/)
    await server.untilAnswered()
    assert.deepEqual(await server.mailsTo(email), [])
    assert.deepEqual(await server.query('select from users where email = $1', [email]), [])
  })

  const toProvider = async (visitor: Visitor, id: string) => {
    const page = await visitor.open(id)
    assert.match(page.body, /Continue with Keycloak/)
    const started = await visitor.submit(id, { step: 'provider', provider: 'keycloak' })
    assert.equal(started.status, 303)
    return new URL((await provider.agree(`${started.headers.get('location')}`)).url)
  }

  await t.test('a provider signs in, and the browser returns to the request', async () => {
    const account = newAccount()
    provider.account = account
    const visitor = createVisitor(server)
    const { id } = await server.start(client)
    const { pathname, search } = await toProvider(visitor, id)
    const returned = await visitor.get(`${pathname}${search}`)
    assert.equal(queryOf(returned)['authorization_id'], id)
    const signedIn = await visitor.follow(returned)
    assert.deepEqual([signedIn.status, queryOf(signedIn)['code']], [303, undefined])
    assert.match((await visitor.open(id)).body, new RegExp(account.email))
    assert.ok(await allow(visitor, id))
  })

  await t.test('a failure at the provider is shown, and nothing else', async () => {
    const visitor = createVisitor(server)
    const { id } = await server.start(client)
    const path = `/oauth/consent?authorization_id=${id}&error=x&error_description=Call+555`
    const { body } = await visitor.get(path)
    assert.match(body, /role="alert">The sign-in with the provider failed\.</)
    assert.doesNotMatch(body, /555/, 'anyone could write a text into a link')
    const unknown = await visitor.submit(id, { step: 'provider', provider: 'github' })
    assert.equal(unknown.status, 400)
  })
})

/** The options that the page passes to `navigator.credentials.get`. */
function optionsOf({ body }: HttpAnswer) {
  const [, text = ''] = /data-options="([^"]*)"/.exec(body) ?? []
  return JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
}

/** Opens a server for whose own page passkeys can be created. */
async function openKeyServer(t: Parameters<typeof openAuthorizationServer>[0]) {
  const environment: Record<string, string> = { ...passkeyEnvironment, ...builtIn }
  const probe = await openAuthorizationServer(t, {
    ...environment,
    AUTH_SITE_URL: 'http://localhost',
    AUTH_API_EXTERNAL_URL: 'http://localhost:9999',
    AUTH_WEBAUTHN_RP_ID: 'localhost',
    AUTH_WEBAUTHN_RP_ORIGINS: 'http://localhost:9999',
    AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: 'true',
    AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: 'true',
  })
  return probe
}

test('the built-in page signs users in with keys and second factors', async (t) => {
  const server = await openKeyServer(t)
  if (!server) return
  const origin = 'http://localhost:9999'
  const calls = createPasskeyCalls(server)
  const newAuthenticator = () => createAuthenticator({ rpId: 'localhost', origin })
  const client = await server.newClient()
  const open = async (visitor: Visitor) => {
    const { id } = await server.start(client)
    return { id, page: await visitor.open(id) }
  }
  const submit = (visitor: Visitor, id: string, fields: Readonly<Record<string, string>>) =>
    visitor.submit(id, fields, origin)
  const byEmail = async (visitor: Visitor, id: string, email: string) => {
    await submit(visitor, id, { step: 'send-code', email })
    const { code } = await server.mailTo(email)
    await submit(visitor, id, { step: 'email-code', email, code })
  }

  await t.test('a passkey signs in, by the one script that the policy allows', async () => {
    const owner = await calls.newSignedInUser()
    const authenticator = newAuthenticator()
    assert.equal((await calls.register(owner, authenticator)).status, 200)
    const visitor = createVisitor(server)
    const { id, page } = await open(visitor)
    assert.match(page.body, /Use a passkey/)
    assert.doesNotMatch(page.headers.get('content-security-policy') ?? '', /script-src/)
    const keyPage = await submit(visitor, id, { step: 'passkey-start' })
    const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(keyPage.body) ?? []
    const hash = createHash('sha256').update(script).digest('base64')
    const policy = keyPage.headers.get('content-security-policy') ?? ''
    assert.ok(policy.startsWith(`default-src 'none'; script-src 'sha256-${hash}'; `), policy)
    const answer = {
      step: 'passkey',
      challenge_id: fieldOf(keyPage, 'challenge_id'),
      credential: JSON.stringify(authenticator.get(optionsOf(keyPage))),
    }
    assert.equal((await submit(visitor, id, answer)).status, 303)
    const again = await submit(createVisitor(server), id, answer)
    assert.equal(again.status, 400, 'an answer is accepted once')
    assert.match((await visitor.open(id)).body, new RegExp(owner.email))
  })

  await t.test('a security key is accepted as the second factor', async () => {
    const owner = await calls.newSignedInUser()
    const authenticator = newAuthenticator()
    const { body: factor } = await calls.enroll(owner, { factor_type: 'webauthn' })
    const { body: begun } = await calls.challenge(owner, factor.id)
    const { publicKey } = begun.webauthn.credential_options
    const created = authenticator.create(publicKey)
    const verified = await calls.call(owner, `/factors/${factor.id}/verify`, {
      challenge_id: begun.id,
      webauthn: { type: 'create', credential_response: created },
    })
    assert.equal(verified.status, 200, JSON.stringify(verified.body))
    const visitor = createVisitor(server)
    const { id } = await open(visitor)
    await byEmail(visitor, id, owner.email)
    assert.match((await visitor.open(id)).body, /Use a security key/)
    const keyPage = await submit(visitor, id, { step: 'factor-start', factor_id: factor.id })
    const answered = await submit(visitor, id, {
      step: 'factor',
      factor_id: factor.id,
      challenge_id: fieldOf(keyPage, 'challenge_id'),
      credential: JSON.stringify(authenticator.get(optionsOf(keyPage))),
    })
    assert.equal(answered.status, 303)
    assert.match((await visitor.open(id)).body, /You are signed in/)
  })

  await t.test('a code by text message and a recovery code are accepted', async () => {
    const owner = await calls.newSignedInUser()
    const phone = newPhone()
    const { body: factor } = await calls.enroll(owner, { factor_type: 'phone', phone })
    const codeOf = async (server_: AuthorizationServer) => {
      const sql =
        "select payload from outbox where recipient = $1 and channel = 'sms' order by id desc"
      const [row] = await server_.query(sql, [phone])
      return row.payload.Code as string
    }
    const { body: begun } = await calls.challenge(owner, factor.id)
    const body = { challenge_id: begun.id, code: await codeOf(server) }
    calls.take(owner, await calls.call(owner, `/factors/${factor.id}/verify`, body))
    server.clock.aheadMs += 61_000

    const visitor = createVisitor(server)
    const { id } = await open(visitor)
    await byEmail(visitor, id, owner.email)
    const factors = await visitor.open(id)
    assert.match(factors.body, new RegExp(`the number ending in ${phone.slice(-3)}<`))
    const codePage = await submit(visitor, id, { step: 'factor-start', factor_id: factor.id })
    const given = {
      step: 'factor',
      factor_id: factor.id,
      challenge_id: fieldOf(codePage, 'challenge_id'),
    }
    const wrong = await submit(visitor, id, { ...given, code: 'x' })
    assert.equal(wrong.status, 400)
    assert.equal(fieldOf(wrong, 'challenge_id'), given.challenge_id)
    const code = await codeOf(server)
    assert.equal((await submit(visitor, id, { ...given, code })).status, 303)
    assert.match((await visitor.open(id)).body, /You are signed in/)
  })
})
