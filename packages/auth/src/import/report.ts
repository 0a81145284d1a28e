/** Why a row was not copied, by outcome. An export uses the same reasons in the other direction. */
export const skipReasons: Readonly<Record<string, string>> = {
  'email taken': 'another user already has this email address',
  'phone taken': 'another user already has this phone number',
  'identity taken': 'another user is already linked to this account of the provider',
  'passkey taken': 'another user already has this passkey',
  'factor taken': 'the user already has another factor with this name or phone number',
  'other source': 'a row with this ID was imported from another source',
  'exists here': 'a row with this ID exists here, but was not imported',
  'changed here': 'changed here and in the source since the last import; the row here is kept',
  'deleted here': 'deleted here since it was imported',
  'changed there': 'changed later in Supabase Auth; the row there is kept',
  'no user': 'its user was not copied',
  'unknown factor': 'this server does not support this kind of factor',
  'invalid secret': 'the secret cannot be read or decrypted',
  'no token': 'the session has no valid refresh token',
  expired: 'the session has expired',
  'invalid record': 'the record is invalid',
  'duplicate record': 'an earlier record in the file is for the same user',
  'no client': 'its OAuth client was not copied',
  'grant exists': 'the user has already granted something to this client',
  'provider taken': 'another provider already has this name, entity ID or domain',
  'invalid metadata':
    'the SAML metadata cannot be read; it has no valid signing key or sign-in URL',
  'unsupported client': 'Supabase Auth does not support this OAuth client',
  'unsupported provider': 'Supabase Auth accepts only URLs with https',
  'old client': 'this release identifies OAuth clients differently; upgrade Supabase Auth first',
}

/** What happened to the rows of a table. */
export interface TableReport {
  readonly table: string
  readonly label: string
  /** Rows in the source; for an export, rows here. */
  inSource: number
  added: number
  updated: number
  unchanged: number
  /** Rows that were deleted, because the source no longer has them. */
  removed: number
  readonly skipped: Record<string, SkippedRows>
}

interface SkippedRows {
  readonly reason: string
  readonly count: number
  /** The IDs of the first rows; for invalid records, lines of the file. */
  readonly examples: readonly string[]
}

/** The result of an import or an export. */
export interface ImportReport {
  /** The database or file that was read; for an export, the database that was written. */
  readonly source: string
  /** The last migration of Supabase Auth, or the format of the file. */
  readonly sourceVersion: string
  readonly isDryRun: boolean
  readonly since: string | undefined
  /** The value of `--since` for the next import; undefined for files and exports. */
  readonly snapshotAt: string | undefined
  readonly seconds: number
  readonly tables: readonly TableReport[]
  /** Number of rows by table, for tables that are never imported. */
  readonly notImported: Readonly<Record<string, number>>
  /** Undefined for dry runs, files and exports. */
  readonly verification: Verification | undefined
}

export interface Verification {
  /** Whether row counts were compared, which is not possible with `--since`. */
  readonly hasCounts: boolean
  /** The number of rows whose checksums were compared. */
  readonly sampled: number
  /** Messages about differences between the source and the imported rows. */
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
    ...toNotImportedLines(notImported),
    ...toVerificationLines(verification),
    `Took ${report.seconds.toFixed(1)} s.${toSinceAdvice(report)}`,
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
  const counts = isDryRun
    ? `${added} to add, ${updated} to update, ${unchanged} unchanged, ${removed} to remove`
    : `${added} added, ${updated} updated, ${unchanged} unchanged, ${removed} removed`
  return [
    `  ${label}: ${inSource} in total; ${counts}`,
    ...Object.values(skipped).map(
      ({ reason, count, examples }) =>
        `    skipped ${count}: ${reason} (${toExamples(examples, count)})`,
    ),
  ]
}

/** A dry run imports nothing, so a run with `--since` must not follow it. */
function toSinceAdvice({ isDryRun, snapshotAt }: ImportReport): string {
  if (isDryRun || snapshotAt === undefined) return ''
  return ` Next time, read only what has changed: --since ${snapshotAt}`
}

function toExamples(examples: readonly string[], count: number): string {
  return `${examples.join(', ')}${count > examples.length ? ', …' : ''}`
}

function toNotImportedLines(notImported: Readonly<Record<string, number>>): readonly string[] {
  const names = Object.entries(notImported).map(([table, count]) => `${table} (${count})`)
  if (names.length === 0) return []
  const hasLinks = 'one_time_tokens' in notImported || 'flow_state' in notImported
  const effect =
    ' Links and codes that were sent before the move stop working; users request new ones.'
  return [`Not imported: ${names.join(', ')}.${hasLinks ? effect : ''}`]
}

function toVerificationLines(verification: Verification | undefined): readonly string[] {
  if (verification === undefined) return []
  const { hasCounts, sampled, differences } = verification
  const counts = hasCounts ? 'row counts and ' : ''
  if (differences.length === 0) return [`Verified: ${counts}${sampled} sampled rows`]
  return ['The verification found differences:', ...differences.map((each) => `  ${each}`)]
}
