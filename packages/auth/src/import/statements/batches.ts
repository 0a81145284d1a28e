import { type HasColumn, type ImportTable, isWritten, toStage, toTarget } from './import-table.ts'

/** Creates the temporary tables, which are emptied at the end of each transaction. */
export function createStages(tables: readonly ImportTable[]): string {
  const stages = tables.map(
    ({ name, columns }) => `create temp table import_${name} (
      id uuid primary key, ${columns.map((each) => `${each.name} ${each.type}`).join(', ')},
      source_hash bigint
    ) on commit delete rows;`,
  )
  return `${stages.join('\n')}
    create temp table import_outcomes (id uuid primary key, outcome text) on commit delete rows;
    create temp table import_secrets (
      id uuid primary key, sealed bytea, text_value text, json_value jsonb, flaw text
    ) on commit delete rows;
    create temp table import_ids (id uuid) on commit delete rows;`
}

/** In a dry run, the copy is changed instead of the table. */
export const copyImportedRows = `
  create temp table imported_rows as select * from {ns}.imported_rows;
  alter table pg_temp.imported_rows add primary key (table_name, id);
  analyze pg_temp.imported_rows`

/** `after` and `since` are SQL literals, because COPY takes no parameters. */
export interface BatchSelection {
  readonly after: string
  /** If set, only rows that changed at this time or later are selected. */
  readonly since: string | undefined
  readonly mostRows: number
}

/** Selects a batch from the source, with the columns in the order of the temporary table. */
export function selectBatch(
  table: ImportTable,
  has: HasColumn,
  { after, since, mostRows }: BatchSelection,
): string {
  const { name, columns, isPresent = 'true' } = table
  const values = columns.map((each) => `${each.from(has)} as ${each.name}`).join(', ')
  const isChanged = since === undefined ? '' : `and ${table.isChangedSince(since)}`
  return `select q.*, hashtextextended(q::text, 0) from (
      select x.id, ${values} from {supabase}.${name} x
      where x.id > ${after} and ${isPresent} ${isChanged} order by x.id limit ${mostRows}
    ) q`
}

export const copyIntoStage = (table: ImportTable): string => `copy ${toStage(table)} from stdin`

/** Stages rows that are passed as JSON. Columns that a row lacks become null. */
export function stageRecords(table: ImportTable): string {
  const names = ['id', ...table.columns.map(({ name }) => name), 'source_hash']
  const types = ['id uuid', ...table.columns.map(({ name, type }) => `${name} ${type}`)]
  return `insert into ${toStage(table)} (${names.join(', ')})
    select ${names.map((name) => `p.${name}`).join(', ')}
    from jsonb_to_recordset($1::jsonb) as p(${[...types, 'source_hash bigint'].join(', ')})`
}

export const findRange = (table: ImportTable): string =>
  `select count(*)::integer as count, min(id::text) as first, max(id::text) as last
   from ${toStage(table)}`

/** Selects the secrets of rows that changed in the source; the others were imported already. */
export const selectSecrets = (table: ImportTable, columns: string, condition: string): string =>
  `select s.id, ${columns} from ${toStage(table)} s
   left join {ns}.imported_rows r
     on r.table_name = '${table.name}' and r.id = s.id and r.source_hash = s.source_hash
   where r.id is null and (${condition})`

export const stageSecrets = `
  insert into pg_temp.import_secrets (id, sealed, text_value, json_value, flaw)
  select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::jsonb[], $5::text[])`

const toChangedAt = ({ changedAt = 'updated_at' }: ImportTable) => changedAt

/**
 * Decides what happens to each staged row. `$1` and `$2` are the first and the last ID of the batch,
 * which keep the joins small. `$3` is the source. A row that was recorded without a source counts as
 * imported from this one, because its comparison with `$3` is null.
 */
export function decideOutcomes(table: ImportTable): string {
  const skips = table.skipRules.map(([condition, outcome]) => `when ${condition} then '${outcome}'`)
  return `insert into pg_temp.import_outcomes (id, outcome)
    select s.id, case
      when r.source <> $3 then 'other source'
      when r.id is not null and t.id is null then 'deleted here'
      when r.source_hash = s.source_hash then 'same'
      when r.id is null and t.id is not null then 'exists here'
      when r.updated_at <> t.updated_at then 'changed here'
      ${skips.join('\n')}
      when t.id is null then 'new' else 'changed' end
    from ${toStage(table)} s
    left join (
      select id, ${toChangedAt(table)} as updated_at from ${toTarget(table)}
      where id >= $1 and id <= $2
    ) t on t.id = s.id
    left join (
      select id, updated_at, source_hash, source from {ns}.imported_rows
      where table_name = '${table.name}' and id >= $1 and id <= $2
    ) r on r.id = s.id`
}

