import type { SequenceState, StoredTable } from './tables.ts'

/**
 * A backup is a gzip file of lines: a header, then for each table a line with its columns, its rows as
 * COPY writes them and a line `\.`, then an end that says how many rows there are.
 */
export const formatName = 'portcullis auth backup'
export const formatVersion = 1

export interface BackupHeader {
  readonly format: typeof formatName
  readonly formatVersion: number
  readonly createdAt: string
  /** Of the auth server that wrote it. */
  readonly serverVersion: string
  /** Of PostgreSQL: `18.4`. */
  readonly postgresVersion: string
  /** The migrations that the tables had. */
  readonly migrations: readonly string[]
  readonly sequences: readonly SequenceState[]
}

export interface TableHeader {
  readonly table: StoredTable
}

export interface BackupEnd {
  /** By table. */
  readonly rows: Readonly<Record<string, number>>
}

export const endOfRows = '\\.'

export function toLine(value: BackupHeader | TableHeader | BackupEnd): string {
  return `${JSON.stringify(value)}\n`
}
