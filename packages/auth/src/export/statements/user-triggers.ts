/** The names are quoted. */
export interface UserTrigger {
  readonly table: string
  readonly name: string
  /** Whether it fires in every replication role. */
  readonly isAlways: boolean
  readonly mayDisable: boolean
}

/**
 * Lists the triggers of tables that would fire, without those that implement foreign keys. `$1` is the
 * schema and `$2` the names of the tables.
 */
export const listUserTriggers = `
  select format('%I.%I', n.nspname, c.relname) as "table", quote_ident(t.tgname) as name,
    t.tgenabled = 'A' as "isAlways", pg_has_role(c.relowner, 'usage') as "mayDisable"
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relname = any($2::text[]) and not t.tgisinternal
    and t.tgenabled in ('O', 'A')
  order by 1, 2`

/** PostgreSQL does not alter a table while it has pending checks of deferred constraints. */
export const checkDeferredConstraints = 'set constraints all immediate'

export const disableTrigger = ({ table, name }: UserTrigger): string =>
  `alter table ${table} disable trigger ${name}`

export const enableTrigger = ({ table, name, isAlways }: UserTrigger): string =>
  `alter table ${table} ${isAlways ? 'enable always' : 'enable'} trigger ${name}`
