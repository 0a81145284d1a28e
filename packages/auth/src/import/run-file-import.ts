import { constants, createReadStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { toReason } from '@portcullis/service-kit/text/reason'
import { openClient } from '../db/connection/open-client.ts'
import { checkSchema } from '../db/schema/check-schema.ts'
import {
  type FileDefaults,
  type FileUser,
  parseRecord,
  type RecordChecks,
} from './file/parse-record.ts'
import { readCsv } from './file/read-csv.ts'
import { type RawRecord, readJsonl } from './file/read-jsonl.ts'
import { ImportError } from './import-error.ts'
import { addOutcomes, createTableReport, type ImportReport, type TableReport } from './report.ts'
import {
  addSeen,
  claimStagedRows,
  createSeen,
  findSeen,
  stageRecords,
} from './statements/batches.ts'
import { identities } from './statements/identities.ts'
import type { ImportTable } from './statements/import-table.ts'
import { users } from './statements/users.ts'
import { TargetWriter } from './target-writer.ts'

export interface FileImportSettings {
  readonly file: string
  readonly format: 'jsonl' | 'csv'
  readonly to: { readonly url: string; readonly schema: string }
  readonly isDryRun: boolean
  /** Users per transaction. */
  readonly batchRows: number
  readonly defaults: FileDefaults
  readonly checks: RecordChecks
  /** Returns a password hash in the form in which it is stored. */
  readonly toStoredHash: (hash: string, userId: string) => string
  readonly onProgress: (done: number) => void
  readonly onWarning: (message: string) => void
}

/**
 * Lets a command report a wrong path before it connects to the database. The file is not opened, because that
 * would disturb the writer of a pipe.
 * @throws {ImportError} if the file is missing, a folder or not readable.
 */
export async function checkImportFile(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK)
    if ((await stat(file)).isDirectory()) throw new ImportError(`${file} is a folder, not a file.`)
  } catch (error) {
    throw toReadError(file, error)
  }
}

/** All files are one source, which never removes rows: a later file adds to the earlier ones. */
const fileSource = 'file'

/**
 * Imports users from a file, a transaction per batch. A second run continues an interrupted one, and
 * updates users whose records have changed.
 * @throws {ImportError} if the file cannot be read or another import is running.
 */
export async function runFileImport(settings: FileImportSettings): Promise<ImportReport> {
  const { to, file, isDryRun, onWarning } = settings
  const startedAt = performance.now()
  await checkSchema({ ...to, log: { warning: onWarning } })
  const target = await openClient(to.url, 'portcullis-auth import')
  try {
    const writer = new TargetWriter(target, { schema: to.schema, source: fileSource, isDryRun })
    await writer.open([users, identities])
    await writer.run(createSeen)
    const reports = await importRecords(settings, writer)
    await writer.finish()
    return {
      source: file,
      sourceVersion: settings.format,
      isDryRun,
      since: undefined,
      snapshotAt: undefined,
      tables: reports,
      notImported: {},
      verification: undefined,
      seconds: (performance.now() - startedAt) / 1_000,
    }
  } finally {
    await target.end()
  }
}

interface LocatedUser extends FileUser {
  readonly line: number
}

/** Imports the first of several records for one user, even if they are in different batches. */
async function importRecords(
  settings: FileImportSettings,
  writer: TargetWriter,
): Promise<readonly TableReport[]> {
  const { defaults, checks, batchRows, onProgress } = settings
  const userReport = createTableReport(users.name, users.label, 0)
  const identityReport = createTableReport(identities.name, identities.label, 0)
  let batch = new Map<string, LocatedUser>()
  const skip = (outcome: string, example: string) =>
    addOutcomes(userReport, [{ outcome, count: 1, examples: [example] }])
  const flush = async () => {
    const { rows: seen } = await writer.run<{ id: string }>(findSeen, [[...batch.keys()]])
    for (const { id } of seen) {
      skip('duplicate record', `line ${batch.get(id)?.line}`)
      batch.delete(id)
    }
    const fileUsers = [...batch.values()]
    await writer.run(addSeen, [[...batch.keys()]])
    batch = new Map()
    const userRows = fileUsers.map(({ user }) => withStoredHash(user, settings))
    const identityRows = fileUsers.flatMap((each) => each.identities)
    await writeRows(writer, users, userRows, userReport)
    await writeRows(writer, identities, identityRows, identityReport)
    identityReport.inSource += identityRows.length
    onProgress(userReport.inSource)
  }
  for await (const record of readRecords(settings)) {
    userReport.inSource += 1
    const parsed = parseRecord(record, defaults, checks)
    if (typeof parsed === 'string') {
      skip('invalid record', `line ${record.line}: ${parsed}`)
      continue
    }
    const id = String(parsed.user['id'])
    if (batch.has(id)) skip('duplicate record', `line ${record.line}`)
    else batch.set(id, { ...parsed, line: record.line })
    if (batch.size >= batchRows) await flush()
  }
  await flush()
  return [userReport, identityReport]
}

/** The hash of the record, by which a later import recognises it, is that of the unencrypted values. */
function withStoredHash(
  user: FileUser['user'],
  { toStoredHash }: FileImportSettings,
): FileUser['user'] {
  const { id, encrypted_password: hash } = user
  if (typeof hash !== 'string') return user
  return { ...user, encrypted_password: toStoredHash(hash, String(id)) }
}

async function* readRecords({ file, format }: FileImportSettings): AsyncGenerator<RawRecord> {
  try {
    const input = createReadStream(file)
    yield* format === 'csv' ? readCsv(input) : readJsonl(input)
  } catch (error) {
    throw toReadError(file, error)
  }
}

function toReadError(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error
  return new ImportError(`${file} cannot be read: ${toReason(error)}`, { cause: error })
}

async function writeRows(
  writer: TargetWriter,
  table: ImportTable,
  rows: readonly object[],
  report: TableReport,
): Promise<void> {
  if (rows.length === 0) return
  const text = JSON.stringify(rows)
  const batch = await writer.importBatch(table, {
    stage: async () => {
      await writer.run(stageRecords(table), [text])
      await writer.run(claimStagedRows(table), [writer.source])
    },
  })
  addOutcomes(report, batch.outcomes)
}
