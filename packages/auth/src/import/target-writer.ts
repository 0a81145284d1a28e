import { toCode } from '@portcullis/service-kit/text/reason'
import type { Client, QueryResultRow } from 'pg'
import { sessionForCopies } from '../db/backup/format.ts'
import { quote, withSchema } from '../db/statement.ts'
import { runTransaction } from '../db/transaction.ts'
import { ImportError } from './import-error.ts'
import { mostExamples, type Outcome, type TableReport } from './report.ts'
import * as batches from './statements/batches.ts'
import { copySchema, copyTables, isCopied } from './statements/dry-run-copies.ts'
import type { ImportTable } from './statements/import-table.ts'
import { createTokenStage } from './statements/sessions.ts'

export interface TargetSettings {
  readonly schema: string
  /** Identifies where the rows come from; see `readDatabaseIdentity` and `fileSource`. */
  readonly source: string
  readonly isDryRun: boolean
}

export interface Batch {
  readonly count: number
  /** The range of IDs; null if the batch is empty. */
  readonly range: BatchRange | null
  readonly outcomes: readonly Outcome[]
}

interface BatchRange {
  readonly first: string
  readonly last: string
}

/** The steps that differ between sources and tables. All run in the transaction of the batch. */
export interface BatchSteps {
  /** Fills the temporary table. */
  readonly stage: () => Promise<void>
  /** Converts the secrets of the staged rows, before the rows are checked. */
  readonly convert?: () => Promise<void>
  /** Writes rows of other tables, such as the refresh tokens of sessions. */
  readonly writeMore?: (range: BatchRange) => Promise<void>
}

const mostTries = 3

/** Writes imported rows, a transaction per batch. */
export class TargetWriter {
  readonly client: Client
  /** Identifies where the rows come from. */
  readonly source: string
  readonly #settings: TargetSettings

  constructor(client: Client, settings: TargetSettings) {
    this.client = client
    this.source = settings.source
    this.#settings = settings
  }

  /**
   * Locks the schema against other imports, and creates the temporary tables.
   * @throws {ImportError} if another import is running.
   */
  async open(tables: readonly ImportTable[]): Promise<void> {
    await this.run(batches.limitLockWait)
    try {
      await this.run(batches.lockImport, [this.#settings.schema])
    } catch (error) {
      if (toCode(error) !== '55P03') throw error
      throw new ImportError(
        'Another import into this schema is running. Wait until it has ended.',
        {
          cause: error,
        },
      )
    }
    await this.run(batches.resetLockWait)
    await this.client.query(batches.prepareIndexing)
    if (this.#settings.isDryRun) await this.#copyTables(tables)
    await this.client.query(batches.createStages(tables))
    await this.client.query(createTokenStage)
  }

  /** Updates the statistics of a table after its last batch. */
  async finishTable(table: ImportTable, { added, updated }: TableReport): Promise<void> {
    if (added + updated > 0) await this.run(batches.analyzeTable(table))
  }

  /** Completes the indexes after the last table. */
  async finish(): Promise<void> {
    if (!this.#settings.isDryRun) await this.run(batches.finishIndexing, [this.#settings.schema])
  }

  /**
   * Stages, checks and writes a batch. It is retried if a user signs up here with the same address
   * between the check and the insert, and after a deadlock with a running server.
   */
  async importBatch(table: ImportTable, steps: BatchSteps): Promise<Batch> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.transaction(() => this.#tryBatch(table, steps))
      } catch (error) {
        const isRace = ['23505', '40P01'].includes(toCode(error))
        if (!isRace || tries === mostTries) throw error
      }
    }
  }

  async #tryBatch(table: ImportTable, steps: BatchSteps): Promise<Batch> {
    await steps.stage()
    const { rows } = await this.run<{ count: number; first: string | null; last: string | null }>(
      batches.findRange(table),
    )
    const { count = 0, first = null, last = null } = rows[0] ?? {}
    if (first === null || last === null) return { count: 0, range: null, outcomes: [] }
    const range = { first, last }
    await steps.convert?.()
    await this.run(batches.decideOutcomes(table), [first, last, this.source])
    const { isDryRun } = this.#settings
    const has = (column: string) => !isDryRun || isCopied(table.target ?? table.name, column)
    await this.run(batches.writeRows(table, has))
    await this.run(batches.recordRows(table), [this.source])
    for (const statement of table.writeMore ?? []) await this.run(statement)
    if (!isDryRun) await steps.writeMore?.(range)
    const outcomes = await this.run<Outcome>(batches.countOutcomes(mostExamples))
    return { count, range, outcomes: outcomes.rows }
  }

  async transaction<Result>(use: () => Promise<Result>): Promise<Result> {
    return await runTransaction(this.client, async () => {
      await this.client.query(sessionForCopies)
      return await use()
    })
  }

  /** Runs a statement, in which `{ns}` is replaced by the schema; in a dry run, by that of the copies. */
  run<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) {
    const { schema, isDryRun } = this.#settings
    return this.client.query<Row>(withSchema(text, isDryRun ? copySchema : schema), [...values])
  }

  async #copyTables(tables: readonly ImportTable[]): Promise<void> {
    const { schema } = this.#settings
    const copied = tables.map((table) => ({ ...table, name: table.target ?? table.name }))
    const has = (name: string, column: string) =>
      copied.some((table) => table.name === name && table.columns.some((c) => c.name === column))
    await this.client.query(copyTables({ schema: quote(schema), tables: copied, has }))
    await this.client.query(withSchema(batches.copyImportedRows, schema))
  }
}
