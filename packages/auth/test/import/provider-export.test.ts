/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCompanySource } from '../support/supabase-source/company-source.ts'

test('the export writes providers back, and creates and removes those that changed here', async (t) => {
  const opened = await openCompanySource(t)
  if (!opened) return
  const { people, importRows, exportRows, there, admin, server } = opened
  const { company, recent } = people
  assert.ok(recent)
  const readAll = async () => [
    await there('select * from sso_providers order by id'),
    await there('select * from saml_providers order by id'),
    await there('select * from sso_domains order by id'),
    await there('select * from custom_oauth_providers order by id'),
  ]
  const before = await readAll()
  await importRows()
  const unchanged = await exportRows()
  for (const name of ['sso_providers', 'custom_oauth_providers']) {
    const { added, updated, removed } = unchanged.tableOf(name)
    assert.deepEqual([added, updated, removed], [0, 0, 0], name)
  }
  assert.deepEqual(await readAll(), before)

  const added = await server.addCompany({
    domains: ['new.example'],
    resource_id: 'new',
    attribute_mapping: { keys: { plan: { default: 'basic' } } },
  })
  await admin('PUT', `/sso/providers/${company.id}`, {
    domains: ['acme.example', 'acme.co.example'],
  })
  const { identifier, secret } = recent.customProvider
  const plain = {
    provider_type: 'oauth2',
    name: 'New',
    client_id: 'new client',
    client_secret: 'new secret',
    scopes: ['read'],
    authorization_params: { hd: 'new.example' },
    authorization_url: 'https://new.example/authorize',
    token_url: 'https://new.example/token',
    userinfo_url: 'https://new.example/me',
  }
  const created = await admin('POST', '/custom-providers', { ...plain, identifier: 'custom:new' })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  await admin('POST', '/custom-providers', {
    ...plain,
    identifier: 'custom:internal',
    token_url: 'http://127.0.0.1:1/token',
  })
  await admin('PUT', `/custom-providers/${identifier}`, { name: 'Acme Ltd' })

  const dry = await exportRows('--dry-run')
  assert.deepEqual(await readAll(), before)
  const real = await exportRows()
  assert.deepEqual(dry.report.tables, real.report.tables)
  const sso = real.tableOf('sso_providers')
  const custom = real.tableOf('custom_oauth_providers')
  assert.deepEqual([sso.added, sso.updated, custom.added, custom.updated], [1, 1, 1, 1])
  assert.equal(custom.skipped['unsupported provider'].count, 1)

  const [saml] = await there(
    `select p.resource_id, m.entity_id, m.metadata_xml, m.attribute_mapping,
       array(select d.domain from sso_domains d where d.sso_provider_id = p.id) as domains
     from sso_providers p join saml_providers m on m.sso_provider_id = p.id where p.id = $1`,
    [added.id],
  )
  assert.deepEqual(saml, {
    resource_id: 'new',
    entity_id: added.idp.entityId,
    metadata_xml: (await admin('GET', `/sso/providers/${added.id}`)).body.saml.metadata_xml,
    attribute_mapping: { keys: { plan: { default: 'basic' } } },
    domains: ['new.example'],
  })
  const domains = await there(
    'select domain from sso_domains where sso_provider_id = $1 order by 1',
    [company.id],
  )
  assert.deepEqual(domains, [{ domain: 'acme.co.example' }, { domain: 'acme.example' }])
  const rows = await there(
    `select identifier, name, client_secret, scopes, authorization_params, token_url,
       custom_claims_allowlist from custom_oauth_providers order by identifier`,
  )
  assert.deepEqual(rows, [
    {
      identifier,
      name: 'Acme Ltd',
      client_secret: secret,
      scopes: ['openid', 'profile', 'email'],
      authorization_params: { prompt: 'login' },
      token_url: null,
      custom_claims_allowlist: ['department'],
    },
    {
      identifier: 'custom:new',
      name: 'New',
      client_secret: 'new secret',
      scopes: ['read'],
      authorization_params: { hd: 'new.example' },
      token_url: 'https://new.example/token',
      custom_claims_allowlist: [],
    },
  ])
})

test('the export removes providers that were deleted here', async (t) => {
  const opened = await openCompanySource(t)
  if (!opened) return
  const { people, importRows, exportRows, there, admin } = opened
  const { company, recent } = people
  assert.ok(recent)
  await importRows()
  await admin('DELETE', `/sso/providers/${company.id}`)
  await admin('DELETE', `/custom-providers/${recent.customProvider.identifier}`)
  const dry = await exportRows('--dry-run')
  const real = await exportRows()
  assert.deepEqual(dry.report.tables, real.report.tables)
  assert.equal(real.tableOf('sso_providers').removed, 1)
  assert.equal(real.tableOf('custom_oauth_providers').removed, 1)
  for (const table of [
    'sso_providers',
    'saml_providers',
    'sso_domains',
    'custom_oauth_providers',
  ]) {
    assert.deepEqual(await there(`select id from ${table}`), [], table)
  }
})
