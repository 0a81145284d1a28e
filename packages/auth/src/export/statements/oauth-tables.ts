import { type ExportTable, hasNoUser, same, writtenRows } from './export-table.ts'

const joined = (name: string) => ({
  name,
  type: 'text',
  from: `array_to_string(array(select jsonb_array_elements_text(x.${name})), ',')`,
})
const optional = (name: string) => ({ name, type: 'text', from: `nullif(x.${name}, '')` })

export const oauthClients: ExportTable = {
  name: 'oauth_clients',
  label: 'OAuth clients',
  // Supabase Auth does not read the documents that describe the others.
  isExported: 'x.metadata_url is null',
  columns: [
    { ...same('client_type', 'text'), to: 's.client_type::{supabase}.oauth_client_type' },
    {
      name: 'client_secret_hash',
      type: 'text',
      from: `translate(rtrim(encode(x.secret_hash, 'base64'), '='), '+/', '-_')`,
    },
    {
      ...same('registration_type', 'text'),
      to: 's.registration_type::{supabase}.oauth_registration_type',
    },
    same('token_endpoint_auth_method', 'text'),
    joined('redirect_uris'),
    joined('grant_types'),
    optional('client_name'),
    optional('client_uri'),
    optional('logo_uri'),
    { name: 'own_scope', type: 'text', from: 'x.scope' },
    {
      name: 'has_comma',
      type: 'boolean',
      from: `exists (select from jsonb_array_elements_text(x.redirect_uris) as u(uri)
        where u.uri like '%,%')`,
    },
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  skipRules: [
    // Supabase Auth separates the URIs by commas, and would grant all scopes to a client with few.
    [
      `s.has_comma or s.own_scope <> '' or s.redirect_uris = ''
       or s.token_endpoint_auth_method not in ('client_secret_basic', 'client_secret_post', 'none')`,
      'unsupported client',
    ],
  ],
}

const consents = { name: 'oauth_consents' } as const

/**
 * Grants for a resource are not exported: in Supabase Auth, they would be for all resources.
 */
export const oauthConsents: ExportTable = {
  ...consents,
  label: 'grants to OAuth clients',
  changedAt: 'granted_at',
  isExported: `x.resource = '' and x.scopes <> '[]'`,
  columns: [
    same('user_id', 'uuid'),
    same('client_id', 'uuid'),
    {
      name: 'scopes',
      type: 'text',
      from: `array_to_string(array(select jsonb_array_elements_text(x.scopes)), ' ')`,
    },
    same('granted_at', 'timestamptz'),
    { name: 'revoked_at', type: 'timestamptz', from: 'null' },
  ],
  skipRules: [
    [hasNoUser, 'no user'],
    ['(select c.id from {supabase}.oauth_clients c where c.id = s.client_id) is null', 'no client'],
    [
      `(select k.id from {supabase}.oauth_consents k where k.user_id = s.user_id
         and k.client_id = s.client_id and k.id <> s.id
         and (k.revoked_at is null or k.revoked_at > s.granted_at)) is not null`,
      'grant exists',
    ],
  ],
  // Supabase Auth keeps one row for each user and client, also after the user has revoked the grant.
  prepare: `delete from {supabase}.oauth_consents k using ${writtenRows(consents)} s
    where k.user_id = s.user_id and k.client_id = s.client_id and k.id <> s.id`,
}
