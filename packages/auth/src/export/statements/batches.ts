import { type ExportTable, isWritten, toStage } from './export-table.ts'
import { oauthClients, oauthConsents } from './oauth-tables.ts'
import { customProviders, ssoProviders } from './provider-tables.ts'
import { factors, identities, passkeys, users } from './user-tables.ts'

/** A table follows the tables that its foreign keys refer to. */
export const exportTables: readonly ExportTable[] = [
  users,
  identities,
  factors,
  passkeys,
  ssoProviders,
  customProviders,
  oauthClients,
  oauthConsents,
]

const batchRows = 10_000
const toOwn = ({ name, own = name }: ExportTable) => `{ns}.${own}`
const toChangedAt = ({ changedAt = 'updated_at' }: ExportTable) => changedAt

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
export const selectBatch = (table: ExportTable, after: string): string =>
  `select x.id, ${table.columns.map(({ from }) => from).join(', ')} from ${toOwn(table)} x
   where x.id > ${after} and ${table.isExported} order by x.id limit ${batchRows}`

export const copyIntoStage = (table: ExportTable): string => `copy ${toStage(table)} from stdin`

export const findLast = (table: ExportTable): string =>
  `select max(id::text) as last from ${toStage(table)}`

/** @param columns the expressions over the staged row `s` that become the fields of the rows. */
export const selectSecrets = (table: ExportTable, columns: string, condition: string): string =>
  `select s.id, ${columns} from ${toStage(table)} s where ${condition}`

export const stageSecrets = `
  insert into pg_temp.export_secrets (id, text_value, json_value)
  select * from unnest($1::uuid[], $2::text[], $3::jsonb[])`

/** Decides what happens to each staged row. Rows that were changed there later are kept. */
export function decideOutcomes(table: ExportTable): string {
  const changedAt = toChangedAt(table)
  const skips = table.skipRules.map(([condition, outcome]) => `when ${condition} then '${outcome}'`)
  return `insert into pg_temp.export_outcomes (id, outcome)
    select s.id, case
      when t.${changedAt} = s.${changedAt} then 'same'
      when t.${changedAt} > s.${changedAt} then 'changed there'
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
    where ${isWritten}
    on conflict (id) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

export const countOutcomes = (mostExamples: number): string => `
  select outcome, count(*)::integer as count,
    (array_agg(id::text order by id))[1:${mostExamples}] as examples
  from pg_temp.export_outcomes group by outcome`

/** Selects the rows that are now equal in both databases. */
export const selectEqual = (table: ExportTable): string => `
  select s.id::text as id, s.${toChangedAt(table)}::text as "changedAt"
  from ${toStage(table)} s join pg_temp.export_outcomes o on o.id = s.id
  where o.outcome in ('new', 'changed', 'same')`

/**
 * Records these rows as if they had been imported, so that the next export deletes those that are
 * deleted here, and the next import takes later changes. `$1` is the table, `$2` the database.
 */
export const recordEqual = `
  insert into {ns}.imported_rows as r (table_name, id, source_hash, updated_at, source)
  select $1, e.id, 0, e.changed_at, $2
  from unnest($3::uuid[], $4::timestamptz[]) as e(id, changed_at)
  on conflict (table_name, id) do update
    set source_hash = 0, updated_at = excluded.updated_at, source = excluded.source
    where (r.source = excluded.source or r.source is null) and r.updated_at <> excluded.updated_at`

/**
 * Selects rows that were imported from the database and then deleted here.
 * Rows without a source are included, because earlier releases did not record it.
 * @param source a literal, because COPY takes no parameters.
 */
export const selectDeleted = (table: ExportTable, source: string): string =>
  `select r.id, r.updated_at from {ns}.imported_rows r where r.table_name = '${table.name}'
     and (r.source = ${source} or r.source is null)
     and not exists (select from ${toOwn(table)} t where t.id = r.id)`

export const copyIntoDeleted = 'copy pg_temp.export_deleted from stdin'

/** Deletes these rows there, unless they were changed there after the import. */
export const removeDeleted = (table: ExportTable): string => `
  with removed as (
    delete from {supabase}.${table.name} t using pg_temp.export_deleted d
    where t.id = d.id and coalesce(t.${toChangedAt(table)}, d.updated_at) <= d.updated_at
    returning t.id
  )
  select count(*)::integer as removed from removed`

export const countRows = (table: ExportTable): string =>
  `select count(*)::double precision as count from ${toOwn(table)} x where ${table.isExported}`

/** How JSON shows times. */
export const timesInUtc = `set local timezone = 'UTC'`

/** Whether the password hash of user `x` is encrypted. */
const isEncrypted = `x.encrypted_password like '{%'`

/**
 * Selects users as JSON objects in the format that `auth import --jsonl` reads. An encrypted password
 * hash is a separate column, because the database cannot decrypt it.
 */
export const selectUserRecords = `
  select x.id, case when ${isEncrypted} then x.encrypted_password end as encrypted,
   json_strip_nulls(json_build_object(
    'id', x.id, 'email', x.email, 'phone', x.phone,
    'password_hash', case when ${isEncrypted} then null else x.encrypted_password end,
    'email_confirmed', x.email_confirmed_at, 'phone_confirmed', x.phone_confirmed_at,
    'user_metadata', x.raw_user_meta_data, 'app_metadata', x.raw_app_meta_data, 'role', x.role,
    'aud', x.aud, 'banned_until', x.banned_until, 'last_sign_in_at', x.last_sign_in_at,
    'created_at', x.created_at))::text as record
  from {ns}.users x
  where x.id > $1 and x.deleted_at is null and (x.email is not null or x.phone is not null)
  order by x.id limit 5000`
