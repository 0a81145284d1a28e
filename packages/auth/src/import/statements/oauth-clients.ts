import {
  column,
  createdAt,
  hasNoClient,
  hasNoUser,
  type ImportTable,
  recent,
  same,
  updatedAt,
} from './import-table.ts'

const table = 'oauth_clients'

/** The source separates the values by commas. */
const toList = (name: string) => ({
  ...column(name, 'jsonb', `to_jsonb(string_to_array(x.${name}, ','))`),
  own: `x.${name}`,
})
const toText = (name: string) => column(name, 'text', `coalesce(x.${name}, '')`)

/** Clients keep their identifiers and secrets. Both servers store the SHA-256 of a secret. */
export const oauthClients: ImportTable = {
  name: table,
  label: 'OAuth clients',
  isPresent: 'x.deleted_at is null',
  columns: [
    {
      ...recent(table, 'client_type', 'text', 'x.client_type::text'),
      to: `coalesce(s.client_type, 'confidential')`,
    },
    {
      ...column(
        'secret_hash',
        'bytea',
        `case when x.client_secret_hash ~ '^[A-Za-z0-9_-]{43}$'
          then decode(translate(x.client_secret_hash, '-_', '+/') || '=', 'base64') end`,
      ),
      to: `case when s.client_type is distinct from 'public' then s.secret_hash end`,
    },
    {
      ...recent(table, 'token_endpoint_auth_method', 'text'),
      to: `coalesce(s.token_endpoint_auth_method,
        case s.client_type when 'public' then 'none' else 'client_secret_basic' end)`,
    },
    column('registration_type', 'text', 'x.registration_type::text'),
    toList('redirect_uris'),
    toList('grant_types'),
    toText('client_name'),
    toText('client_uri'),
    toText('logo_uri'),
    createdAt,
    updatedAt,
    // The first releases with clients identified them by this text instead of their ID.
    { ...recent(table, 'client_id', 'text'), isStagedOnly: true },
  ],
  isChangedSince: (time) => `x.updated_at >= ${time}`,
  skipRules: [
    [`s.client_id is not null`, 'old client'],
    [`s.client_type is distinct from 'public' and s.secret_hash is null`, 'invalid secret'],
  ],
}

/**
 * What users have granted to OAuth clients. In the source, a consent is for all resources. Here it is
 * for requests that name none, because a user has not agreed to a resource that was never shown.
 */
export const oauthConsents: ImportTable = {
  name: 'oauth_consents',
  label: 'grants to OAuth clients',
  changedAt: 'granted_at',
  isPresent: 'x.revoked_at is null',
  columns: [
    same('user_id', 'uuid'),
    same('client_id', 'uuid'),
    column('resource', 'text', `''`),
    {
      ...column(
        'scopes',
        'jsonb',
        `to_jsonb(array_remove(string_to_array(trim(x.scopes), ' '), ''))`,
      ),
      own: 'x.scopes',
    },
    same('granted_at', 'timestamptz'),
  ],
  isChangedSince: (time) => `x.granted_at >= ${time}`,
  skipRules: [
    [hasNoUser, 'no user'],
    [hasNoClient('client_id'), 'no client'],
    [
      `(select k.id from {ns}.oauth_consents k where k.user_id = s.user_id
         and k.client_id = s.client_id and k.resource = '' and k.id <> s.id) is not null`,
      'grant exists',
    ],
  ],
}
