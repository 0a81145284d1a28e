import { toCountText } from '@portcullis/service-kit/text/format'
import type { Client } from 'pg'
import type { HashBox } from '../tokens/hash-box.ts'
import type { TableReport, Verification } from './report.ts'
import { countPresent } from './statements/batches.ts'
import type { ImportTable } from './statements/import-table.ts'
import { pickSample, readOwnChecksums, readSourceChecksums } from './statements/samples.ts'
import type { SecretTools } from './supabase/secrets.ts'
import type { SupabaseSchema } from './supabase/supabase-schema.ts'
import type { TargetWriter } from './target-writer.ts'

export interface VerifySettings {
  readonly source: Client
  readonly schema: SupabaseSchema
  readonly writer: TargetWriter
  readonly tools: SecretTools
  /** Whether only changed rows were read. */
  readonly isPartial: boolean
}

/** The number of rows per table. */
const sampleRows = 500
const mostDifferences = 20

/** A row of the sample. */
interface Checksums {
  readonly id: string
  readonly checksum: string
  /** The password hash, which either server may have encrypted; null in other tables. */
  readonly password: string | null
}

/** Compares row counts, and the checksums of a random sample, with the snapshot of the source. */
export async function verifyImport(
  settings: VerifySettings,
  tables: readonly ImportTable[],
  reports: readonly TableReport[],
): Promise<Verification> {
  const { source, schema, writer, tools, isPartial } = settings
  const differences: string[] = []
  let sampled = 0
  for (const table of tables) {
    const report = reports.find(({ table: name }) => name === table.name)
    if (report === undefined) continue
    // With --since, most rows were neither read nor counted.
    if (!isPartial) differences.push(...(await compareCounts(writer, table, report)))
    const { rows: picked } = await writer.run<{ id: string }>(pickSample(table), [
      sampleRows,
      writer.source,
    ])
    const ids = picked.map(({ id }) => id)
    const { rows: theirs } = await source.query<Checksums>(
      schema.toText(readSourceChecksums(table, schema.has)),
      [ids],
    )
    const { rows: ours } = await writer.run<Checksums>(readOwnChecksums(table), [ids])
    sampled += ours.length
    const byId = new Map(theirs.map((row) => [row.id, row]))
    for (const our of ours) {
      const { id } = our
      const their = byId.get(id)
      // A row that the source no longer has is not a difference: the import removes it, or reports
      // that it is kept.
      const isSame =
        their === undefined ||
        (their.checksum === our.checksum && hasSamePassword(their, our, tools.hashes))
      if (!isSame) differences.push(`${table.name}: the row ${id} differs from the source`)
    }
  }
  return { hasCounts: !isPartial, sampled, differences: shorten(differences) }
}

/** Hashes that the source encrypts are not compared: rows that did not change need no key. */
function hasSamePassword(
  { id, password: theirs }: Checksums,
  { password: ours }: Checksums,
  hashes: HashBox,
): boolean {
  if (theirs === null || ours === null) return theirs === ours
  return theirs.startsWith('{') || theirs === hashes.open(ours, id)
}

function shorten(differences: readonly string[]): readonly string[] {
  const hidden = differences.length - mostDifferences
  if (hidden <= 0) return differences
  return [...differences.slice(0, mostDifferences), `and ${toCountText(hidden, 'more difference')}`]
}

async function compareCounts(
  writer: TargetWriter,
  table: ImportTable,
  report: TableReport,
): Promise<readonly string[]> {
  const { rows } = await writer.run<{ count: number }>(countPresent(table), [writer.source])
  const present = rows[0]?.count ?? 0
  const skipped = Object.values(report.skipped).reduce((sum, { count }) => sum + count, 0)
  const copied = report.added + report.updated + report.unchanged
  return [
    ...(copied + skipped === report.inSource
      ? []
      : [
          `${table.name}: the source has ${toCountText(report.inSource, 'row')}, but ${toCountText(copied + skipped, 'was', 'were')} read`,
        ]),
    ...(present >= copied
      ? []
      : [
          `${table.name}: ${toCountText(copied, 'row was', 'rows were')} imported, but ${toCountText(present, 'exists', 'exist')} here`,
        ]),
  ]
}
