import { performance } from 'node:perf_hooks'
import type { Client, QueryResultRow } from 'pg'
import { sessionForCopies } from '../db/backup/format.ts'
import { openClient } from '../db/connection/open-client.ts'
import { copyRows } from '../db/copy-rows.ts'
import { nilId } from '../db/nil-id.ts'
import { checkSchema } from '../db/schema/check-schema.ts'
import { quote, withSchema } from '../db/statement.ts'
import { beginSnapshot, commit, runTransaction } from '../db/transaction.ts'
import type { ImportSettings } from '../import/import-settings.ts'
import {
  applicationName,
  type BothClients,
  readDatabaseIdentity,
  withBothDatabases,
} from '../import/open-both-databases.ts'
import {
  addOutcomes,
  createTableReport,
  type ImportReport,
  mostExamples,
  type Outcome,
  type TableReport,
} from '../import/report.ts'
import { copySchema, copyTables, isCopied } from '../import/statements/dry-run-copies.ts'
import { readSupabaseSchema, type SupabaseSchema } from '../import/supabase/supabase-schema.ts'
import type { SupabaseUrl } from '../import/supabase/supabase-url.ts'
import { copyWithSecondPass } from '../import/table-importer.ts'
import { type SecretRow, type SecretTools, secretKinds } from './secrets.ts'
import * as statements from './statements/batches.ts'
import type { ExportTable } from './statements/export-table.ts'
import { openTriggerGuard, type TriggerGuard } from './user-triggers.ts'

export interface ExportSettings {
  readonly to: SupabaseUrl
  readonly from: { readonly url: string; readonly schema: string }
  readonly tools: SecretTools
  readonly isDryRun: boolean
  readonly onProgress: ImportSettings['onProgress']
  readonly onWarning: (message: string) => void
}

/**
 * Writes everything but sessions back into a schema of Supabase Auth, a transaction per batch. Rows
 * that are newer there are kept.
 * @throws {ImportError} with advice.
 */
export async function runExport(settings: ExportSettings): Promise<ImportReport> {
  const { to, from, isDryRun, onWarning } = settings
  const startedAt = performance.now()
  await checkSchema({ ...from, log: { warning: onWarning } })
  return await withBothDatabases(to, from.url, async (clients) => {
    const { supabase, own } = clients
    const schema = await readSupabaseSchema(supabase, to, {})
    const tables = statements.exportTables.filter((table) => isSupported(table, schema))
    const names = tables.flatMap(({ name, companions = {} }) => [name, ...Object.keys(companions)])
    const triggers = await openTriggerGuard(supabase, to, names)
    const source = await readDatabaseIdentity(supabase, to)
    await own.query(beginSnapshot)
    await own.query(sessionForCopies)
    if (isDryRun) {
      const copies = copyTables({ schema: quote(to.schema), tables, has: schema.has })
      await supabase.query(copies)
    }
    await supabase.query(statements.createStages(tables))
    const reports: TableReport[] = []
    // The other connection reads a snapshot, in which it cannot write.
    const records = await openClient(from.url, applicationName)
    try {
      const parts = { settings, clients, records, schema, triggers, source }
      const exporter = new TableExporter(parts)
      for (const table of tables) reports.push(await exporter.exportTable(table))
    } finally {
      await records.end()
    }
    await own.query(commit)
    return {
      source: to.label,
      sourceVersion: schema.version,
      isDryRun,
      since: undefined,
      snapshotAt: undefined,
      tables: reports,
      notImported: {},
      verification: undefined,
      seconds: (performance.now() - startedAt) / 1_000,
    }
  })
}

/** Releases before September 2025 identify OAuth clients by a text that this server does not have. */
function isSupported({ name }: ExportTable, { has, hasTable }: SupabaseSchema): boolean {
  const isOfClients = name === 'oauth_clients' || name === 'oauth_consents'
  return hasTable(name) && !(isOfClients && has('oauth_clients', 'client_id'))
}

/** A row that is equal in both databases. */
interface EqualRow {
  readonly id: string
  /** The time of its last change, as text, which keeps microseconds. */
  readonly changedAt: string
}

interface TableExporterParts {
  readonly settings: ExportSettings
  readonly clients: BothClients
  readonly schema: SupabaseSchema
  readonly triggers: TriggerGuard
  /** A connection to the database of this server that records which rows were exported. */
  readonly records: Client
  /** Identifies the database of Supabase Auth in `imported_rows`. */
  readonly source: string
}

/** Writes the rows of a table in batches; in a dry run, into the copies. */
class TableExporter {
  readonly #settings: ExportSettings
  readonly #supabase: Client
  readonly #own: Client
  readonly #records: Client
  readonly #schema: SupabaseSchema
  readonly #triggers: TriggerGuard
  readonly #source: string

