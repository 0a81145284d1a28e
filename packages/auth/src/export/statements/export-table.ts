/** A table of Supabase Auth, and the table of this server that fills it. */
export interface ExportTable {
  /** The name in Supabase Auth, in the report and in `imported_rows`. */
  readonly name: string
  /** The name here. Default: the same. */
  readonly own?: string
  /** The column, in both tables, with the time of the last change. Default: `updated_at`. */
  readonly changedAt?: string
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
  /** A statement that runs before rows are written. */
  readonly prepare?: string
  /** Statements that write what belongs to the rows into the tables of `companions`. */
  readonly writeMore?: readonly string[]
  /** By table of Supabase Auth: the foreign key that refers to this table. */
  readonly companions?: Readonly<Record<string, string>>
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

export const same = (name: string, type: string): ExportColumn => ({
  name,
  type,
  from: `x.${name}`,
})

/** Supabase Auth cannot read null in such a column. */
export const text = (name: string): ExportColumn => ({
  name,
  type: 'text',
  from: `coalesce(x.${name}, '')`,
})

export const hasNoUser = `(select u.id from {supabase}.users u where u.id = s.user_id) is null`

/** Whether a row is written, rather than skipped or already up to date. */
export const isWritten = `o.outcome in ('new', 'changed')`

export const toStage = ({ name }: Pick<ExportTable, 'name'>): string => `pg_temp.export_${name}`

/** The written rows `s` of a table. */
export const writtenRows = (table: Pick<ExportTable, 'name'>): string =>
  `(select s.* from ${toStage(table)} s join pg_temp.export_outcomes o on o.id = s.id
    where ${isWritten})`
