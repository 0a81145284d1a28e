import { type ExportTable, same, writtenRows } from './export-table.ts'

const setting = (name: string, type: string, isJson = false) => ({
  name,
  type,
  from: isJson ? `x.settings -> '${name}'` : `(x.settings ->> '${name}')::${type}`,
})
const list = (name: string) => ({
  name,
  type: 'text[]',
  from: `array(select jsonb_array_elements_text(x.settings -> '${name}'))`,
})

/** The constraints of Supabase Auth require TLS. */
const urls = [
  'issuer',
  'discovery_url',
  'authorization_url',
  'token_url',
  'userinfo_url',
  'jwks_uri',
]

export const customProviders: ExportTable = {
  name: 'custom_oauth_providers',
  own: 'custom_providers',
  label: 'custom providers',
  isExported: 'true',
  columns: [
    setting('provider_type', 'text'),
    same('identifier', 'text'),
    setting('name', 'text'),
    setting('client_id', 'text'),
    { name: 'client_secret', type: 'bytea', from: 'x.secret', to: 'c.text_value' },
    list('acceptable_client_ids'),
    list('scopes'),
    setting('pkce_enabled', 'boolean'),
    setting('attribute_mapping', 'jsonb', true),
    list('custom_claims_allowlist'),
    setting('authorization_params', 'jsonb', true),
    setting('enabled', 'boolean'),
    setting('email_optional', 'boolean'),
    setting('skip_nonce_check', 'boolean'),
    ...urls.map((name) => setting(name, 'text')),
    // Supabase Auth fetches the document again.
    { name: 'cached_discovery', type: 'jsonb', from: 'null' },
    { name: 'discovery_cached_at', type: 'timestamptz', from: 'null' },
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  skipRules: [
    [urls.map((name) => `s.${name} not like 'https://%'`).join(' or '), 'unsupported provider'],
    [
      `exists (select from {supabase}.custom_oauth_providers p
         where p.id <> s.id and p.identifier = s.identifier)`,
      'provider taken',
    ],
  ],
}

const sso = { name: 'sso_providers' } as const

export const ssoProviders: ExportTable = {
  ...sso,
  label: 'SSO providers',
  isExported: 'true',
  columns: [
    same('resource_id', 'text'),
    same('disabled', 'boolean'),
    same('entity_id', 'text'),
    same('metadata_xml', 'text'),
    same('metadata_url', 'text'),
    same('attribute_mapping', 'jsonb'),
    same('name_id_format', 'text'),
    {
      name: 'domains',
      type: 'text[]',
      from: `array(select d.domain from {ns}.sso_domains d where d.sso_provider_id = x.id)`,
    },
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  skipRules: [
    [
      `exists (select from {supabase}.sso_providers p
         where p.id <> s.id and lower(p.resource_id) = lower(s.resource_id))
       or exists (select from {supabase}.saml_providers m
         where m.sso_provider_id <> s.id and m.entity_id = s.entity_id)
       or exists (select from {supabase}.sso_domains d
         where d.sso_provider_id <> s.id and lower(d.domain) = any(s.domains))`,
      'provider taken',
    ],
  ],
  writeMore: [
    `delete from {supabase}.saml_providers m using ${writtenRows(sso)} s
     where m.sso_provider_id = s.id`,
    `insert into {supabase}.saml_providers (id, sso_provider_id, entity_id, metadata_xml,
       metadata_url, attribute_mapping, name_id_format, created_at, updated_at)
     select gen_random_uuid(), s.id, s.entity_id, s.metadata_xml, s.metadata_url,
       s.attribute_mapping, s.name_id_format, s.created_at, s.updated_at
     from ${writtenRows(sso)} s`,
    `delete from {supabase}.sso_domains d using ${writtenRows(sso)} s
     where d.sso_provider_id = s.id`,
    `insert into {supabase}.sso_domains (id, sso_provider_id, domain, created_at, updated_at)
     select gen_random_uuid(), s.id, d.domain, s.updated_at, s.updated_at
     from ${writtenRows(sso)} s cross join unnest(s.domains) as d(domain)`,
  ],
  companions: { saml_providers: 'sso_provider_id', sso_domains: 'sso_provider_id' },
}
