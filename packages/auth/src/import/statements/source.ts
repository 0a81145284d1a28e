/**
 * Lists the tables of a schema with their columns. It reads the catalog, which needs no privilege on
 * the schema.
 */
export const listSourceTables = `
  select c.relname as "table", array_agg(a.attname::text) as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where n.nspname = $1 and c.relkind in ('r', 'p') group by c.relname`

export const listVersions =
  'select version::text as version from {supabase}.schema_migrations order by 1'

/** With this, reading fails if row-level security would hide rows. */
export const refuseHiddenRows = 'set local row_security = off'

export const readClock = 'select now()::text as time'

export const readDatabaseName = 'select current_database()::text as name'

/** An administrator may have revoked the privilege that every role has by default. */
export const canReadSystemIdentifier = `
  select has_function_privilege('pg_catalog.pg_control_system()', 'execute') as "isAllowed"`

export const readSystemIdentifier =
  'select system_identifier::text as identifier from pg_catalog.pg_control_system()'

export const countRows = (table: string, isPresent = 'true'): string =>
  `select count(*)::double precision as count from {supabase}.${table} x where ${isPresent}`

export const countAudiences = `
  select coalesce(aud, '') as audience, count(*)::double precision as count
  from {supabase}.users group by 1 order by 2 desc limit 10`

/** Fails if the rows cannot be read. */
export const probeTable = (table: string): string => `select * from {supabase}.${table} limit 1`

/** Tables that are read together with sessions and with providers of single sign-on. */
export const readWithOthers = [
  'refresh_tokens',
  'mfa_amr_claims',
  'saml_providers',
  'sso_domains',
] as const

/** Tables whose rows this server could not use. */
export const tablesNotImported = [
  'one_time_tokens',
  'flow_state',
  'mfa_challenges',
  'webauthn_challenges',
  'audit_log_entries',
  'saml_relay_states',
  'oauth_authorizations',
  'oauth_client_states',
] as const
