import type { Client } from 'pg'

/** What migrations make, besides rows. */
export interface Thing {
  readonly kind: 'table' | 'constraint' | 'index' | 'function' | 'trigger'
  /** `users`, `users.users_email` or `count_users()`. */
  readonly name: string
  /** The statement that makes it; of a table its columns, which are only compared. */
  readonly definition: string
  /** An index that is not complete, a trigger that is off, a constraint that was never checked. */
  readonly isSound: boolean
}

/** In the order in which they can be made. The search path is empty, so that all names are whole. */
const findThings = `
  with ns as (select oid, nspname from pg_namespace where nspname = $1),
  tables as (
    select c.oid, c.relname from pg_class c join ns on ns.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition
  )
  select 1 as place, 'table' as kind, t.relname as name, true as "isSound",
    string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum)
      as definition
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  group by t.relname
  union all
  select 2, 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', true,
    trim(pg_get_functiondef(p.oid))
  from pg_proc p join ns on ns.oid = p.pronamespace
  where p.prokind = 'f' and not exists (
    select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid
      and d.deptype = 'e'
  )
  union all
  select case k.contype when 'f' then 4 else 3 end, 'constraint', t.relname || '.' || k.conname,
    k.convalidated,
    format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s', ns.nspname, t.relname, k.conname,
      replace(pg_get_constraintdef(k.oid), ' NOT VALID', ''))
  from ns, pg_constraint k join tables t on t.oid = k.conrelid
  where k.contype in ('p', 'u', 'f', 'c')
  union all
  select 5, 'index', t.relname || '.' || c.relname, i.indisvalid, pg_get_indexdef(i.indexrelid)
  from pg_index i join tables t on t.oid = i.indrelid join pg_class c on c.oid = i.indexrelid
  where not exists (
    select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u')
  )
  union all
  select 6, 'trigger', t.relname || '.' || g.tgname, g.tgenabled <> 'D', pg_get_triggerdef(g.oid)
  from pg_trigger g join tables t on t.oid = g.tgrelid where not g.tgisinternal
  order by 1, 3`

/** Tables of the runner of migrations, which makes them itself. */
const runnerTables: ReadonlySet<string> = new Set(['schema_migrations', 'migration_lease'])

/** Reads the catalog, which needs no privilege. */
export async function readThings(client: Client, schema: string): Promise<readonly Thing[]> {
  await client.query('begin transaction read only')
  try {
    await client.query("select set_config('search_path', 'pg_catalog', true)")
    const { rows } = await client.query<Thing>(findThings, [schema])
    return rows
      .filter(({ name }) => !runnerTables.has(name.split('.')[0] ?? ''))
      .map(({ kind, name, definition, isSound }) => ({ kind, name, definition, isSound }))
  } finally {
    await client.query('rollback')
  }
}
