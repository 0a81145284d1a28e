/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { createHash, createPublicKey, randomUUID, verify, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { createAuthClient, createMemory } from '../../support/auth-js.ts'
import { errorOf, fragmentOf, queryOf } from '../../support/flow-server.ts'
import { type RequestOptions, sdk, send } from '../../support/http-client.ts'
import { createIdentityProvider } from '../../support/saml/identity-provider.ts'
import { acsUrl, entityId, openSsoServer } from '../../support/saml/sso-server.ts'

const path = '/admin/sso/providers'
const verifier = 'v'.repeat(64)
const pkce = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
} as const

function claimsOf(token = '') {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

test('users sign in with the SAML identity provider of their company', async (t) => {
  const server = await openSsoServer(t)
  if (!server) return
  const company = await server.addCompany({
    domains: ['Company.example'],
    attribute_mapping: {
      keys: {
        full_name: { name: 'displayName' },
        roles: { names: ['none', 'Role'], array: true },
        plan: { name: 'absent', default: 'basic' },
        sub: { name: 'displayName' },
      },
    },
  })
  const provider = `sso:${company.id}`

  await t.test('POST /sso returns a signed request for the provider of a domain', async () => {
    const { url, xml } = await server.start({ domain: 'COMPANY.example' })
    const { origin, pathname, search } = new URL(url)
    assert.equal(`${origin}${pathname}`, 'https://idp.example/sso')
    assert.ok(search.startsWith('?tenant=1&SAMLRequest='))
    assert.match(xml, /AssertionConsumerServiceURL="https:\/\/auth.example\/sso\/saml\/acs"/)
    assert.match(xml, /nameid-format:persistent" AllowCreate="true"/)
    const [, query = '', signature = ''] = /\?tenant=1&(.+)&Signature=(.+)$/.exec(search) ?? []
    const key = createPublicKey(server.serverKey)
    const value = Buffer.from(decodeURIComponent(signature), 'base64')
    assert.ok(verify('sha256', Buffer.from(query), key, value))
  })

  await t.test('creates a user of the provider, with a session that names it', async () => {
    const sessionNotAfter = new Date(server.clock.now() + 3_600_000)
    const attributes = {
      email: ['Ada@Company.example'],
      displayName: ['Ada Lovelace'],
      role: ['admin', 'staff'],
    }
    server.takeStatements()
    const answer = await server.signIn(company, { nameId: 'ada-1', attributes, sessionNotAfter })
    assert.deepEqual(server.takeStatements(), [
      'find_sso_provider',
      'start_flow',
      'claim_sso_flow',
      'find_sso_provider',
      'use_assertion',
      'find_sso_user',
      'create_user',
      'open_session',
    ])
    assert.equal(answer.status, 302)
    assert.ok(answer.headers.get('location')?.startsWith('https://site.example#access_token='))
    const { access_token: token = '' } = fragmentOf(answer)
    const [{ method, provider: id }] = claimsOf(token).amr
    assert.deepEqual([method, id], ['sso/saml', company.id])
    const { body: user } = await send(server.url, '/user', { token })
    const [row] = await server.query('select is_sso_user from users where id = $1', [user.id])
    assert.equal(row.is_sso_user, true)
    assert.equal(user.email, 'ada@company.example')
    assert.ok(user.email_confirmed_at)
    assert.deepEqual(user.app_metadata, { provider, providers: [provider] })
    const [identity] = user.identities
    assert.deepEqual([identity.provider, identity.id], [provider, 'ada-1'])
    assert.deepEqual(user.user_metadata, {
      email: 'ada@company.example',
      email_verified: true,
      phone_verified: false,
      full_name: 'Ada Lovelace',
      iss: company.idp.entityId,
      provider_id: 'ada-1',
      sub: 'ada-1',
      custom_claims: { roles: ['admin', 'staff'], plan: 'basic' },
    })
    const [session] = await server.query('select not_after from sessions where user_id = $1', [
      user.id,
    ])
    assert.deepEqual(new Date(session.not_after), sessionNotAfter)
    assert.deepEqual(await server.actionsOf(user.id), ['user_signedup', 'login'])
  })

  await t.test('finds the user again and follows a change of the address', async () => {
    const ben = { nameId: 'ben-1', attributes: { mail: ['ben@company.example'] } }
    await server.signIn(company, ben)
    const moved = { ...ben, attributes: { mail: ['benjamin@company.example'] } }
    const { access_token: token = '' } = fragmentOf(await server.signIn(company, moved))
    const { body: user } = await send(server.url, '/user', { token })
    assert.equal(user.email, 'benjamin@company.example')
    const users = await server.query("select id from users where email like 'ben%@company.example'")
    assert.equal(users.length, 1)
  })

  await t.test('a PKCE flow ends with a code, also if the browser has no cookie', async () => {
    const redirectTo = 'https://site.example/in'
    const sessionNotAfter = new Date(server.clock.now() + 3_600_000)
    const body = { ...pkce, redirect_to: redirectTo }
    const answer = await server.signIn(company, { nameId: 'cleo', sessionNotAfter }, body)
    assert.ok(answer.headers.get('location')?.startsWith(`${redirectTo}?code=`))
    const exchange = { auth_code: queryOf(answer)['code'], code_verifier: verifier }
    const { status, body: tokens } = await server.post('/token?grant_type=pkce', exchange)
    assert.equal(status, 200)
    const [{ method, provider: id }] = claimsOf(tokens.access_token).amr
    assert.deepEqual([method, id], ['sso/saml', company.id])
    const [session] = await server.query('select not_after from sessions where user_id = $1', [
      tokens.user.id,
    ])
    assert.deepEqual(new Date(session.not_after), sessionNotAfter)
  })

  await t.test('signInWithSSO of the client library completes a PKCE flow', async () => {
    const storage = createMemory()
    const client = createAuthClient(server.url, { flowType: 'pkce', storage })
    const { data, error } = await client.signInWithSSO({ domain: 'company.example' })
    assert.equal(error, null)
    const url = new URL(data?.url ?? '')
    const relayState = url.searchParams.get('RelayState') ?? ''
    const [flow] = await server.query('select * from flow_states where id = $1', [relayState])
    const xml = company.idp.createResponse({
      requestId: flow.provider_memo.request_id,
      nowMs: server.clock.now(),
      nameId: 'dora',
      attributes: { email: ['dora@company.example'] },
    })
    const answer = await server.postResponse(xml, { relayState })
    const exchanged = await client.exchangeCodeForSession(queryOf(answer)['code'] ?? '')
    assert.equal(exchanged.error, null)
    assert.equal(exchanged.data.user?.email, 'dora@company.example')
    const changed = await client.updateUser({ password: 'correct horse battery' })
    assert.equal(changed.error?.code, 'user_sso_managed')
  })

  await t.test(
    'the identity provider may start the sign-in and name a page of the site',
    async () => {
      const xml = company.idp.createResponse({
        nowMs: server.clock.now(),
        nameId: 'ada-1',
        attributes: { email: ['ada@company.example'] },
        signed: 'response',
      })
      const answer = await server.postResponse(xml, { relayState: 'https://site.example/home' })
      assert.ok(
        answer.headers.get('location')?.startsWith('https://site.example/home#access_token='),
      )
    },
  )

  await t.test('without skip_http_redirect, the response is a redirect with a cookie', async () => {
    const { status, headers } = await server.post('/sso', { domain: 'company.example' })
    assert.equal(status, 303)
    assert.match(
      headers.get('location') ?? '',
      /^https:\/\/idp.example\/sso\?tenant=1&SAMLRequest=/,
    )
    assert.match(
      headers.get('set-cookie') ?? '',
      /^__Host-auth-flow-[\da-f-]{36}=[\w-]{43}; Path=\/; Max-Age=120; HttpOnly; Secure; SameSite=None$/,
    )
  })

  await t.test('companies that claim the same address have different users', async () => {
    const other = await server.addCompany()
    const attributes = { email: ['same@company.example'] }
    const ids = await Promise.all(
      [company, other].map(async (each) => {
        const answer = await server.signIn(each, { nameId: 'same', attributes })
        return claimsOf(fragmentOf(answer)['access_token']).sub
      }),
    )
    assert.notEqual(ids[0], ids[1])
  })

  await t.test('an error of the identity provider returns to the site', async () => {
    const answer = await server.signIn(company, { status: 'Responder', signed: 'response' })
    assert.equal(answer.status, 303)
    const { error_code: code, error_description: text } = queryOf(answer)
    assert.equal(code, 'validation_failed')
    assert.equal(
      text,
      'SAML Assertion is not valid: the identity provider refused the sign-in with Responder',
    )
  })

  await t.test('an assertion needs a persistent ID and an address', async () => {
    const nameIdFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
    const anonymous = await server.signIn(company, { nameIdFormat })
    assert.equal(queryOf(anonymous)['error_code'], 'saml_assertion_no_user_id')
    const unreachable = await server.signIn(company, { attributes: {} })
    assert.equal(queryOf(unreachable)['error_code'], 'saml_assertion_no_email')
    const subject = { 'urn:oasis:names:tc:SAML:attribute:subject-id': ['eve@scope'] }
    const attributes = { ...subject, email: ['eve@company.example'] }
    const named = await server.signIn(company, { nameIdFormat, attributes })
    const { body } = await send(server.url, '/user', {
      token: fragmentOf(named)['access_token'] ?? '',
    })
    assert.equal(body.identities[0].id, 'eve@scope')
  })

  await t.test('POST /sso refuses a request without exactly one known provider', async () => {
    const cases = [
      [{}, 400, 'validation_failed', 'A provider_id or domain needs to be provided'],
      [
        { provider_id: company.id, domain: 'company.example' },
        400,
        'validation_failed',
        'Only one of provider_id or domain supported',
      ],
      [{ provider_id: randomUUID() }, 404, 'sso_provider_not_found', 'No such SSO provider'],
      [{ provider_id: 'mine' }, 404, 'sso_provider_not_found', 'No such SSO provider'],
      [
        { domain: 'unknown.example' },
        404,
        'sso_provider_not_found',
        'No SSO provider assigned for this domain',
      ],
    ] as const
    for (const [body, ...error] of cases) {
      assert.deepEqual(errorOf(await server.post('/sso', body)), error)
    }
  })

  await t.test('GET /sso/saml/metadata describes this server', async () => {
    const { status, body, headers } = await send(server.url, '/sso/saml/metadata')
    assert.deepEqual([status, headers.get('content-type')], [200, 'application/xml; charset=utf-8'])
    assert.ok(body.includes(`entityID="${entityId}"`))
    assert.ok(body.includes(`Location="${acsUrl}"`))
    const [, text = ''] = /<X509Certificate>(.+?)</.exec(body) ?? []
    const certificate = new X509Certificate(Buffer.from(text, 'base64'))
    assert.equal(certificate.subject, 'CN=SAML 2.0 Certificate for auth.example')
    assert.equal(certificate.subjectAltName, 'DNS:_samlsp.auth.example')
    assert.ok(certificate.verify(createPublicKey(server.serverKey)))
    const file = await send(server.url, '/sso/saml/metadata?download=true')
    assert.match(file.headers.get('content-disposition') ?? '', /filename="metadata.xml"/)
    assert.match(file.body, /validUntil="\d{4}-/)
  })

  await t.test('/settings reports that SAML is enabled', async () => {
    const { body } = await send(server.url, '/settings', { headers: sdk })
    assert.equal(body.saml_enabled, true)
  })
})

test('administration of identity providers', async (t) => {
  const server = await openSsoServer(t)
  if (!server) return
  const admin = (to: string, options: RequestOptions = {}) =>
    send(server.url, to, { token: server.serviceToken, ...options })
  const idp = createIdentityProvider(acsUrl, entityId)
  const create = (body: object) => admin(path, { body: { type: 'saml', ...body } })
  const update = (id: string, body: object) => admin(`${path}/${id}`, { method: 'PUT', body })

  await t.test('adds, lists, changes and removes a provider', async () => {
    const { status, body } = await create({
      metadata_xml: idp.metadata(),
      domains: ['B.example', 'a.example', 'a.example'],
      resource_id: 'first',
    })
    const { id, created_at: createdAt } = body
    assert.equal(status, 201)
    assert.deepEqual(body, {
      id,
      resource_id: 'first',
      disabled: null,
      saml: { entity_id: idp.entityId, metadata_xml: idp.metadata(), attribute_mapping: {} },
      domains: [{ domain: 'a.example' }, { domain: 'b.example' }],
      created_at: createdAt,
      updated_at: createdAt,
    })
    const { metadata_xml: _, ...saml } = body.saml
    const list = await admin(`${path}?resource_id_prefix=fir`)
    assert.deepEqual(list.body, { items: [{ ...body, saml }] })
    assert.deepEqual((await admin(`${path}?resource_id=fir`)).body, { items: [] })
    assert.deepEqual((await admin(`${path}/resource_FIRST`)).body, body)
    const change = {
      domains: ['b.example', 'c.example'],
      disabled: true,
      name_id_format: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
      attribute_mapping: { keys: { name: { name: 'cn' } } },
    }
    const changed = (await update(id, change)).body
    assert.deepEqual(changed.domains, [{ domain: 'b.example' }, { domain: 'c.example' }])
    assert.deepEqual(
      [changed.disabled, changed.saml.name_id_format, changed.saml.attribute_mapping],
      [true, change.name_id_format, change.attribute_mapping],
    )
    assert.equal(
      (await server.post('/sso', { domain: 'b.example' })).body.error_code,
      'sso_provider_disabled',
    )
    const same = (await update(id, { disabled: false, name_id_format: '' })).body
    assert.deepEqual([same.domains, same.saml.name_id_format], [changed.domains, undefined])
    const removed = await admin(`${path}/${id}`, { method: 'DELETE' })
    assert.deepEqual([removed.status, removed.body.id], [200, id])
    assert.deepEqual(errorOf(await admin(`${path}/${id}`)), [
      404,
      'sso_provider_not_found',
      'SSO Identity Provider not found',
    ])
    const rows = await server.query(
      "select payload->>'action' as action from audit_log_entries where payload->>'action' like 'sso_%' order by created_at, 1",
    )
    assert.deepEqual([...new Set(rows.map(({ action }) => action))].toSorted(), [
      'sso_provider_created',
      'sso_provider_deleted',
      'sso_provider_updated',
    ])
  })

  await t.test('imported users keep their provider if it is added with the same ID', async () => {
    const id = randomUUID()
    assert.equal((await server.addCompany({ id })).id, id)
    const again = createIdentityProvider(acsUrl, entityId).metadata()
    assert.deepEqual(errorOf(await create({ id, metadata_xml: again })), [
      409,
      'conflict',
      'Another SSO provider has this id',
    ])
  })

  await t.test('a domain and an entity ID belong to one provider', async () => {
    const company = await server.addCompany({ domains: ['taken.example'] })
    const other = createIdentityProvider(acsUrl, entityId)
    const domain = await create({ metadata_xml: other.metadata(), domains: ['taken.example'] })
    assert.deepEqual(errorOf(domain), [
      400,
      'sso_domain_already_exists',
      `SSO Domain 'taken.example' is already assigned to an SSO identity provider (${company.id})`,
    ])
    const entity = await create({ metadata_xml: company.idp.metadata() })
    assert.deepEqual(errorOf(entity).slice(0, 2), [422, 'saml_idp_already_exists'])
    const mismatch = await update(company.id, { metadata_xml: other.metadata() })
    assert.deepEqual(errorOf(mismatch).slice(0, 2), [400, 'saml_entity_id_mismatch'])
  })

  await t.test('refuses invalid fields with the reason', async () => {
    const xml = idp.metadata()
    const cases = [
      [{ type: 'oidc' }, "Only 'saml' supported for SSO provider type"],
      [{}, 'Either metadata_xml or metadata_url must be set'],
      [
        { metadata_xml: xml, metadata_url: 'https://idp.example/' },
        'Only one of metadata_xml or metadata_url needs to be set',
      ],
      [{ metadata_url: 'http://idp.example/' }, 'metadata_url is not a HTTPS URL'],
      [{ metadata_url: 'idp.example' }, 'metadata_url is not a valid URL'],
      [
        { metadata_xml: '<a/>' },
        'SAML Metadata is not valid: the metadata has no EntityDescriptor',
      ],
      [
        { metadata_xml: xml, domains: ['a@b.example'] },
        "'a@b.example' is not a domain such as example.com",
      ],
      [
        { metadata_xml: xml, attribute_mapping: { keys: [] } },
        'attribute_mapping.keys must be an object',
      ],
      [
        { metadata_xml: xml, attribute_mapping: { keys: { a: { name: 1 } } } },
        'attribute_mapping.keys.a.name must be a string',
      ],
    ] as const
    for (const [body, message] of cases) {
      assert.deepEqual(errorOf(await create(body)), [400, 'validation_failed', message])
    }
    const format = await create({ metadata_xml: xml, name_id_format: 'email' })
    assert.match(format.body.msg, /^name_id_format must be unspecified or one of urn:/)
  })

  await t.test('only administrators may', async () => {
    assert.equal((await send(server.url, path)).status, 401)
  })
})
