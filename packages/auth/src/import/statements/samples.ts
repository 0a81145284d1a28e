/** The columns that are compared by table: those that the import copies unchanged. */
const sampledColumns: Readonly<Record<string, string>> = {
  users: `t.id, t.aud, t.email_confirmed_at, t.phone_confirmed_at, t.invited_at, t.banned_until,
    t.deleted_at, t.created_at, nullif(lower(t.email), ''), t.is_anonymous`,
  identities: `t.id, t.user_id, t.provider, t.provider_id, t.identity_data::jsonb, t.created_at`,
  mfa_factors: `t.id, t.user_id, t.factor_type::text, t.status::text, t.created_at`,
  webauthn_credentials: `t.id, t.user_id, t.credential_id, t.public_key, t.created_at`,
  sessions: `t.id, t.user_id, t.not_after, t.user_agent, t.tag, t.created_at`,
}

/** The checksum of the password hash; null if the source encrypts the hash. */
const password = `case when t.encrypted_password like '{%' then null
  else md5(coalesce(t.encrypted_password, '')) end`

/** The same expressions are used in both databases. */
const toChecksums = (table: string) =>
  `md5(row(${sampledColumns[table]})::text) as checksum, ${table === 'users' ? password : 'null'} as password`

/**
 * Picks the IDs of rows from the source `$2` that follow random ones, so that the sample covers the
 * whole table.
 */
export const pickSample = (table: string): string => `
  select distinct r.id::text as id from generate_series(1, $1::integer) n
  cross join lateral (
    select i.id from {ns}.imported_rows i
    where i.table_name = '${table}' and i.source = $2 and i.id >= md5(n::text || random()::text)::uuid
    order by i.id limit 1
  ) r`

export const readSourceChecksums = (table: string): string =>
  `select t.id::text as id, ${toChecksums(table)} from {supabase}.${table} t
   where t.id = any($1::uuid[])`

/** Leaves out rows that were changed here after the import, because they differ on purpose. */
export const readOwnChecksums = (table: string): string =>
  `select t.id::text as id, ${toChecksums(table)} from {ns}.${table} t
   join {ns}.imported_rows r on r.table_name = '${table}' and r.id = t.id
   where t.id = any($1::uuid[]) and t.updated_at = r.updated_at`
