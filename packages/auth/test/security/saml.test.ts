/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fragmentOf, queryOf } from '../support/flow-server.ts'
import { type HttpAnswer, send } from '../support/http-client.ts'
import { createKey, readRequest } from '../support/saml/identity-provider.ts'
import { openSsoServer } from '../support/saml/sso-server.ts'

function problemOf(answer: HttpAnswer): readonly unknown[] {
  const { error_code, error_description } = queryOf(answer)
  return [answer.status, error_code, error_description]
}

const noState = [
  303,
  'saml_relay_state_not_found',
  'SAML RelayState does not exist, try logging in again?',
]

test('sign-in with SAML withstands replay, login CSRF and open redirects', async (t) => {
  const server = await openSsoServer(t)
  if (!server) return
  const company = await server.addCompany()
  const { idp, id } = company
  const attributes = { email: ['someone@company.example'] }
  const create = (options: object = {}) =>
    idp.createResponse({ nowMs: server.clock.now(), attributes, ...options })

  await t.test(
    'an assertion signs in once, even if it is posted twice at once (property 207)',
    async () => {
      const xml = create()
      const answers = await Promise.all([server.postResponse(xml), server.postResponse(xml)])
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [302, 303])
      const again = [303, 'validation_failed', 'SAML Assertion has already been used']
      assert.deepEqual(problemOf(await server.postResponse(xml)), again)
      const { id: requestId, relayState } = await server.start({ provider_id: id })
      const answered = create({ requestId, id: '_once' })
      assert.equal((await server.postResponse(answered, { relayState })).status, 302)
      assert.deepEqual(problemOf(await server.postResponse(answered, { relayState })), noState)
    },
  )

  await t.test('a response answers the request of its flow only (property 207)', async () => {
    const [one, other] = [
      await server.start({ provider_id: id }),
      await server.start({ provider_id: id }),
    ]
    const mixed = await server.postResponse(create({ requestId: other.id }), one)
    assert.match(`${problemOf(mixed)[2]}`, /the response answers another request$/)
    const unsolicited = await server.postResponse(create(), other)
    assert.match(`${problemOf(unsolicited)[2]}`, /the response answers another request$/)
    const stolen = await server.postResponse(create({ requestId: one.id }))
    assert.match(`${problemOf(stolen)[2]}`, /answers a request that is not known$/)
  })

  await t.test('a flow of one provider is not finished by another one (property 207)', async () => {
    const other = await server.addCompany()
    const { id: requestId, relayState } = await server.start({ provider_id: id })
    const xml = other.idp.createResponse({ requestId, nowMs: server.clock.now(), attributes })
    assert.match(
      `${problemOf(await server.postResponse(xml, { relayState }))[2]}`,
      /another issuer$/,
    )
    const unknown = await server.postResponse(create({ issuer: 'https://unknown.example' }))
    assert.equal(problemOf(unknown)[1], 'saml_idp_not_found')
  })

  await t.test(
    'a state expires, and a state of another kind of sign-in is unknown (property 207)',
    async () => {
      const { id: requestId, relayState } = await server.start({ provider_id: id })
      server.clock.aheadMs += 121_000
      const late = await server.postResponse(create({ requestId }), { relayState })
      assert.equal(problemOf(late)[1], 'saml_relay_state_expired')
      assert.deepEqual(
        problemOf(await server.postResponse(create(), { relayState: randomUUID() })),
        noState,
      )
      const fresh = await server.start({ provider_id: id })
      const callback = await send(server.url, `/callback?state=${fresh.relayState}&code=1`)
      assert.equal(queryOf(callback)['error_code'], 'bad_oauth_state')
      const answer = await server.postResponse(create({ requestId: fresh.id }), fresh)
      assert.ok(fragmentOf(answer)['access_token'])
    },
  )

  await t.test(
    'a flow with a cookie ends only in the browser that started it (property 208)',
    async () => {
      const started = await server.post('/sso', { provider_id: id })
      const { id: requestId, relayState } = readRequest(started.headers.get('location') ?? '')
      const [cookie = ''] = (started.headers.get('set-cookie') ?? '').split(';')
      const xml = create({ requestId })
      // An attacker posts the response for the own account from a form in the browser of the victim.
      assert.deepEqual(problemOf(await server.postResponse(xml, { relayState })), noState)
      const wrong = { cookie: cookie.replace(/=.*/, '=other') }
      assert.deepEqual(
        problemOf(await server.postResponse(xml, { relayState, headers: wrong })),
        noState,
      )
      const answer = await server.postResponse(xml, { relayState, headers: { cookie } })
      assert.ok(fragmentOf(answer)['access_token'])
      assert.match(answer.headers.get('set-cookie') ?? '', /=; Path=\/; Max-Age=0/)
    },
  )

  await t.test('a code of a PKCE flow is useless without the verifier (property 208)', async () => {
    const challenge = createHash('sha256').update('v'.repeat(64)).digest('base64url')
    const body = { code_challenge: challenge, code_challenge_method: 's256' }
    const answer = await server.signIn(company, {}, body)
    const exchange = { auth_code: queryOf(answer)['code'], code_verifier: 'w'.repeat(64) }
    const { body: refused } = await server.post('/token?grant_type=pkce', exchange)
    assert.equal(refused.error_code, 'bad_code_verifier')
  })

  await t.test(
    'RelayState and redirect_to lead only to permitted pages (property 209)',
    async () => {
      for (const relayState of ['https://evil.example/', 'javascript:alert(1)', '//evil.example']) {
        const answer = await server.postResponse(create(), { relayState })
        assert.match(
          answer.headers.get('location') ?? '',
          /^https:\/\/site\.example[?#]/,
          relayState,
        )
      }
      const { body } = await server.post('/sso', {
        provider_id: id,
        redirect_to: 'https://evil.example',
      })
      assert.equal(body.msg, 'redirect_to is not permitted')
    },
  )

  await t.test('a banned user and a disabled provider are refused (property 207)', async () => {
    const answer = await server.signIn(company, { nameId: 'banned' })
    assert.equal(answer.status, 302)
    await server.query(
      `update users set banned_until = '2999-01-01' where id =
       (select user_id from identities where provider_id = 'banned')`,
    )
    assert.equal(problemOf(await server.signIn(company, { nameId: 'banned' }))[1], 'user_banned')
    const started = await server.start({ provider_id: id })
    await server.query('update sso_providers set disabled = true where id = $1', [id])
    const late = await server.postResponse(create({ requestId: started.id }), started)
    assert.equal(problemOf(late)[1], 'sso_provider_disabled')
    assert.equal(problemOf(await server.postResponse(create()))[1], 'sso_provider_disabled')
    await server.query('update sso_providers set disabled = false where id = $1', [id])
  })

  await t.test('an address never leads to an account of another kind (property 210)', async () => {
    const { id: userId, email } = await server.newUser()
    const answer = await server.signIn(company, { nameId: email, attributes: { email: [email] } })
    const { body } = await send(server.url, '/user', {
      token: fragmentOf(answer)['access_token'] ?? '',
    })
    assert.equal(body.email, email)
    assert.notEqual(body.id, userId)
    // Nor does a sign-in by email find the user of the company.
    const { body: recovered } = await server.post('/recover', { email })
    assert.deepEqual(recovered, {})
    await server.untilAnswered()
    const [token] = await server.query(
      "select user_id from one_time_tokens where token_type = 'recovery'",
    )
    assert.equal(token?.user_id ?? userId, userId)
  })
})

