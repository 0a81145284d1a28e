/** Why a row was not imported, by outcome, with advice where there is something to do. */
export const skipReasons: Readonly<Record<string, string>> = {
  'email taken': 'another user here has the email address',
  'phone taken': 'another user here has the phone number',
  'identity taken': 'another user here has the account of the provider',
  'passkey taken': 'another user here has the passkey',
  'factor taken': 'the user already has a factor with this name or phone number here',
  'exists here': 'a row with this ID was created here, not imported',
  'changed here': 'changed here and in the source since the last import; the row here is kept',
  'deleted here': 'deleted here since it was imported',
  'changed there': 'changed later in Supabase Auth; the row there is kept',
  'no user': 'the user was not imported',
  'unknown factor': 'this server does not know this kind of factor',
  'invalid secret': 'the secret cannot be read or decrypted',
  'no token': 'the session has no valid refresh token',
  expired: 'the session has expired',
  'invalid record': 'the record is invalid',
  'duplicate record': 'an earlier record has the same ID, email address or phone number',
  'oauth client': 'the session belongs to a client of the OAuth server of the source',
}

export interface TableReport {
  readonly table: string
  readonly label: string
  /** Rows in the source. */
  inSource: number
  added: number
  updated: number
  unchanged: number
  /** Rows that the source no longer has. */
  removed: number
  readonly skipped: Record<string, SkippedRows>
}

interface SkippedRows {
  readonly reason: string
  readonly count: number
  /** A few IDs. */
  readonly examples: readonly string[]
}

export interface ImportReport {
  readonly source: string
  readonly sourceVersion: string
  readonly isDryRun: boolean
  readonly since: string | undefined
  /** The value of `--since` for the next run; undefined for a file. */
  readonly snapshotAt: string | undefined
  readonly seconds: number
  readonly tables: readonly TableReport[]
  /** Rows of tables that are never imported. */
  readonly notImported: Readonly<Record<string, number>>
  readonly verification: Verification | undefined
}

export interface Verification {
  /** Whether all rows were counted, which needs a run without `--since`. */
  readonly hasCounts: boolean
  readonly sampled: number
  /** What differs between the source and the imported rows; empty if all is well. */
  readonly differences: readonly string[]
}

export const mostExamples = 10

export function createTableReport(table: string, label: string, inSource: number): TableReport {
  return { table, label, inSource, added: 0, updated: 0, unchanged: 0, removed: 0, skipped: {} }
}

export interface Outcome {
  readonly outcome: string
  readonly count: number
  readonly examples: readonly string[]
}

export function addOutcomes(report: TableReport, outcomes: readonly Outcome[]): void {
  for (const { outcome, count, examples } of outcomes) {
    if (outcome === 'new') report.added += count
    else if (outcome === 'changed') report.updated += count
    else if (outcome === 'same') report.unchanged += count
    else {
      const known = report.skipped[outcome]
      report.skipped[outcome] = {
        reason: skipReasons[outcome] ?? outcome,
        count: (known?.count ?? 0) + count,
        examples: [...(known?.examples ?? []), ...examples].slice(0, mostExamples),
      }
    }
  }
}

export function toReportText(report: ImportReport): string {
  const { isDryRun, tables, notImported, verification } = report
  const lines = [
    isDryRun
      ? `Dry run: nothing was written. Source: ${report.source}`
      : `Imported from ${report.source}`,
    ...tables.flatMap((table) => toTableLines(table, isDryRun)),
    ...toUncopiedLines(notImported),
    ...toVerificationLines(verification),
    `Took ${report.seconds.toFixed(1)} s.${toNextText(report)}`,
  ]
  return `${lines.join('\n')}\n`
}

export function toExportText(report: ImportReport): string {
  const { isDryRun, tables, source, seconds } = report
  const lines = [
    isDryRun ? `Dry run: nothing was written. Target: ${source}` : `Exported to ${source}`,
    ...tables.flatMap((table) => toTableLines(table, isDryRun)),
    `Took ${seconds.toFixed(1)} s.`,
  ]
  return `${lines.join('\n')}\n`
}

function toTableLines(table: TableReport, isDryRun: boolean): readonly string[] {
  const { label, inSource, added, updated, unchanged, removed, skipped } = table
  const verb = isDryRun ? 'would be ' : ''
  return [
    `  ${label}: ${inSource} in total; ${verb}added ${added}, updated ${updated}, unchanged ${unchanged}, removed ${removed}`,
    ...Object.values(skipped).map(
      ({ reason, count, examples }) =>
        `    skipped ${count}: ${reason} (${toExamples(examples, count)})`,
    ),
  ]
}

function toNextText({ snapshotAt }: ImportReport): string {
  return snapshotAt === undefined
    ? ''
    : ` To read only what changes from now on: --since ${snapshotAt}`
}

function toExamples(examples: readonly string[], count: number): string {
  return `${examples.join(', ')}${count > examples.length ? ', …' : ''}`
}

function toUncopiedLines(notImported: Readonly<Record<string, number>>): readonly string[] {
  const names = Object.entries(notImported).map(([table, count]) => `${table} ${count}`)
  if (names.length === 0) return []
  return [
    `Not imported: ${names.join(', ')}. Links and codes that were sent before the move do not work ` +
      'after it; users request new ones.',
  ]
}

function toVerificationLines(verification: Verification | undefined): readonly string[] {
  if (verification === undefined) return []
  const { hasCounts, sampled, differences } = verification
  const counts = hasCounts ? 'row counts, and ' : ''
  if (differences.length === 0) return [`Verified: ${counts}${sampled} sampled rows`]
  return ['The verification found differences:', ...differences.map((each) => `  ${each}`)]
}
