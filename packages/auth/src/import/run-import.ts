import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { sessionForCopies } from '../db/backup/format.ts'
import { checkSchema } from '../db/schema/check-schema.ts'
import { ImportError } from './import-error.ts'
import { withBoth } from './open-both.ts'
import { addOutcomes, createTableReport, type ImportReport, type TableReport } from './report.ts'
import * as batches from './statements/batches.ts'
import type { ImportTable } from './statements/import-table.ts'
import { importTables } from './statements/index.ts'
import {
  copyIntoTokens,
  deleteTokens,
  selectTokens,
  writeSessionKeys,
  writeTokens,
} from './statements/sessions.ts'
import {
  beginReading,
  countAudiences,
  countRows,
  probe,
  readClock,
  readWithOthers,
  refuseHiddenRows,
  uncopiedTables,
} from './statements/source.ts'
import { type SecretRow, type SecretTools, secretKinds } from './supabase/secrets.ts'
import { readSourceSchema, type SourceSchema } from './supabase/source-schema.ts'
import type { SourceUrl } from './supabase/source-url.ts'
import { hasCode, TargetWriter } from './target-writer.ts'
import { verifyImport } from './verify-import.ts'

export interface ImportSettings {
  readonly from: SourceUrl
  readonly to: { readonly url: string; readonly schema: string }
  readonly tools: SecretTools
  readonly isDryRun: boolean
  /** Only rows that changed since are read. */
  readonly since: Date | undefined
  /** The audiences of this server, the default one first. */
  readonly audiences: readonly string[]
  /** Rows per transaction. */
  readonly batchRows: number
  readonly acceptsNewer: boolean
  /** Whether rows are deleted even if the source has lost many of them. */
  readonly acceptsRemovals: boolean
  readonly onProgress: (progress: ImportProgress) => void
  readonly onWarning: (message: string) => void
}

export interface ImportProgress {
  readonly label: string
  readonly done: number
  /** Undefined if it is not known in advance. */
  readonly total: number | undefined
}

/**
 * Copies the rows of a Supabase Auth schema. Each batch is one transaction, so an interrupted import
 * leaves complete rows, and the next one continues: it compares all rows with those that were
 * imported before.
 * @throws {ImportError} with advice.
 */
export async function runImport(settings: ImportSettings): Promise<ImportReport> {
  const { from, to, isDryRun, onWarning } = settings
  await checkSchema({ ...to, log: { warning: onWarning } })
  return await withBoth(from, to.url, async ({ source, target }) => {
    const schema = await reading(() => beginSource(source, settings))
    const writer = new TargetWriter(target, { schema: to.schema, isDryRun })
    return await new Import(settings, source, schema, writer).run()
  })
}

/** Begins the transaction in which all rows are read, and checks that they can be read. */
async function beginSource(source: Client, settings: ImportSettings): Promise<SourceSchema> {
  await source.query(beginReading)
  await source.query(sessionForCopies)
  await source.query(refuseHiddenRows)
  const schema = await readSourceSchema(source, settings.from, settings)
  for (const name of [...importTables.map(({ name }) => name), ...readWithOthers]) {
    if (schema.hasTable(name)) await source.query(schema.text(probe(name)))
  }
  return schema
}

/** Explains a lack of privileges on the source. */
async function reading<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!hasCode(error, '42501') || !(error instanceof Error)) throw error
    throw new ImportError(
      `The role in --from may not read all rows of the source (${error.message}): use the role that owns the ` +
        'tables, such as supabase_auth_admin or postgres.',
      { cause: error },
    )
  }
}

/** Smaller than every ID that is in use. */
const firstId = '00000000-0000-0000-0000-000000000000'
/** A source with fewer users is probably another one. */
const leastShare = 0.9

class Import {
  readonly #settings: ImportSettings
  readonly #source: Client
  readonly #schema: SourceSchema
  readonly #writer: TargetWriter

  constructor(
    settings: ImportSettings,
    source: Client,
    schema: SourceSchema,
    writer: TargetWriter,
  ) {
    this.#settings = settings
    this.#source = source
    this.#schema = schema
    this.#writer = writer
  }

