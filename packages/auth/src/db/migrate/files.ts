import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AppliedMigration } from './state.ts'

export interface Migration {
  /** The name of the file, which also determines the order: `0001-init`. */
  readonly version: string
  /** `{ns}` is replaced by the schema. */
  readonly text: string
}

export async function readMigrations(): Promise<readonly Migration[]> {
  const folder = join(import.meta.dirname, '..', 'migrations')
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return await Promise.all(
    files.map(async (name) => ({
      version: name.replace(/\.sql$/, ''),
      text: await readFile(join(folder, name), 'utf8'),
    })),
  )
}

/** Whether it runs outside a transaction, so that writes continue while it builds indexes. */
export function isConcurrent({ text }: Migration): boolean {
  return text.startsWith('-- concurrently')
}

/** Changes if a file was edited after it was applied; line endings are ignored. */
export function toChecksum({ text }: Migration): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')
}

/** Splits a concurrent migration. A statement ends with a semicolon at the end of a line. */
export function splitStatements(text: string): readonly string[] {
  const withoutComments = text.replaceAll(/^\s*--.*$/gm, '')
  return withoutComments
    .split(/;[ \t]*(?:\r?\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/** Returns the index that a statement builds concurrently; undefined for any other statement. */
export function findBuiltIndex(statement: string): string | undefined {
  const found =
    /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?"?([^\s"]+)"?/i.exec(
      statement,
    )
  return found?.[1]
}

/** Converts the statements for a transaction, which is used for new databases. */
export function toTransactional(text: string): string {
  return text.replaceAll(/\b(create\s+(?:unique\s+)?index|drop\s+index)\s+concurrently\b/gi, '$1')
}

/** How the applied migrations differ from those of this release. */
export interface Comparison {
  /** Migrations of this release that were not applied. */
  readonly missing: readonly Migration[]
  /** Migrations of a later release whose tables this release can serve. */
  readonly newer: readonly string[]
  /** Migrations of a later release whose tables this release cannot serve. */
  readonly unknown: readonly string[]
  /** Migrations of this release whose file changed after it was applied. */
  readonly changed: readonly string[]
  /** Migrations of this release that were applied by a release without checksums. */
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

/** @throws {Error} if this release does not support the tables. */
export function refuseUnknown({ unknown }: Comparison, schema: string): void {
  if (unknown.length === 0) return
  throw new Error(
    `The tables in the schema "${schema}" belong to a later release (${unknown.join(', ')}), which ` +
      'this one does not support. Start that release, or one between the two; docs/auth-operations.md ' +
      'explains how to downgrade.',
  )
}

export function toChangedText(changed: readonly string[]): string {
  return (
    `A migration file was changed after it was applied (${changed.join(', ')}): the tables may ` +
    'differ from what this version expects.'
  )
}
