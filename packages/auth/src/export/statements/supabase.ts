/** A table of this server, and the table of Supabase Auth with the same name that it fills. */
export interface ExportTable {
  readonly name: string
  /** What the report calls the rows. */
  readonly label: string
  readonly columns: readonly ExportColumn[]
  /** The condition for rows that are exported. `x` is the row here. */
  readonly isExported: string
  /**
   * Reasons not to write a row, in the order in which they are checked: pairs of a condition on the
   * staged row `s` and a key of `skipReasons`.
   */
  readonly skipRules: readonly (readonly [condition: string, outcome: string])[]
  /** By column: values for new rows in columns that only Supabase Auth has. */
  readonly defaults?: Readonly<Record<string, string>>
}

/** A column of Supabase Auth, and how it is filled. */
export interface ExportColumn {
  readonly name: string
  readonly type: string
  /** An expression over the row `x` here. */
  readonly from: string
  /** An expression over the staged row `s` and its secrets `c`. Default: the staged value. */
  readonly to?: string
}

const same = (name: string, type: string): ExportColumn => ({ name, type, from: `x.${name}` })
/** Supabase Auth cannot read null in such a column. */
const text = (name: string): ExportColumn => ({
  name,
  type: 'text',
  from: `coalesce(x.${name}, '')`,
})

const hasNoUser = `(select u.id from {supabase}.users u where u.id = s.user_id) is null`

