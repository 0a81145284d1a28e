export const beginReading = 'begin read only'

/** With this path, PostgreSQL prints all names with their schemas. */
export const qualifyNames = 'set local search_path = pg_catalog'

/** Identifies a database, to find out whether two connections lead to the same one. */
export const identifyDatabase = `
  select d.oid || ' ' || pg_postmaster_start_time()::text as identity
  from pg_database d where d.datname = current_database()`

/**
 * Selects objects outside the schemas of both servers. In all statements, `$1` is the schema that
 * the objects refer to now, and `$2` the one that they are to refer to.
 */
const elsewhere = `n.nspname not in ($1, $2) and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`

/** Foreign keys of partitions are left out: they belong to the key of the partitioned table. */
export const findForeignKeys = `
  select format('%I.%I', n.nspname, c.relname) as "table", quote_ident(k.conname) as name,
    pg_get_constraintdef(k.oid) as definition, f.relname as referenced,
    c.relkind = 'p' as "isPartitioned"
  from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
  join pg_class f on f.oid = k.confrelid join pg_namespace fn on fn.oid = f.relnamespace
  where k.contype = 'f' and fn.nspname = $1 and k.conparentid = 0 and ${elsewhere} order by 1, 2`

export const findPolicies = `
  select format('%I.%I', n.nspname, c.relname) as "table", quote_ident(p.polname) as name,
    pg_get_expr(p.polqual, p.polrelid) as condition,
    pg_get_expr(p.polwithcheck, p.polrelid) as check
  from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
  where ${elsewhere} order by 1, 2`

export const findDefaults = `
  select format('%I.%I', n.nspname, c.relname) as "table", quote_ident(a.attname) as name,
    pg_get_expr(d.adbin, d.adrelid) as expression
  from pg_attrdef d join pg_class c on c.oid = d.adrelid join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
  where a.attgenerated = '' and ${elsewhere} order by 1, 2`

/**
 * Selects statements that grant, in the new schema, the privileges that roles have only in the old
 * one: to use the schema, and to call the functions whose names are `$3`. `grantee = 0` stands for
 * `public`. Owners are left out, because they have these privileges without a grant.
 */
export const findGrants = `
  with schemas as (
    select n.nspname as name, a.grantee, a.grantee = n.nspowner as is_owner
    from pg_namespace n cross join aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
    where n.nspname in ($1, $2) and a.privilege_type = 'USAGE'
  ), functions as (
    select n.nspname as schema, p.proname as name, a.grantee, a.grantee = p.proowner as is_owner
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    where n.nspname in ($1, $2) and p.proname = any($3::text[]) and p.pronargs = 0
      and a.privilege_type = 'EXECUTE'
  ), missing as (
    select 1 as rank, format('usage on schema %I', $2) as privilege, o.grantee from schemas o
    where o.name = $1 and not o.is_owner
      and not exists (select from schemas s where s.name = $2 and s.grantee in (o.grantee, 0))
    union all
    select 2, format('execute on function %I.%I()', $2, o.name), o.grantee from functions o
    where o.schema = $1 and not o.is_owner
      and exists (select from functions f where f.schema = $2 and f.name = o.name)
      and not exists (select from functions f
        where f.schema = $2 and f.name = o.name and f.grantee in (o.grantee, 0))
  )
  select format('grant %s to %s;', m.privilege, string_agg(
    case m.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(m.grantee)) end,
    ', ' order by pg_get_userbyid(m.grantee))) as statement
  from missing m group by m.rank, m.privilege order by m.rank, m.privilege`

/**
 * Selects the triggers on `users` that the other table lacks, without those of this server, whose
 * schema has the table `imported_rows`.
 */
export const findTriggers = `
  select quote_ident(t.tgname) as name, pg_get_triggerdef(t.oid) as definition
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where not t.tgisinternal and n.nspname = $1 and c.relname = 'users'
    and not exists (
      select from pg_proc p join pg_class b on b.relnamespace = p.pronamespace
      where p.oid = t.tgfoid and b.relname = 'imported_rows')
    and not exists (
      select from pg_trigger o join pg_class oc on oc.oid = o.tgrelid
      join pg_namespace own on own.oid = oc.relnamespace
      where own.nspname = $2 and oc.relname = 'users' and o.tgname = t.tgname)
  order by 1`

/** Selects functions and views, except those of extensions (`deptype = 'e'`). */
export const findCode = `
  select format('function %s', p.oid::regprocedure) as name, p.prosrc as text
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where ${elsewhere} and p.prokind in ('f', 'p')
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  union all
  select format('view %I.%I', n.nspname, c.relname), pg_get_viewdef(c.oid)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('v', 'm') and ${elsewhere}
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
  order by 1`

export interface Named {
  readonly name: string
}

export interface ForeignKey extends Named {
  readonly table: string
  readonly definition: string
  readonly referenced: string
  readonly isPartitioned: boolean
}

export interface Policy extends Named {
  readonly table: string
  readonly condition: string | null
  readonly check: string | null
}

export interface Default extends Named {
  readonly table: string
  readonly expression: string
}

/** Replaces the schema in an expression or a definition. */
export type Rename = (text: string) => string

/**
 * Adds the key without validation, which does not scan the table, and then validates it, which does
 * not block writes. An operator who runs the printed statements one by one benefits from that; in one
 * transaction, the locks of the first statement last until the end.
 */
export function toKeyStatements(rename: Rename) {
  return ({ table, name, definition, isPartitioned }: ForeignKey): readonly string[] => {
    const renamed = rename(definition.replace(/ NOT VALID$/, ''))
    const change = `alter table ${table} drop constraint ${name}, add constraint ${name} ${renamed}`
    // PostgreSQL before 18 does not support NOT VALID for foreign keys of partitioned tables.
    if (isPartitioned) return [`${change};`]
    const isValidated = !/ NOT VALID$/.test(definition)
    return [
      `${change} not valid;`,
      ...(isValidated ? [`alter table ${table} validate constraint ${name};`] : []),
    ]
  }
}

export function toPolicyStatement(rename: Rename) {
  return ({ table, name, condition, check }: Policy): string => {
    const using = condition === null ? '' : ` using (${rename(condition)})`
    const withCheck = check === null ? '' : ` with check (${rename(check)})`
    return `alter policy ${name} on ${table}${using}${withCheck};`
  }
}

export function toDefaultStatement(rename: Rename) {
  return ({ table, name, expression }: Default): string =>
    `alter table ${table} alter column ${name} set default ${rename(expression)};`
}