/** @param has whether the table here has the column; in a dry run, the copy has only some. */
export function writeRows(table: ImportTable, has: (column: string) => boolean): string {
  const stored = table.columns.filter((each) => each.isStagedOnly !== true && has(each.name))
  const names = stored.map(({ name }) => name)
  return `insert into ${toTarget(table)} (id, ${names.join(', ')})
    select s.id, ${stored.map(({ name, to }) => to ?? `s.${name}`).join(', ')}
    from ${toStage(table)} s join pg_temp.import_outcomes o on o.id = s.id
    left join pg_temp.import_secrets c on c.id = s.id
    where ${isWritten}
    on conflict (id) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

/** Records the written rows and their source `$1`, so that later imports recognise changes. */
export const recordRows = (table: ImportTable): string => `
  insert into {ns}.imported_rows (table_name, id, source_hash, updated_at, source)
  select '${table.name}', s.id, s.source_hash, s.${toChangedAt(table)}, $1
  from ${toStage(table)} s join pg_temp.import_outcomes o on o.id = s.id where ${isWritten}
  on conflict (table_name, id) do update
    set source_hash = excluded.source_hash, updated_at = excluded.updated_at,
      source = excluded.source`

/** Records the source `$1` of rows that an earlier release imported, if the source has them. */
const claim = (table: ImportTable, present: string) => `
  update {ns}.imported_rows r set source = $1 from ${present} p
  where r.table_name = '${table.name}' and r.id = p.id and r.source is null`

/** Claims the rows whose IDs were copied from the source. */
export const claimRows = (table: ImportTable): string => claim(table, 'pg_temp.import_ids')

export const claimStagedRows = (table: ImportTable): string => claim(table, toStage(table))

export const countOutcomes = (mostExamples: number): string => `
  select outcome, count(*)::integer as count,
    (array_agg(id::text order by id))[1:${mostExamples}] as examples
  from pg_temp.import_outcomes group by outcome`

export const selectIds = ({ name, isPresent = 'true' }: ImportTable): string =>
  `select x.id from {supabase}.${name} x where ${isPresent}`

export const copyIntoIds = 'copy pg_temp.import_ids from stdin'

/**
 * Deletes rows here that were imported from the source `$1` and that it no longer has, unless they
 * were changed here.
 */
export const deleteGone = (table: ImportTable): string => `
  with gone as (
    delete from {ns}.imported_rows r where r.table_name = '${table.name}' and r.source = $1
      and not exists (select from pg_temp.import_ids i where i.id = r.id)
    returning r.id, r.updated_at
  ), removed as (
    delete from ${toTarget(table)} t using gone g
    where t.id = g.id and t.${toChangedAt(table)} = g.updated_at returning t.id
  )
  select (select count(*) from removed)::integer as removed,
    (select count(*) from gone g join ${toTarget(table)} t on t.id = g.id
     where t.${toChangedAt(table)} <> g.updated_at)::integer as kept`

export const hasImported = `
  select exists (select from {ns}.imported_rows where table_name = $1) as "isThere"`

/**
 * Counts rows here whose source is still unknown. The import has claimed those that its source has.
 */
export const countUnclaimed = (table: ImportTable): string => `
  select count(*)::integer as count from {ns}.imported_rows r
  join ${toTarget(table)} t on t.id = r.id
  where r.table_name = '${table.name}' and r.source is null`

/** Counts rows from the source `$1` that still exist here. */
export const countPresent = (table: ImportTable): string => `
  select count(*)::integer as count from {ns}.imported_rows r
  join ${toTarget(table)} t on t.id = r.id where r.table_name = '${table.name}' and r.source = $1`

export const addImport = `
  insert into {ns}.imports (id, source, source_version, since, snapshot_at)
  values ($1, $2, $3, $4, $5)`

export const finishImport = 'update {ns}.imports set finished_at = now(), report = $2 where id = $1'

/**
 * The lock belongs to the connection, so it ends with the process. PostgreSQL may notice only after
 * a while that a killed process has closed its connection, so the next import waits for the lock.
 */
export const lockImport = `select pg_advisory_lock(hashtextextended('auth import ' || $1, 0))`
export const limitLockWait = `set lock_timeout = '5s'`
export const resetLockWait = 'reset lock_timeout'

/** Without statistics, the statements of later tables and of the verification would scan whole tables. */
export const analyzeTable = (table: ImportTable): string =>
  `analyze ${toTarget(table)}; analyze {ns}.imported_rows`

/**
 * Indexes for searches collect new entries in a list and sort them into the index when the list is full.
 * A longer list makes this faster, because rows of many batches have parts in common. The work memory
 * limits how many entries are sorted in together.
 */
export const prepareIndexing = `
  set gin_pending_list_limit = '64MB';
  set work_mem = '64MB'`

/** Empties these lists in the schema `$1`, so that requests need not read them. */
export const finishIndexing = `
  select gin_clean_pending_list(c.oid)
  from pg_class c join pg_am a on a.oid = c.relam join pg_namespace n on n.oid = c.relnamespace
  where a.amname = 'gin' and c.relkind = 'i' and n.nspname = $1
    and pg_has_role(c.relowner, 'usage')`

/** The users that earlier batches of the same file have imported. */
export const createSeen = 'create temp table import_seen (id uuid primary key)'

export const findSeen = 'select id::text as id from pg_temp.import_seen where id = any($1::uuid[])'

export const addSeen = 'insert into pg_temp.import_seen select unnest($1::uuid[])'