const users: ExportTable = {
  name: 'users',
  label: 'users',
  isExported: 'true',
  columns: [
    same('aud', 'text'),
    same('role', 'text'),
    same('email', 'text'),
    text('encrypted_password'),
    same('email_confirmed_at', 'timestamptz'),
    same('invited_at', 'timestamptz'),
    same('confirmation_sent_at', 'timestamptz'),
    same('recovery_sent_at', 'timestamptz'),
    text('email_change'),
    same('email_change_sent_at', 'timestamptz'),
    same('email_change_confirm_status', 'smallint'),
    same('phone', 'text'),
    same('phone_confirmed_at', 'timestamptz'),
    text('phone_change'),
    same('phone_change_sent_at', 'timestamptz'),
    same('reauthentication_sent_at', 'timestamptz'),
    same('last_sign_in_at', 'timestamptz'),
    same('raw_app_meta_data', 'jsonb'),
    same('raw_user_meta_data', 'jsonb'),
    same('is_sso_user', 'boolean'),
    same('is_anonymous', 'boolean'),
    same('banned_until', 'timestamptz'),
    same('deleted_at', 'timestamptz'),
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  defaults: {
    instance_id: `'00000000-0000-0000-0000-000000000000'`,
    confirmation_token: `''`,
    recovery_token: `''`,
    email_change_token_new: `''`,
    email_change_token_current: `''`,
    phone_change_token: `''`,
    reauthentication_token: `''`,
  },
  skipRules: [
    [
      `not s.is_sso_user and (select u.id from {supabase}.users u
        where u.email = s.email and not u.is_sso_user and u.id <> s.id limit 1) is not null`,
      'email taken',
    ],
    [
      '(select u.id from {supabase}.users u where u.phone = s.phone and u.id <> s.id limit 1) is not null',
      'phone taken',
    ],
  ],
}

const identities: ExportTable = {
  name: 'identities',
  label: 'identities',
  isExported: 'true',
  columns: [
    same('user_id', 'uuid'),
    same('provider', 'text'),
    same('provider_id', 'text'),
    same('identity_data', 'jsonb'),
    same('last_sign_in_at', 'timestamptz'),
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  skipRules: [
    [hasNoUser, 'no user'],
    [
      `(select i.id from {supabase}.identities i where i.provider = s.provider
        and i.provider_id = s.provider_id and i.id <> s.id limit 1) is not null`,
      'identity taken',
    ],
  ],
}

const factors: ExportTable = {
  name: 'mfa_factors',
  label: 'second factors',
  // Supabase Auth has no recovery codes.
  isExported: `x.factor_type in ('totp', 'phone', 'webauthn')`,
  columns: [
    same('user_id', 'uuid'),
    { ...same('factor_type', 'text'), to: 's.factor_type::{supabase}.factor_type' },
    { ...same('status', 'text'), to: 's.status::{supabase}.factor_status' },
    same('friendly_name', 'text'),
    { name: 'secret', type: 'bytea', from: 'x.secret', to: `coalesce(c.text_value, '')` },
    same('phone', 'text'),
    { ...same('web_authn_credential', 'jsonb'), to: 'c.json_value' },
    same('web_authn_aaguid', 'uuid'),
    same('last_challenged_at', 'timestamptz'),
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  skipRules: [[hasNoUser, 'no user']],
}

const passkeys: ExportTable = {
  name: 'webauthn_credentials',
  label: 'passkeys',
  isExported: 'true',
  columns: [
    same('user_id', 'uuid'),
    same('credential_id', 'bytea'),
    same('public_key', 'bytea'),
    same('sign_count', 'bigint'),
    same('transports', 'jsonb'),
    same('aaguid', 'uuid'),
    { name: 'backup_eligible', type: 'boolean', from: 'x.is_syncable' },
    { name: 'backed_up', type: 'boolean', from: 'x.is_backed_up' },
    same('friendly_name', 'text'),
    same('last_used_at', 'timestamptz'),
    same('created_at', 'timestamptz'),
    same('updated_at', 'timestamptz'),
  ],
  skipRules: [[hasNoUser, 'no user']],
}

/** A table follows the tables that its foreign keys refer to. */
export const exportTables: readonly ExportTable[] = [users, identities, factors, passkeys]

const batchRows = 10_000
const toStage = ({ name }: ExportTable) => `pg_temp.export_${name}`

export function createStages(tables: readonly ExportTable[]): string {
  const stages = tables.map(
    ({ name, columns }) => `create temp table export_${name} (
      id uuid primary key, ${columns.map((each) => `${each.name} ${each.type}`).join(', ')}
    ) on commit delete rows;`,
  )
  return `${stages.join('\n')}
    create temp table export_outcomes (id uuid primary key, outcome text) on commit delete rows;
    create temp table export_secrets (id uuid primary key, text_value text, json_value jsonb)
      on commit delete rows;
    create temp table export_deleted (id uuid primary key, updated_at timestamptz)
      on commit delete rows;`
}

/** Selects a batch of rows here, with the columns in the order of the temporary table. */
export const selectBatch = ({ name, columns, isExported }: ExportTable, after: string): string =>
  `select x.id, ${columns.map(({ from }) => from).join(', ')} from {ns}.${name} x
   where x.id > ${after} and ${isExported} order by x.id limit ${batchRows}`

export const copyIntoStage = (table: ExportTable): string => `copy ${toStage(table)} from stdin`

export const findLast = (table: ExportTable): string =>
  `select max(id::text) as last from ${toStage(table)}`

export const selectFactorSecrets = `
  select s.id, s.factor_type, s.secret, s.web_authn_credential as credential,
    s.web_authn_aaguid as aaguid
  from pg_temp.export_mfa_factors s`

export const stageSecrets = `
  insert into pg_temp.export_secrets (id, text_value, json_value)
  select * from unnest($1::uuid[], $2::text[], $3::jsonb[])`

/** Decides what happens to each staged row. Rows that were changed there later are kept. */
export function decideOutcomes(table: ExportTable): string {
  const skips = table.skipRules.map(([condition, outcome]) => `when ${condition} then '${outcome}'`)
  return `insert into pg_temp.export_outcomes (id, outcome)
    select s.id, case
      when t.updated_at = s.updated_at then 'same'
      when t.updated_at > s.updated_at then 'changed there'
      ${skips.join('\n')}
      when t.id is null then 'new' else 'changed' end
    from ${toStage(table)} s left join {supabase}.${table.name} t on t.id = s.id`
}

/** @param has whether the table there has the column: releases differ, and copies have only some. */
export function writeRows(table: ExportTable, has: (column: string) => boolean): string {
  const columns = table.columns.filter(({ name }) => has(name))
  const names = columns.map(({ name }) => name)
  const defaults = Object.entries(table.defaults ?? {}).filter(([name]) => has(name))
  return `insert into {supabase}.${table.name} (id, ${[...names, ...defaults.map(([name]) => name)].join(', ')})
    select s.id, ${[...columns.map(({ name, to }) => to ?? `s.${name}`), ...defaults.map(([, value]) => value)].join(', ')}
    from ${toStage(table)} s join pg_temp.export_outcomes o on o.id = s.id
    left join pg_temp.export_secrets c on c.id = s.id
    where o.outcome in ('new', 'changed')
    on conflict (id) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

export const countOutcomes = (mostExamples: number): string => `
  select outcome, count(*)::integer as count,
    (array_agg(id::text order by id))[1:${mostExamples}] as examples
  from pg_temp.export_outcomes group by outcome`

/**
 * Selects rows that were imported from the database and then deleted here.
 * Rows without a source are included, because earlier releases did not record it.
 * @param source a literal, because COPY takes no parameters.
 */
export const selectDeleted = ({ name }: ExportTable, source: string): string =>
  `select r.id, r.updated_at from {ns}.imported_rows r where r.table_name = '${name}'
     and (r.source = ${source} or r.source is null)
     and not exists (select from {ns}.${name} t where t.id = r.id)`

export const copyIntoDeleted = 'copy pg_temp.export_deleted from stdin'

/** Deletes these rows there, unless they were changed there after the import. */
export const removeDeleted = ({ name }: ExportTable): string => `
  with removed as (
    delete from {supabase}.${name} t using pg_temp.export_deleted d
    where t.id = d.id and coalesce(t.updated_at, d.updated_at) <= d.updated_at returning t.id
  )
  select count(*)::integer as removed from removed`

export const countRows = ({ name, isExported }: ExportTable): string =>
  `select count(*)::double precision as count from {ns}.${name} x where ${isExported}`

/** Selects users as JSON objects in the format that `auth import --jsonl` reads. */
export const selectUserRecords = `
  select x.id, json_strip_nulls(json_build_object(
    'id', x.id, 'email', x.email, 'phone', x.phone, 'password_hash', x.encrypted_password,
    'email_confirmed', x.email_confirmed_at, 'phone_confirmed', x.phone_confirmed_at,
    'user_metadata', x.raw_user_meta_data, 'app_metadata', x.raw_app_meta_data, 'role', x.role,
    'aud', x.aud, 'banned_until', x.banned_until, 'last_sign_in_at', x.last_sign_in_at,
    'created_at', x.created_at))::text as record
  from {ns}.users x
  where x.id > $1 and x.deleted_at is null and (x.email is not null or x.phone is not null)
  order by x.id limit 5000`