  constructor({ settings, clients, records, schema, triggers, source }: TableExporterParts) {
    this.#settings = settings
    this.#supabase = clients.supabase
    this.#own = clients.own
    this.#records = records
    this.#schema = schema
    this.#triggers = triggers
    this.#source = source
  }

  /** Removes rows first, because a new user may have the address of a deleted one. */
  async exportTable(table: ExportTable): Promise<TableReport> {
    const removed = await this.#transaction(() => this.#removeDeleted(table))
    const report = await copyWithSecondPass(() => this.#exportBatches(table))
    return { ...report, removed }
  }

  async #exportBatches(table: ExportTable): Promise<TableReport> {
    const { onProgress } = this.#settings
    const { rows } = await this.#own.query<{ count: number }>(
      this.#toOwnText(statements.countRows(table)),
    )
    const total = rows[0]?.count ?? 0
    const report = createTableReport(table.name, table.label, total)
    let done = 0
    for (let after = nilId; ; ) {
      onProgress({ label: table.label, done, total })
      const { last, outcomes, equal } = await this.#transaction(() =>
        this.#exportBatch(table, after),
      )
      if (equal.length > 0) await this.#record(table, equal)
      addOutcomes(report, outcomes)
      done = outcomes.reduce((sum, { count }) => sum + count, done)
      if (last === null) break
      after = last
    }
    onProgress({ label: table.label, done: total, total })
    return report
  }

  async #exportBatch(table: ExportTable, after: string) {
    await this.#copy(
      statements.selectBatch(table, `'${after}'::uuid`),
      statements.copyIntoStage(table),
    )
    const { rows } = await this.#run<{ last: string | null }>(statements.findLast(table))
    const last = rows[0]?.last ?? null
    if (last === null) return { last, outcomes: [], equal: [] }
    await this.#convertSecrets(table)
    await this.#run(statements.decideOutcomes(table))
    const { isDryRun } = this.#settings
    const has = (column: string) =>
      this.#schema.has(table.name, column) && (!isDryRun || isCopied(table.name, column))
    if (table.prepare !== undefined) await this.#run(table.prepare)
    await this.#run(statements.writeRows(table, has))
    for (const statement of table.writeMore ?? []) await this.#run(statement)
    const outcomes = await this.#run<Outcome>(statements.countOutcomes(mostExamples))
    if (isDryRun) return { last, outcomes: outcomes.rows, equal: [] }
    const equal = await this.#run<EqualRow>(statements.selectEqual(table))
    return { last, outcomes: outcomes.rows, equal: equal.rows }
  }

  async #record({ name }: ExportTable, rows: readonly EqualRow[]): Promise<void> {
    await this.#records.query(this.#toOwnText(statements.recordEqual), [
      name,
      this.#source,
      rows.map(({ id }) => id),
      rows.map(({ changedAt }) => changedAt),
    ])
  }

  async #convertSecrets(table: ExportTable): Promise<void> {
    const kind = secretKinds[table.name]
    if (kind === undefined) return
    const { columns, condition = 'true' } = kind
    const { rows } = await this.#run<SecretRow>(statements.selectSecrets(table, columns, condition))
    const secrets = rows.map((row) => kind.convert(row, this.#settings.tools))
    await this.#run(statements.stageSecrets, [
      rows.map(({ id }) => id),
      secrets.map(({ text }) => text),
      secrets.map(({ json }) => (json === null ? null : JSON.stringify(json))),
    ])
  }

  /** Deletes rows there that were imported and then deleted here. @returns their number. */
  async #removeDeleted(table: ExportTable): Promise<number> {
    const source = this.#supabase.escapeLiteral(this.#source)
    await this.#copy(statements.selectDeleted(table, source), statements.copyIntoDeleted)
    const { rows } = await this.#run<{ removed: number }>(statements.removeDeleted(table))
    return rows[0]?.removed ?? 0
  }

  async #copy(select: string, into: string): Promise<void> {
    await copyRows({ from: this.#own, select: this.#toOwnText(select), to: this.#supabase, into })
  }

  /** Runs the steps in one transaction in the database of Supabase Auth. */
  async #transaction<Result>(use: () => Promise<Result>): Promise<Result> {
    return await runTransaction(this.#supabase, async () => {
      await this.#supabase.query(sessionForCopies)
      return this.#settings.isDryRun ? await use() : await this.#triggers.run(use)
    })
  }

  /** Runs a statement in the database of Supabase Auth; in a dry run, it uses the copies. */
  #run<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) {
    const target = this.#settings.isDryRun
      ? text.replaceAll('{supabase}', copySchema)
      : this.#schema.toText(text)
    return this.#supabase.query<Row>(target, [...values])
  }

  #toOwnText(text: string): string {
    return withSchema(text, this.#settings.from.schema)
  }
}
