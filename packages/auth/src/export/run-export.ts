import { performance } from 'node:perf_hooks'
import { pipeline } from 'node:stream/promises'
import { Secret } from 'otpauth'
import type { Client, QueryResultRow } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { sessionForCopies } from '../db/backup/format.ts'
import { checkSchema } from '../db/schema/check-schema.ts'
import { withSchema } from '../db/statement.ts'
import { withBoth } from '../import/open-both.ts'
import {
  addOutcomes,
  createTableReport,
  type ImportReport,
  mostExamples,
  type Outcome,
  type TableReport,
} from '../import/report.ts'
import type { ImportProgress } from '../import/run-import.ts'
import { readSourceSchema, type SourceSchema } from '../import/supabase/source-schema.ts'
import type { SourceUrl } from '../import/supabase/source-url.ts'
import type { SecretBox } from '../tokens/secret-box.ts'
import * as statements from './statements/supabase.ts'
import { type ExportTable, exportTables } from './statements/supabase.ts'

export interface ExportSettings {
  /** The schema of Supabase Auth. */
  readonly to: SourceUrl
  readonly from: { readonly url: string; readonly schema: string }
  readonly factorSecrets: SecretBox
  readonly isDryRun: boolean
  readonly onProgress: (progress: ImportProgress) => void
  readonly onWarning: (message: string) => void
}

const firstId = '00000000-0000-0000-0000-000000000000'

/**
 * Writes users, identities, factors and passkeys back into a schema of Supabase Auth, a transaction
 * per batch. Rows that are newer there are kept.
 * @throws {ImportError}
 */
export async function runExport(settings: ExportSettings): Promise<ImportReport> {
  const { to, from, isDryRun, onWarning } = settings
  const startedAt = performance.now()
  await checkSchema({ ...from, log: { warning: onWarning } })
  return await withBoth(to, from.url, async ({ source: there, target: here }) => {
    const schema = await readSourceSchema(there, to, { acceptsNewer: false })
    const tables = exportTables.filter(({ name }) => schema.hasTable(name))
    await here.query('begin transaction isolation level repeatable read, read only')
    await here.query(sessionForCopies)
    await there.query(statements.createStages(tables))
    const run = new Export(settings, there, here, schema)
    const reports: TableReport[] = []
    for (const table of tables) reports.push(await run.exportTable(table))
    await here.query('commit')
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

interface FactorRow {
  readonly id: string
  readonly factor_type: string
  readonly secret: Buffer | null
  readonly credential: StoredCredential | null
  readonly aaguid: string | null
}

/** Our format of a credential. */
interface StoredCredential {
  readonly id: string
  readonly public_key: string
  readonly sign_count: number
  readonly transports: readonly string[]
  readonly is_syncable: boolean
  readonly is_backed_up: boolean
}

class Export {
  readonly #settings: ExportSettings
  readonly #there: Client
  readonly #here: Client
  readonly #schema: SourceSchema

  constructor(settings: ExportSettings, there: Client, here: Client, schema: SourceSchema) {
    this.#settings = settings
    this.#there = there
    this.#here = here
    this.#schema = schema
  }

  async exportTable(table: ExportTable): Promise<TableReport> {
    const { onProgress, isDryRun } = this.#settings
    const { rows } = await this.#here.query<{ count: number }>(
      this.#toOurs(statements.countRows(table)),
    )
    const total = rows[0]?.count ?? 0
    const report = createTableReport(table.name, table.label, total)
    let done = 0
    for (let after = firstId; ; ) {
      onProgress({ label: table.label, done, total })
      const { last, outcomes } = await this.#transaction(() => this.#exportBatch(table, after))
      addOutcomes(report, outcomes)
      done = outcomes.reduce((sum, { count }) => sum + count, done)
      if (last === null) break
      after = last
    }
    onProgress({ label: table.label, done: total, total })
    if (!isDryRun) report.removed = await this.#transaction(() => this.#remove(table))
    return report
  }

  async #exportBatch(table: ExportTable, after: string) {
    await this.#copy(
      statements.selectBatch(table, `'${after}'::uuid`),
      statements.copyIntoStage(table),
    )
    const { rows } = await this.#run<{ last: string | null }>(statements.findLast(table))
    const last = rows[0]?.last ?? null
    if (last === null) return { last, outcomes: [] }
    if (table.name === 'mfa_factors') await this.#openSecrets()
    await this.#run(statements.judge(table))
    if (!this.#settings.isDryRun) {
      const has = (column: string) => this.#schema.has(table.name, column)
      await this.#run(statements.writeRows(table, has))
    }
    const outcomes = await this.#run<Outcome>(statements.countOutcomes(mostExamples))
    return { last, outcomes: outcomes.rows }
  }

  /** Supabase Auth stores TOTP secrets in base32, and encrypts them at their next use. */
  async #openSecrets(): Promise<void> {
    const { rows } = await this.#run<FactorRow>(statements.selectFactorSecrets)
    const toText = ({ id, secret }: FactorRow) =>
      secret === null
        ? null
        : new Secret({
            buffer: new Uint8Array(this.#settings.factorSecrets.open(secret, id)).buffer,
          }).base32
    await this.#run(statements.stageSecrets, [
      rows.map(({ id }) => id),
      rows.map(toText),
      rows.map(({ credential, aaguid }) =>
        credential === null ? null : JSON.stringify(toGoCredential(credential, aaguid)),
      ),
    ])
  }

  async #remove(table: ExportTable): Promise<number> {
    await this.#copy(statements.selectDeleted(table), statements.copyIntoDeleted)
    const { rows } = await this.#run<{ removed: number }>(statements.removeDeleted(table))
    return rows[0]?.removed ?? 0
  }

  async #copy(select: string, into: string): Promise<void> {
    const rows = this.#here.query(copyTo(`copy (${this.#toOurs(select)}) to stdout`))
    await pipeline(rows, this.#there.query(copyFrom(into)))
  }

  async #transaction<Result>(use: () => Promise<Result>): Promise<Result> {
    await this.#there.query('begin')
    try {
      await this.#there.query(sessionForCopies)
      const result = await use()
      await this.#there.query('commit')
      return result
    } catch (error) {
      await this.#there.query('rollback').catch(() => undefined)
      throw error
    }
  }

  #run<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) {
    const named = this.#schema.text(text.replaceAll('{there}', '{source}'))
    return this.#there.query<Row>(named, [...values])
  }

  #toOurs(text: string): string {
    return withSchema(text, this.#settings.from.schema)
  }
}

/** The format of the Go library that Supabase Auth uses. */
function toGoCredential(credential: StoredCredential, aaguid: string | null): object {
  const toBase64 = (text: string) => Buffer.from(text, 'base64url').toString('base64')
  return {
    id: toBase64(credential.id),
    publicKey: toBase64(credential.public_key),
    attestationType: 'none',
    transport: credential.transports,
    flags: {
      userPresent: true,
      userVerified: true,
      backupEligible: credential.is_syncable,
      backupState: credential.is_backed_up,
    },
    authenticator: {
      AAGUID: Buffer.from((aaguid ?? '').replaceAll('-', ''), 'hex').toString('base64'),
      signCount: credential.sign_count,
      cloneWarning: false,
    },
  }
}
