import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { toCountText } from '@portcullis/service-kit/text/format'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import type { Client } from 'pg'
import { sessionForCopies } from '../db/backup/format.ts'
import { checkSchema } from '../db/schema/check-schema.ts'
import { beginSnapshot, commit } from '../db/transaction.ts'
import { ImportError } from './import-error.ts'
import type { ImportSettings } from './import-settings.ts'
import { readDatabaseIdentity, withBothDatabases } from './open-both-databases.ts'
import type { ImportReport, TableReport, Verification } from './report.ts'
import * as batches from './statements/batches.ts'
import type { ImportTable } from './statements/import-table.ts'
import { importTables } from './statements/index.ts'
import {
  countAudiences,
  countRows,
  probeTable,
  readClock,
  readWithOthers,
  refuseHiddenRows,
  tablesNotImported,
} from './statements/source.ts'
import { users } from './statements/users.ts'
import { readSupabaseSchema, type SupabaseSchema } from './supabase/supabase-schema.ts'
import type { SupabaseUrl } from './supabase/supabase-url.ts'
import { TableImporter } from './table-importer.ts'
import { TargetWriter } from './target-writer.ts'
import { verifyImport } from './verify-import.ts'

/**
 * Copies the rows of a Supabase Auth schema. Each batch is one transaction, so an interrupted import
 * leaves complete rows, and the next one continues: it compares all rows with those that were
 * imported before.
 * @throws {ImportError} with advice.
 */
export async function runImport(settings: ImportSettings): Promise<ImportReport> {
  const { from, to, isDryRun, onWarning } = settings
  await checkSchema({ ...to, log: { warning: onWarning } })
  return await withBothDatabases(from, to.url, async ({ supabase: source, own }) => {
    const schema = await explainPrivileges(from, () => beginSource(source, settings))
    const identity = await readDatabaseIdentity(source, from)
    const writer = new TargetWriter(own, { schema: to.schema, source: identity, isDryRun })
    return await new Import(settings, source, schema, writer).run()
  })
}

/** Begins the transaction in which all rows are read, and checks that they can be read. */
async function beginSource(source: Client, settings: ImportSettings): Promise<SupabaseSchema> {
  await source.query(beginSnapshot)
  await source.query(sessionForCopies)
  await source.query(refuseHiddenRows)
  const schema = await readSupabaseSchema(source, settings.from, settings)
  for (const name of [...importTables.map(({ name }) => name), ...readWithOthers]) {
    if (schema.hasTable(name)) await source.query(schema.toText(probeTable(name)))
  }
  return schema
}

/** @throws {ImportError} with advice if the role lacks a privilege. */
async function explainPrivileges<Result>(
  { option }: SupabaseUrl,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (toCode(error) !== '42501') throw error
    throw new ImportError(
      `The role in ${option} cannot read all rows of the source (${toReason(error)}): use the role that owns the ` +
        'tables, such as supabase_auth_admin or postgres.',
      { cause: error },
    )
  }
}

/**
 * If the source has less than this share of the users that were imported earlier, it is probably
 * another database.
 */
const leastShare = 0.9

class Import {
  readonly #settings: ImportSettings
  readonly #source: Client
  readonly #schema: SupabaseSchema
  readonly #writer: TargetWriter

  constructor(
    settings: ImportSettings,
    source: Client,
    schema: SupabaseSchema,
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
    await this.#writer.open(importTables)
    const counts = new Map<string, number>()
    for (const { name, isPresent } of tables) counts.set(name, await this.#count(name, isPresent))
    const notImported = await explainPrivileges(from, () => this.#countNotImported())
    await this.#warnOfAudiences()
    await this.#refuseLostUsers(counts.get('users') ?? 0)
    const { rows } = await this.#source.query<{ time: string }>(readClock)
    const snapshotAt = new Date(rows[0]?.time ?? 0).toISOString()
    const id = randomUUID()
    const start = [id, from.label, this.#schema.version, since ?? null, snapshotAt]
    if (!isDryRun) await this.#writer.run(batches.addImport, start)
    const reports = await this.#importTables(tables, counts)
    await this.#writer.finish()
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
    await this.#source.query(commit)
    return report
  }

  async #countNotImported(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {}
    for (const name of tablesNotImported) {
      const count = this.#schema.hasTable(name) ? await this.#count(name) : 0
      if (count > 0) counts[name] = count
    }
    return counts
  }

  async #count(table: string, isPresent?: string): Promise<number> {
    const text = this.#schema.toText(countRows(table, isPresent))
    const { rows } = await this.#source.query<{ count: number }>(text)
    return rows[0]?.count ?? 0
  }

  /** A sign-in finds only users of the audience that the request names. */
  async #warnOfAudiences(): Promise<void> {
    const { audiences, onWarning } = this.#settings
    const { rows } = await this.#source.query<{ audience: string; count: number }>(
      this.#schema.toText(countAudiences),
    )
    for (const { audience, count } of rows) {
      if (audiences.includes(audience)) continue
      onWarning(
        `${toCountText(count, 'user has', 'users have')} the audience "${audience}", which this server does not accept, so they cannot sign in: ` +
          `set AUTH_JWT_AUD=${audience}, or add it to AUTH_JWT_ALLOWED_AUDIENCES`,
      )
    }
  }

  /** @throws {ImportError} because the import would delete these users here. */
  async #refuseLostUsers(inSource: number): Promise<void> {
    const { rows } = await this.#writer.run<{ count: number }>(batches.countPresent(users), [
      this.#writer.source,
    ])
    const imported = rows[0]?.count ?? 0
    const { from, acceptsRemovals } = this.#settings
    if (acceptsRemovals || inSource >= imported * leastShare) return
    throw new ImportError(
      `The source has ${toCountText(inSource, 'user')}, but ${toCountText(imported, 'was', 'were')} imported from it earlier. Check that ${from.option} names the right ` +
        'database. If so many users were really deleted there, pass --accept-removals, and they are deleted here too.',
    )
  }

  async #importTables(
    tables: readonly ImportTable[],
    counts: ReadonlyMap<string, number>,
  ): Promise<readonly TableReport[]> {
    const importer = new TableImporter({
      settings: this.#settings,
      source: this.#source,
      schema: this.#schema,
      writer: this.#writer,
    })
    const reports: TableReport[] = []
    for (const table of tables) {
      reports.push(await importer.importTable(table, counts.get(table.name) ?? 0))
    }
    return reports
  }

  async #verify(
    tables: readonly ImportTable[],
    reports: readonly TableReport[],
  ): Promise<Verification> {
    const settings = {
      source: this.#source,
      schema: this.#schema,
      writer: this.#writer,
      tools: this.#settings.tools,
      isPartial: this.#settings.since !== undefined,
    }
    return await this.#writer.transaction(() => verifyImport(settings, tables, reports))
  }
}
