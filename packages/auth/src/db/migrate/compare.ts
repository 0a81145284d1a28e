import { type Migration, toChecksum } from './files.ts'
import type { AppliedMigration } from './state.ts'

/** How the tables differ from what this version of the server wants, by versions of migrations. */
export interface Comparison {
  /** Ours that were not applied. */
  readonly missing: readonly Migration[]
  /** Those of a later release on which this one may serve. */
  readonly newer: readonly string[]
  /** Those of a later release on which this one may not serve. */
  readonly unknown: readonly string[]
  /** Ours whose file is not the one that was applied. */
  readonly changed: readonly string[]
  /** Ours that a release applied which kept no checksums. */
  readonly unchecked: readonly Migration[]
}

export function compare(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, AppliedMigration>,
): Comparison {
  const known = new Set(migrations.map(({ version }) => version))
  const last = migrations.at(-1)?.version ?? ''
  const others = [...applied.values()].filter(({ version }) => !known.has(version))
  const mayServe = ({ servesFrom }: AppliedMigration) => servesFrom !== null && servesFrom <= last
  const toVersion = ({ version }: { readonly version: string }) => version
  const ours = migrations.filter(({ version }) => applied.has(version))
  const checksumOf = ({ version }: Migration) => applied.get(version)?.checksum ?? null
  return {
    missing: migrations.filter(({ version }) => !applied.has(version)),
    newer: others.filter(mayServe).map(toVersion),
    unknown: others.filter((one) => !mayServe(one)).map(toVersion),
    changed: ours
      .filter((one) => checksumOf(one) !== null && checksumOf(one) !== toChecksum(one))
      .map(toVersion),
    unchecked: ours.filter((one) => checksumOf(one) === null),
  }
}

/** @throws {Error} where this version may not touch these tables, or does not know how. */
export function refuseUnknown({ unknown }: Comparison, schema: string): void {
  if (unknown.length === 0) return
  throw new Error(
    `The tables in the schema "${schema}" are those of a later release (${unknown.join(', ')}), which ` +
      'this one cannot serve on. Start that release, or one between the two; docs/auth-operations.md ' +
      'tells how to go back.',
  )
}

export function toChangedText(changed: readonly string[]): string {
  return (
    `The file of a migration is not the one that was applied (${changed.join(', ')}): the tables may ` +
    'differ from what this version expects.'
  )
}
