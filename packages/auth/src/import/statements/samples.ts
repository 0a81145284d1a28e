import { type HasColumn, type ImportColumn, type ImportTable, toTarget } from './import-table.ts'

/** By table: the columns that are compared. The import neither encrypts nor derives them. */
const sampledColumns: Readonly<Record<string, readonly string[]>> = {
  users: [
    'aud',
    'email',
    'email_confirmed_at',
    'phone_confirmed_at',
    'invited_at',
    'banned_until',
    'deleted_at',
    'is_anonymous',
    'created_at',
  ],
  identities: ['user_id', 'provider', 'provider_id', 'identity_data', 'created_at'],
  mfa_factors: ['user_id', 'factor_type', 'status', 'created_at'],
  webauthn_credentials: ['user_id', 'credential_id', 'public_key', 'created_at'],
  sso_providers: ['resource_id', 'entity_id', 'attribute_mapping', 'domains', 'created_at'],
  custom_oauth_providers: ['identifier', 'settings', 'created_at'],
  oauth_clients: ['redirect_uris', 'grant_types', 'client_name', 'client_uri', 'logo_uri'],
  oauth_consents: ['user_id', 'client_id', 'scopes', 'granted_at'],
  sessions: ['user_id', 'not_after', 'user_agent', 'tag', 'created_at'],
}

/**
 * Most expressions are used in both databases: they convert rows of the source as the import does, for
 * example null to a default, and do not change imported values. The others have a counterpart here.
 */
function toChecksums(
  { name, columns }: ImportTable,
  toValue: (of: ImportColumn) => string,
): string {
  const values = columns.filter((each) => sampledColumns[name]?.includes(each.name)).map(toValue)
  return `md5(row(x.id, ${values.join(', ')})::text) as checksum,
    ${name === 'users' ? `coalesce(x.encrypted_password, '')` : 'null'} as password`
}

/**
 * Picks the IDs of rows from the source `$2` that follow random ones, so that the sample covers the
 * whole table. The random IDs come from a subquery: in the condition itself, PostgreSQL would choose
 * another one for each row that it compares, and could not use the index.
 */
export const pickSample = ({ name }: ImportTable): string => `
  select distinct r.id::text as id
  from (select md5(n::text || random()::text)::uuid as id from generate_series(1, $1::integer) n) s
  cross join lateral (
    select i.id from {ns}.imported_rows i
    where i.table_name = '${name}' and i.source = $2 and i.id >= s.id
    order by i.id limit 1
  ) r`

export const readSourceChecksums = (table: ImportTable, has: HasColumn): string =>
  `select x.id::text as id, ${toChecksums(table, ({ from }) => from(has))} from {supabase}.${table.name} x
   where x.id = any($1::uuid[])`

/** Leaves out rows that were changed here after the import, because they differ on purpose. */
export function readOwnChecksums(table: ImportTable): string {
  const toOwn = ({ own, from }: ImportColumn) => own ?? from(() => true)
  return `select x.id::text as id, ${toChecksums(table, toOwn)} from ${toTarget(table)} x
    join {ns}.imported_rows r on r.table_name = '${table.name}' and r.id = x.id
    where x.id = any($1::uuid[]) and x.${table.changedAt ?? 'updated_at'} = r.updated_at`
}
