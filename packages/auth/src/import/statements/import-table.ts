/** A table of the source and the table of ours that it fills. */
export interface ImportTable {
  /** The name in both schemas, in the report and in the bookkeeping. */
  readonly name: string
  /** What the report calls its rows. */
  readonly label: string
  readonly columns: readonly ImportColumn[]
  /** Conditions for rows of the source that `--since` selects; `x` is the row, `since` the time. */
  readonly isChangedSince: (has: HasColumn, since: string) => string
  /**
   * Reasons not to import a row, in the order in which they are checked: pairs of a condition on
   * the staged row `s` and a key of `skipReasons`.
   */
  readonly flaws: readonly (readonly [condition: string, outcome: string])[]
}

/** A column of ours, and how it is filled. */
export interface ImportColumn {
  readonly name: string
  readonly type: string
  /** An expression over the source's row `x`. */
  readonly from: (has: HasColumn) => string
  /** An expression over the staged row `s` and its secrets `c`. Default: the staged value. */
  readonly to?: string
  /** Whether the value is only used during the import. */
  readonly isStagedOnly?: boolean
}

/** Whether the source has a column; releases differ. */
export type HasColumn = (table: string, column: string) => boolean

/** A column that the source has under the same name. */
export function same(name: string, type: string): ImportColumn {
  return { name, type, from: () => `x.${name}` }
}

export function column(name: string, type: string, from: string): ImportColumn {
  return { name, type, from: () => from }
}

/** A column that only later releases of the source have. */
export function since(table: string, name: string, type: string, from = `x.${name}`): ImportColumn {
  return { name, type, from: (has) => (has(table, name) ? from : `null::${type}`) }
}

/** Metadata that is not an object is not valid here. */
export function toObject(name: string): string {
  return `case jsonb_typeof(x.${name}::jsonb) when 'object' then x.${name}::jsonb else '{}' end`
}

/** Times that the source requires nowhere. */
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

/** In a dry run, users that would be imported are only in the temporary table. */
export const hasNoUser = `(select u.id from {ns}.users u where u.id = s.user_id) is null
  and (select k.id from pg_temp.import_known_users k where k.id = s.user_id) is null`
