import { toCountText } from '@portcullis/service-kit/text/format'
import type { Client } from 'pg'
import { copyRows } from '../db/copy-rows.ts'
import { nilId } from '../db/nil-id.ts'
import type { ImportSettings } from './import-settings.ts'
import { addOutcomes, createTableReport, type TableReport } from './report.ts'
import * as batches from './statements/batches.ts'
import type { ImportTable } from './statements/import-table.ts'
import {
  copyIntoTokens,
  deleteTokens,
  selectTokens,
  writeSessionKeys,
  writeTokens,
} from './statements/sessions.ts'
import { type SecretRow, secretKinds } from './supabase/secrets.ts'
import type { SupabaseSchema } from './supabase/supabase-schema.ts'
import type { TargetWriter } from './target-writer.ts'

interface TableImporterParts {
  readonly settings: ImportSettings
  /** A connection in the transaction that reads the snapshot. */
  readonly source: Client
  readonly schema: SupabaseSchema
  readonly writer: TargetWriter
}

/** Copies the rows of a table in batches. */
export class TableImporter {
  readonly #settings: ImportSettings
  readonly #source: Client
  readonly #schema: SupabaseSchema
  readonly #writer: TargetWriter

  constructor({ settings, source, schema, writer }: TableImporterParts) {
    this.#settings = settings
    this.#source = source
    this.#schema = schema
    this.#writer = writer
  }

  /**
   * Removes rows first, because a new user may have the address of a deleted one.
   * @param total the number of rows in the source.
   */
  async importTable(table: ImportTable, total: number): Promise<TableReport> {
    const removed = await this.#removeGone(table)
    const report = await copyWithSecondPass(() => this.#importBatches(table, total))
    await this.#writer.finishTable(table, report)
    return { ...report, removed }
  }

  async #importBatches(table: ImportTable, total: number): Promise<TableReport> {
    const { onProgress, since, batchRows } = this.#settings
    const report = createTableReport(table.name, table.label, total)
    let after = nilId
    for (let done = 0; ; ) {
      onProgress({ label: table.label, done, total })
      const range = {
        after: toUuidLiteral(after),
        since: since && toSinceLiteral(since),
        mostRows: batchRows,
      }
      const rows = batches.selectBatch(table, this.#schema.has, range)
      const batch = await this.#writer.importBatch(table, {
        stage: () => this.#copy(rows, batches.copyIntoStage(table)),
        convert: () => this.#convertSecrets(table),
        ...(table.name === 'sessions' && {
          writeMore: ({ first, last }) => this.#importTokens(first, last),
        }),
      })
      addOutcomes(report, batch.outcomes)
      done += batch.count
      if (batch.range === null || batch.count < batchRows) break
      after = batch.range.last
    }
    onProgress({ label: table.label, done: total, total })
    return report
  }

  async #convertSecrets(table: ImportTable): Promise<void> {
    const kind = secretKinds[table.name]
    if (kind === undefined) return
    const { tools } = this.#settings
    const { rows } = await this.#writer.run<SecretRow>(
      batches.selectSecrets(table, kind.columns, kind.condition(tools)),
    )
    if (rows.length === 0) return
    const secrets = rows.map((row) => kind.convert(row, tools))
    await this.#writer.run(batches.stageSecrets, [
      rows.map(({ id }) => id),
      secrets.map(({ sealed }) => sealed ?? null),
      secrets.map(({ text }) => text ?? null),
      secrets.map(({ json }) => (json === undefined ? null : JSON.stringify(json))),
      secrets.map(({ flaw }) => flaw ?? null),
    ])
  }

  /** Imports the refresh tokens of a range of sessions. */
  async #importTokens(first: string, last: string): Promise<void> {
    await this.#writer.run(writeSessionKeys)
    await this.#writer.run(deleteTokens)
    await this.#copy(selectTokens(toUuidLiteral(first), toUuidLiteral(last)), copyIntoTokens)
    await this.#writer.run(writeTokens)
  }

  /**
   * Deletes rows that came from the source and that it no longer has: deleted users and ended sessions
   * must not continue here.
   * @returns the number of deleted rows.
   */
  async #removeGone(table: ImportTable): Promise<number> {
    const { rows: known } = await this.#writer.run<{ isThere: boolean }>(batches.hasImported, [
      table.name,
    ])
    if (known[0]?.isThere !== true) return 0
    return await this.#writer.transaction(async () => {
      await this.#copy(batches.selectIds(table), batches.copyIntoIds)
      const { source } = this.#writer
      await this.#writer.run(batches.claimRows(table), [source])
      const { rows } = await this.#writer.run<{ removed: number; kept: number }>(
        batches.deleteGone(table),
        [source],
      )
      const { removed = 0, kept = 0 } = rows[0] ?? {}
      if (kept > 0) {
        this.#settings.onWarning(
          `${table.label}: ${toCountText(kept, 'row was', 'rows were')} deleted in the source but changed here since the import. Changed rows are kept.`,
        )
      }
      await this.#warnOfUnclaimed(table)
      return removed
    })
  }

  async #warnOfUnclaimed(table: ImportTable): Promise<void> {
    const { rows } = await this.#writer.run<{ count: number }>(batches.countUnclaimed(table))
    const count = rows[0]?.count ?? 0
    if (count === 0) return
    this.#settings.onWarning(
      `${table.label}: ${toCountText(count, 'row was', 'rows were')} imported by an earlier release, which did not record ` +
        'the source, and this source does not have them. Such rows are kept.',
    )
  }

  /** Streams rows from the source into a temporary table. */
  async #copy(select: string, into: string): Promise<void> {
    const to = this.#writer.client
    await copyRows({ from: this.#source, select: this.#schema.toText(select), to, into })
  }
}

/** COPY takes no parameters, so the ID becomes part of the statement and must be a UUID. */
function toUuidLiteral(id: string): string {
  if (!/^[\da-f-]{36}$/.test(id)) throw new Error(`Not a UUID: ${id}`)
  return `'${id}'::uuid`
}

/**
 * `--since` also reads rows that changed shortly before that time: Supabase Auth sets the time of a
 * change by its own clock, and may commit the change after the snapshot of the last import. Rows
 * that are read again without a change are not written.
 */
const overlapMs = 5 * 60_000

function toSinceLiteral(since: Date): string {
  return `'${new Date(since.getTime() - overlapMs).toISOString()}'::timestamptz`
}

/**
 * Copies the rows of a table, and copies them again if a row was skipped because of a value that may be
 * free now, such as an address: its previous owner may have been updated afterwards.
 */
export async function copyWithSecondPass(copy: () => Promise<TableReport>): Promise<TableReport> {
  const first = await copy()
  if (first.updated === 0 || !hasTakenValue(first)) return first
  const second = await copy()
  return {
    ...second,
    added: first.added + second.added,
    updated: first.updated + second.updated,
    unchanged: second.unchanged - first.added - first.updated,
  }
}

function hasTakenValue({ skipped }: TableReport): boolean {
  return Object.keys(skipped).some((outcome) => outcome.endsWith(' taken'))
}