test('metadata is fetched only from public addresses over TLS, and again for a new key (properties 206 and 211)', async (t) => {
  const server = await openSsoServer(t, { AUTH_SAML_ALLOW_IDP_INITIATED: 'false' })
  if (!server) return
  const create = (url: string) =>
    send(server.url, '/admin/sso/providers', {
      token: server.serviceToken,
      body: { type: 'saml', metadata_url: url },
    })
  for (const host of ['127.0.0.1', 'localhost', '169.254.169.254', '[::1]', '10.0.0.1']) {
    const { status, body } = await create(`https://${host}/metadata`)
    assert.deepEqual(
      [status, body.error_code, body.msg],
      [400, 'saml_metadata_fetch_failed', `Error fetching SAML Metadata from ${host}`],
    )
  }
  const company = await server.addCompany()
  const change = (body: object) =>
    send(server.url, `/admin/sso/providers/${company.id}`, {
      method: 'PUT',
      token: server.serviceToken,
      body,
    })
  const key = createKey()
  assert.equal((await server.signIn(company, { key })).status, 303)
  await change({ metadata_xml: company.idp.metadata([company.idp.key, key]) })
  assert.equal((await server.signIn(company, { key })).status, 302)
  const expired = 'validUntil="2020-01-01T00:00:00Z"'
  await change({ metadata_xml: company.idp.metadata(undefined, expired) })
  const { body } = await server.post('/sso', { provider_id: company.id })
  assert.match(body.msg, /has expired and must be updated/)
  await change({ metadata_xml: company.idp.metadata() })
  const unsolicited = await server.postResponse(
    company.idp.createResponse({ nowMs: server.clock.now() }),
  )
  assert.match(`${problemOf(unsolicited)[2]}`, /^Start the sign-in at the application/)
})