  async run(): Promise<ImportReport> {
    const { from, isDryRun, since } = this.#settings
    const startedAt = performance.now()
    const tables = importTables.filter(({ name }) => this.#schema.hasTable(name))
    await this.#writer.open(tables)
    const counts = new Map<string, number>()
    for (const { name } of tables) counts.set(name, await this.#count(name))
    const notImported = await reading(() => this.#countUncopied())
    await this.#checkAudiences()
    await this.#refuseLostRows(counts.get('users') ?? 0)
    const { rows } = await this.#source.query<{ time: string }>(readClock)
    const snapshotAt = new Date(rows[0]?.time ?? 0).toISOString()
    const id = randomUUID()
    const start = [id, from.label, this.#schema.version, since ?? null, snapshotAt]
    if (!isDryRun) await this.#writer.run(batches.addImport, start)
    const reports: TableReport[] = []
    for (const table of tables) {
      reports.push(await this.#importTable(table, counts.get(table.name) ?? 0))
    }
    const report: ImportReport = {
      source: from.label,
      sourceVersion: this.#schema.version,
      isDryRun,
      since: since?.toISOString(),
      snapshotAt,
      tables: reports,
      notImported,
      verification: isDryRun ? undefined : await this.#verify(tables, reports),
      seconds: (performance.now() - startedAt) / 1_000,
    }
    if (!isDryRun) await this.#writer.run(batches.finishImport, [id, JSON.stringify(report)])
    await this.#source.query('commit')
    return report
  }

  async #countUncopied(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {}
    for (const name of uncopiedTables) {
      const count = this.#schema.hasTable(name) ? await this.#count(name) : 0
      if (count > 0) counts[name] = count
    }
    return counts
  }

  async #count(table: string): Promise<number> {
    const text = this.#schema.text(countRows(table))
    const { rows } = await this.#source.query<{ count: number }>(text)
    return rows[0]?.count ?? 0
  }

  /** Users are looked up by address and audience. */
  async #checkAudiences(): Promise<void> {
    const { audiences, onWarning } = this.#settings
    const { rows } = await this.#source.query<{ audience: string; count: number }>(
      this.#schema.text(countAudiences),
    )
    for (const { audience, count } of rows) {
      if (audiences.includes(audience)) continue
      onWarning(
        `${count} users have the audience "${audience}", but AUTH_JWT_AUD is "${audiences[0] ?? ''}". They can sign in ` +
          `only with AUTH_JWT_AUD=${audience}`,
      )
    }
  }

  async #refuseLostRows(inSource: number): Promise<void> {
    const { rows } = await this.#writer.run<{ count: number }>(batches.countImported, ['users'])
    const imported = rows[0]?.count ?? 0
    if (this.#settings.acceptsRemovals || inSource >= imported * leastShare) return
    throw new ImportError(
      `The source has ${inSource} users, but ${imported} were imported earlier. Check that --from names the right ` +
        'database. If so many users were really deleted there, pass --accept-removals, and they are deleted here too.',
    )
  }

  /** Removes rows first, because a new user may have the address of a deleted one. */
  async #importTable(table: ImportTable, total: number): Promise<TableReport> {
    const removed = await this.#removeGone(table)
    const first = await this.#readTable(table, total)
    const isAddressFree = first.updated > 0 && hasTaken(first) && !this.#settings.isDryRun
    if (!isAddressFree) return { ...first, removed }
    // A user may have the address that another one, whose row came later, had before.
    const { updated, added, unchanged, skipped } = await this.#readTable(table, total)
    return {
      ...first,
      removed,
      added: first.added + added,
      updated: first.updated + updated,
      unchanged: unchanged - first.added - first.updated,
      skipped,
    }
  }

  async #readTable(table: ImportTable, total: number): Promise<TableReport> {
    const { onProgress, since, batchRows } = this.#settings
    const report = createTableReport(table.name, table.label, total)
    let after = firstId
    for (let done = 0; ; ) {
      onProgress({ label: table.label, done, total })
      const range = {
        after: toUuidLiteral(after),
        since: since && toTimeLiteral(since),
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
    const { rows } = await this.#writer.run<SecretRow>(
      batches.selectSecrets(table, kind.columns, kind.condition),
    )
    if (rows.length === 0) return
    const secrets = rows.map((row) => kind.convert(row, this.#settings.tools))
    await this.#writer.run(batches.stageSecrets, [
      rows.map(({ id }) => id),
      secrets.map(({ sealed }) => sealed ?? null),
      secrets.map(({ text }) => text ?? null),
      secrets.map(({ json }) => (json === undefined ? null : JSON.stringify(json))),
      secrets.map(({ flaw }) => flaw ?? null),
    ])
  }

  async #importTokens(first: string, last: string): Promise<void> {
    await this.#writer.run(writeSessionKeys)
    await this.#writer.run(deleteTokens)
    await this.#copy(selectTokens(toUuidLiteral(first), toUuidLiteral(last)), copyIntoTokens)
    await this.#writer.run(writeTokens)
  }

  /**
   * Users who were deleted and sessions that ended in the source must not continue here.
   * @returns their number.
   */
  async #removeGone(table: ImportTable): Promise<number> {
    const { rows: known } = await this.#writer.run<{ isThere: boolean }>(batches.hasImported, [
      table.name,
    ])
    if (known[0]?.isThere !== true) return 0
    const { isDryRun, onWarning } = this.#settings
    return await this.#writer.transaction(async () => {
      await this.#copy(batches.selectIds(table), batches.copyIntoIds)
      const statement = isDryRun ? batches.countGone(table) : batches.deleteGone(table)
      const { rows } = await this.#writer.run<{ removed: number; kept: number }>(statement)
      const { removed = 0, kept = 0 } = rows[0] ?? {}
      if (kept > 0) {
        onWarning(
          `${kept} ${table.label} were deleted in the source but changed here since they were imported; they are kept.`,
        )
      }
      return removed
    })
  }

  async #verify(tables: readonly ImportTable[], reports: readonly TableReport[]) {
    const settings = {
      source: this.#source,
      toSource: this.#schema.text,
      writer: this.#writer,
      isPartial: this.#settings.since !== undefined,
    }
    return await this.#writer.transaction(() => verifyImport(settings, tables, reports))
  }

  async #copy(select: string, into: string): Promise<void> {
    const rows = this.#source.query(copyTo(`copy (${this.#schema.text(select)}) to stdout`))
    await pipeline(rows, this.#writer.client.query(copyFrom(into)))
  }
}

function hasTaken({ skipped }: TableReport): boolean {
  return skipped['email taken'] !== undefined || skipped['phone taken'] !== undefined
}

/** The ID comes from a column of the type uuid. */
function toUuidLiteral(id: string): string {
  if (!/^[\da-f-]{36}$/.test(id)) throw new Error(`Not a UUID: ${id}`)
  return `'${id}'::uuid`
}

function toTimeLiteral(time: Date): string {
  return `'${time.toISOString()}'::timestamptz`
}
