/**
 * @legs safety
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  callback,
  openAuthorizationServer,
  queryOf,
  toExchange,
} from '../../support/authorization-server.ts'
import { createApp } from '../../support/factors.ts'
import { newEmail, password, send } from '../../support/http-client.ts'
import { createVisitor } from '../../support/page-visitor.ts'

test('the built-in consent page', async (t) => {
  const server = await openAuthorizationServer(t, {
    AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '',
    AUTH_OAUTH_SERVER_PAGE_NAME: 'Ada & Co',
    AUTH_OAUTH_SERVER_PAGE_STYLESHEET: 'https://site.example/theme.css',
  })
  if (!server) return
  const { url } = server
  const newUser = async () => {
    const email = newEmail()
    await send(url, '/admin/users', {
      token: server.serviceToken,
      body: { email, password, email_confirm: true },
    })
    return { step: 'sign-in', email, password }
  }
  const user = await newUser()
  const client = await server.newClient({ client_name: '<script>Notes</script>' })

  await t.test('a user signs in, allows the request and returns to the client', async () => {
    const visitor = createVisitor(server)
    const { id, answer, verifier } = await server.start(client, { scope: 'email notes:read' })
    assert.equal(answer.headers.get('location'), `${url}/oauth/consent?authorization_id=${id}`)
    const page = await visitor.follow(answer)
    assert.match(page.body, /Sign in to Ada &amp; Co/)
    const wrong = await visitor.submit(id, { ...user, password: 'wrong' })
    assert.equal(wrong.status, 400)
    assert.match(wrong.body, /role="alert">Invalid login credentials</)
    // A second begins, so that the sign-in and the last requests of this test are in the same one.
    server.clock.aheadMs += 1_000 - (server.clock.now() % 1_000)
    assert.equal((await visitor.submit(id, user)).status, 303)
    const consent = await visitor.open(id)
    assert.match(consent.body, /Allow <strong>&lt;script&gt;Notes&lt;\/script&gt;<\/strong>/)
    assert.match(consent.body, /See your email address.*<strong>notes:read<\/strong>/s)
    assert.match(consent.body, /sent to <strong>client\.example<\/strong>/)
    const allowed = await visitor.submit(id, { step: 'approve' })
    assert.deepEqual([allowed.status, queryOf(allowed)['state']], [303, 'the state'])
    const exchange = toExchange(queryOf(allowed), verifier)
    assert.equal((await server.ask(client, '/oauth/token', exchange)).status, 200)

    const again = await server.start(client, { scope: 'email' })
    const silent = await visitor.open(again.id)
    assert.ok(queryOf(silent)['code'], 'granted before')
    const search = `client_id=${client.client_id}&redirect_uri=${callback}&prompt=none`
    const challenge = `code_challenge=${'x'.repeat(43)}&code_challenge_method=S256`
    const path = `/oauth/authorize?${search}&${challenge}&scope=`
    assert.ok(queryOf(await visitor.get(`${path}email`))['code'])
    assert.equal(queryOf(await visitor.get(`${path}phone`))['error'], 'consent_required')
    assert.equal(queryOf(await send(url, `${path}email`))['error'], 'login_required')
    const login = await server.start(client, { scope: 'email', prompt: 'login' })
    server.clock.aheadMs += 2_000
    assert.ok(queryOf(await visitor.open(login.id))['code'], 'the sign-in was in the same second')
    const later = await server.start(client, { scope: 'email', prompt: 'login' })
    assert.match((await visitor.open(later.id)).body, /Sign in to/)
  })

  await t.test('the page runs no scripts and cannot be framed', async () => {
    const { id } = await server.start(client)
    const { headers } = await createVisitor(server).open(id)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(
      policy,
      /^default-src 'none'; style-src 'sha256-[^' ]+' https:\/\/site\.example\/theme\.css; base-uri 'none'; frame-ancestors 'none'$/,
    )
    assert.equal(headers.get('x-frame-options'), 'DENY')
  })

  await t.test('only the page itself can send its forms', async () => {
    const { id } = await server.start(client)
    const visitor = createVisitor(server)
    const forged = await visitor.submit(id, user, 'https://attacker.example')
    assert.deepEqual([forged.status, forged.headers.get('set-cookie')], [404, null])
    const set = (await visitor.submit(id, user)).headers.get('set-cookie') ?? ''
    assert.match(set, /; HttpOnly; SameSite=Lax$/)
    const [token = ''] = set.replace(/^[^=]*=/, '').split(';')
    for (const path of ['/user', '/oauth/userinfo', '/user/sessions']) {
      assert.ok((await send(url, path, { token })).status >= 401, `the cookie at ${path}`)
    }
  })

  await t.test('a user with a second factor is asked for it', async () => {
    const member = await newUser()
    const { body: session } = await server.post('/token?grant_type=password', member)
    const who = { token: session.access_token }
    const { body: factor } = await server.users.enroll(who)
    const app = createApp(factor.totp.secret, server.clock)
    await server.users.answer(who, factor.id, app.nextCode())
    const visitor = createVisitor(server)
    const { id } = await server.start(client)
    await visitor.submit(id, member)
    assert.match((await visitor.open(id)).body, /Code from your authenticator app/)
    const skipped = await visitor.submit(id, { step: 'approve' })
    assert.equal(queryOf(skipped)['code'], undefined)
    assert.equal(
      (await visitor.submit(id, { step: 'factor', factor_id: factor.id, code: app.wrongCode() }))
        .status,
      400,
    )
    assert.equal(
      (await visitor.submit(id, { step: 'factor', factor_id: factor.id, code: app.nextCode() }))
        .status,
      303,
    )
    assert.ok(queryOf(await visitor.submit(id, { step: 'approve' }))['code'])
  })

  await t.test('a user signs out, or cancels without signing in', async () => {
    const visitor = createVisitor(server)
    const { id } = await server.start(client)
    await visitor.submit(id, user)
    await visitor.submit(id, { step: 'sign-out' })
    assert.match((await visitor.open(id)).body, /Sign in to/)
    const other = await server.start(client)
    assert.equal(
      queryOf(await visitor.submit(other.id, { step: 'deny' }))['error'],
      'access_denied',
    )
    const gone = await visitor.open(other.id)
    assert.equal(gone.status, 404)
    assert.match(gone.body, /Go back to the application/)
  })
})
