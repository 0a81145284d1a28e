/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { claimsOf } from '../support/factors.ts'
import { errorOf } from '../support/flow-server.ts'
import { type HttpAnswer, send } from '../support/http-client.ts'
import { openOAuthServer } from '../support/oauth-server.ts'
import { keycloak } from '../support/provider-shapes/keycloak.ts'
import { openCompanySource } from '../support/supabase-source/company-source.ts'
import { encryptField } from '../support/supabase-source/tokens.ts'

const subjectOf = (answer: HttpAnswer) => {
  const { hash } = new URL(answer.headers.get('location') ?? '')
  return claimsOf(new URLSearchParams(hash.slice(1)).get('access_token') ?? '').sub
}

for (const release of ['2.150', '2.196'] as const) {
  test(`a user of a company signs in with SAML after the import from ${release}`, async (t) => {
    const opened = await openCompanySource(t, release)
    if (!opened) return
    const { server, people, importRows, admin } = opened
    const { company } = people
    const { report } = await importRows()
    assert.deepEqual(report.verification.differences, [])
    const { body } = await admin('GET', `/sso/providers/${company.id}`)
    assert.deepEqual(
      [body.resource_id, body.saml.entity_id, body.domains, body.saml.attribute_mapping],
      [
        'Acme',
        company.idp.entityId,
        [{ domain: 'acme.example' }, { domain: 'acme.test' }],
        { keys: { full_name: { name: 'displayName' } } },
      ],
    )
    const { nameId, userId } = company
    const attributes = { email: ['ada@source.example'], displayName: ['Ada'] }
    const answer = await server.signIn(company, { nameId, attributes })
    assert.equal(subjectOf(answer), userId)
    const byDomain = await server.start({ domain: 'acme.example' })
    assert.ok(byDomain.url.startsWith('https://idp.example/sso'))
    const [refresh_token] = company.tokens
    const refreshed = await server.post('/token?grant_type=refresh_token', { refresh_token })
    assert.equal(refreshed.body.user.id, userId)
  })
}

test('a user of a custom provider signs in after the import, with its encrypted secret', async (t) => {
  // The redirect address has been added at the provider.
  const redirectUri = 'https://auth.example/callback/custom:acme'
  const provider = await openOAuthServer(t, keycloak, { redirectUri })
  const opened = await openCompanySource(t)
  if (!opened) return
  const { server, people, importRows, there, admin } = opened
  assert.ok(people.recent)
  const { id, identifier, userId, providerId } = people.recent.customProvider
  const key = randomBytes(32)
  await there(
    `update custom_oauth_providers set issuer = $2, client_id = $3, client_secret = $4
     where id = $1`,
    [id, provider.url, provider.clientId, encryptField(provider.secret, id, 'k1', key)],
  )
  const option = ['--decryption-key', `k1=${key.toString('base64')}`]
  const { report } = await importRows(...option)
  assert.deepEqual(report.verification.differences, [])

  const { body } = await admin('GET', `/custom-providers/${identifier}`)
  assert.deepEqual(
    [body.id, body.name, body.scopes, body.acceptable_client_ids, body.custom_claims_allowlist],
    [id, 'Acme', ['openid', 'profile', 'email'], ['client of the app'], ['department']],
  )
  assert.deepEqual(
    [body.attribute_mapping, body.authorization_params, body.pkce_enabled, body.enabled],
    [{ name: 'display_name' }, { prompt: 'login' }, true, true],
  )
  const [row] = await server.query('select secret from custom_providers where id = $1', [id])
  assert.ok(!row.secret.includes(provider.secret))

  provider.account = { ...provider.account, sub: providerId, email: 'carl@source.example' }
  const started = await send(server.url, `/authorize?provider=${identifier}`)
  const agreed = await provider.agree(started.headers.get('location') ?? '')
  const cookie = (started.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const { pathname, search } = new URL(agreed.url)
  const answer = await send(server.url, `${pathname}${search}`, { headers: { cookie } })
  assert.equal(subjectOf(answer), userId)
  assert.deepEqual(provider.refusals, [])

  // A later run does not repeat discovery, and takes a new secret.
  const before = await server.query('select version, discovery from custom_providers')
  assert.ok(before[0].discovery)
  assert.equal((await importRows(...option)).tableOf('custom_oauth_providers').unchanged, 1)
  await there(`update custom_oauth_providers set client_secret = 'new', updated_at = now()`)
  const later = await importRows(...option, '--since', report.snapshotAt)
  assert.equal(later.tableOf('custom_oauth_providers').updated, 1)
  const after = await server.query('select version, discovery from custom_providers')
  assert.deepEqual(after, [{ version: before[0].version + 1, discovery: null }])
})

test('changes of providers in the source are imported, and conflicts are reported', async (t) => {
  const opened = await openCompanySource(t)
  if (!opened) return
  const { source, people, importRows, there, admin, server } = opened
  const { company } = people
  const { writer } = source
  const times = { created_at: new Date(), updated_at: new Date() }
  const addProvider = async (entity_id: string, metadata_xml: string, domain: string) => {
    const id = randomUUID()
    await writer.insert('sso_providers', { id, ...times })
    await writer.insert('saml_providers', {
      ...{ id: randomUUID(), sso_provider_id: id, entity_id, metadata_xml, ...times },
    })
    await writer.insert('sso_domains', {
      ...{ id: randomUUID(), sso_provider_id: id, domain, ...times },
    })
    return id
  }
  const metadata = (entity: string) => company.idp.metadata().replace(company.idp.entityId, entity)
  const broken = await addProvider('https://broken.example', '<not-metadata/>', 'broken.example')
  const other = await addProvider('https://b.example', metadata('https://c.example'), 'b.example')
  const taken = await addProvider('https://d.example', metadata('https://d.example'), 'd.example')
  const here = await server.addCompany({ domains: ['D.example'] })
  const compare = async (...args: readonly string[]) => {
    const dry = await importRows(...args, '--dry-run')
    const real = await importRows(...args)
    assert.deepEqual(dry.report.tables, real.report.tables)
    assert.deepEqual(real.report.verification.differences, [])
    return real
  }

  const first = await compare()
  const { added, skipped } = first.tableOf('sso_providers')
  assert.equal(added, 1)
  assert.deepEqual(skipped['invalid metadata'].examples, [broken, other].sort())
  assert.deepEqual(skipped['provider taken'].examples, [taken])
  assert.equal((await admin('GET', `/sso/providers/${here.id}`)).status, 200)

  // A domain moves to another provider, which no time in the source shows.
  await there('delete from sso_domains where domain = $1', ['acme.test'])
  await writer.insert('sso_domains', {
    ...{ id: randomUUID(), sso_provider_id: taken, domain: 'acme.test', ...times },
  })
  await admin('DELETE', `/sso/providers/${here.id}`)
  const second = await compare('--since', first.report.snapshotAt)
  const report = second.tableOf('sso_providers')
  assert.deepEqual([report.added, report.updated], [1, 1])
  const { body } = await admin('GET', `/sso/providers/${taken}`)
  assert.deepEqual(body.domains, [{ domain: 'acme.test' }, { domain: 'd.example' }])

  await there('delete from sso_providers where id = $1', [company.id])
  await there('delete from custom_oauth_providers')
  const third = await compare()
  assert.equal(third.tableOf('sso_providers').removed, 1)
  assert.equal(third.tableOf('custom_oauth_providers').removed, 1)
  const gone = await server.post('/sso', { domain: 'acme.example' })
  assert.equal(errorOf(gone)[1], 'sso_provider_not_found')
})
