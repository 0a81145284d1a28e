import {
  column,
  createdAt,
  type HasColumn,
  hasInvalidSecret,
  type ImportTable,
  updatedAt,
} from './import-table.ts'

const table = 'custom_oauth_providers'

const list = (name: string) => `coalesce(to_jsonb(x.${name}), '[]')`
const map = (name: string) => `coalesce(nullif(x.${name}, 'null'), '{}')`
const text = (name: string) => `nullif(x.${name}, '')`

/** The fields that this server stores in one column. */
const settings = {
  provider_type: 'x.provider_type',
  identifier: 'x.identifier',
  name: 'x.name',
  client_id: 'x.client_id',
  acceptable_client_ids: list('acceptable_client_ids'),
  scopes: list('scopes'),
  pkce_enabled: 'x.pkce_enabled',
  attribute_mapping: map('attribute_mapping'),
  custom_claims_allowlist: (has: HasColumn) =>
    has(table, 'custom_claims_allowlist') ? list('custom_claims_allowlist') : `'[]'::jsonb`,
  authorization_params: map('authorization_params'),
  enabled: 'x.enabled',
  email_optional: 'x.email_optional',
  skip_nonce_check: 'x.skip_nonce_check',
  issuer: text('issuer'),
  discovery_url: text('discovery_url'),
  authorization_url: text('authorization_url'),
  token_url: text('token_url'),
  userinfo_url: text('userinfo_url'),
  jwks_uri: text('jwks_uri'),
} as const

function toSettings(has: HasColumn): string {
  const pairs = Object.entries(settings).map(
    ([name, value]) => `'${name}', ${typeof value === 'string' ? value : value(has)}`,
  )
  return `jsonb_build_object(${pairs.join(', ')})`
}

/** Providers of Supabase Auth that administrators have registered. */
export const customProviders: ImportTable = {
  name: table,
  target: 'custom_providers',
  label: 'custom providers',
  columns: [
    { ...column('identifier', 'text', 'x.identifier'), own: 'x.identifier' },
    { name: 'settings', type: 'jsonb', from: toSettings, own: 'x.settings' },
    { ...column('secret', 'text', 'x.client_secret'), to: 'c.sealed' },
    // The document is fetched and checked at the next sign-in, because this server checks more of it.
    column('discovery', 'jsonb', 'null::jsonb'),
    column('discovered_at', 'timestamptz', 'null::timestamptz'),
    {
      ...column('version', 'integer', '1'),
      to: `coalesce((select p.version from {ns}.custom_providers p where p.id = s.id), 0) + 1`,
    },
    createdAt,
    updatedAt,
  ],
  // There are few providers.
  isChangedSince: () => 'true',
  skipRules: [
    [hasInvalidSecret, 'invalid secret'],
    [
      `exists (select from {ns}.custom_providers p
         where p.id <> s.id and p.identifier = s.identifier)`,
      'provider taken',
    ],
  ],
}
