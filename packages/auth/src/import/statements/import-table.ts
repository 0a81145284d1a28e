/** A table of Supabase Auth, and the table of this server that it fills. */
export interface ImportTable {
  /** The name in the source, in the report and in `imported_rows`. */
  readonly name: string
  /** The name here. Default: the same. */
  readonly target?: string
  /** The column here with the time of the last change. Default: `updated_at`. */
  readonly changedAt?: string
  /** What the report calls the rows. */
  readonly label: string
  readonly columns: readonly ImportColumn[]
  /** The condition for rows `x` of the source that are not marked as deleted. Default: all. */
  readonly isPresent?: string
  /** The condition for rows that `--since` selects. `x` is the row of the source. */
  readonly isChangedSince: (since: string) => string
  /**
   * Reasons not to import a row, in the order in which they are checked: pairs of a condition on
   * the staged row `s` and a key of `skipReasons`.
   */
  readonly skipRules: readonly (readonly [condition: string, outcome: string])[]
  /** Statements that write what belongs to the rows into the tables of `companions`. */
  readonly writeMore?: readonly string[]
  /** By table here: the foreign key that refers to this table. */
  readonly companions?: Readonly<Record<string, string>>
}

/** A column of this server's table, and how it is filled. */
export interface ImportColumn {
  readonly name: string
  readonly type: string
  /** An expression over the row `x` of the source. */
  readonly from: (has: HasColumn) => string
  /** An expression over the staged row `s` and its secrets `c`. Default: the staged value. */
  readonly to?: string
  /** An expression over the row `x` here, which the verification compares. Default: that of `from`. */
  readonly own?: string
  /** Whether the value is used only during the import and not stored. */
  readonly isStagedOnly?: boolean
}

/** Whether the source has a column. Its releases differ. */
export type HasColumn = (table: string, column: string) => boolean

/** A column that the source has under the same name. */
export function same(name: string, type: string): ImportColumn {
  return { name, type, from: () => `x.${name}` }
}

export function column(name: string, type: string, from: string): ImportColumn {
  return { name, type, from: () => from }
}

/** A column that earlier releases of the source lack. */
export function recent(
  table: string,
  name: string,
  type: string,
  from = `x.${name}`,
): ImportColumn {
  return { name, type, from: (has) => (has(table, name) ? from : `null::${type}`) }
}

/** Replaces metadata that is not an object, which this server does not accept. */
export function toObject(name: string): string {
  return `case jsonb_typeof(x.${name}::jsonb) when 'object' then x.${name}::jsonb else '{}' end`
}

// The source allows null in these columns.
export const createdAt = column(
  'created_at',
  'timestamptz',
  `coalesce(x.created_at, x.updated_at, 'epoch')`,
)
export const updatedAt = column(
  'updated_at',
  'timestamptz',
  `coalesce(x.updated_at, x.created_at, 'epoch')`,
)

/**
 * Whether the user of a row is missing, or was imported from a source other than `$3`: that user must
 * not get the sessions and factors of a user with the same ID.
 */
export const hasNoUser = `((select u.id from {ns}.users u where u.id = s.user_id) is null
  or (select r.source from {ns}.imported_rows r
    where r.table_name = 'users' and r.id = s.user_id) <> $3)`

/** Whether the OAuth client of a row is missing here. */
export const hasNoClient = (column: string): string =>
  `(select c.id from {ns}.oauth_clients c where c.id = s.${column}) is null`

/** Whether a value of a row cannot be used, for example because the decryption key is wrong. */
export const hasInvalidSecret =
  '(select c.flaw from pg_temp.import_secrets c where c.id = s.id) is not null'

/** Whether a row is written, rather than skipped or already up to date. */
export const isWritten = `o.outcome in ('new', 'changed')`

export const toStage = ({ name }: Pick<ImportTable, 'name'>): string => `pg_temp.import_${name}`

export const toTarget = ({ name, target = name }: Pick<ImportTable, 'name' | 'target'>): string =>
  `{ns}.${target}`
