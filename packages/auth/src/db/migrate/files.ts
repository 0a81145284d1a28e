import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AppliedMigration } from './state.ts'

export interface Migration {
  /** The name of its file, which is also its place in the order: `0001-init`. */
  readonly version: string
  /** `{ns}` stands for the schema. */
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

/** Whether it runs outside a transaction, so that writes go on while it builds indexes. */
export function isConcurrent({ text }: Migration): boolean {
  return text.startsWith('-- concurrently')
}

/** Differs if a file was edited after it was applied. Line endings do not count. */
export function toChecksum({ text }: Migration): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')
}

/** Of a concurrent migration. A statement ends with a semicolon at the end of a line. */
export function splitStatements(text: string): readonly string[] {
  const withoutComments = text.replaceAll(/^\s*--.*$/gm, '')
  return withoutComments
    .split(/;[ \t]*(?:\r?\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/** The index that a statement builds concurrently; undefined for any other statement. */
export function findBuiltIndex(statement: string): string | undefined {
  const found =
    /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?"?([^\s"]+)"?/i.exec(
      statement,
    )
  return found?.[1]
}

/** The same for a transaction, as a new database gets it. */
export function toTransactional(text: string): string {
  return text.replaceAll(/\b(create\s+(?:unique\s+)?index|drop\s+index)\s+concurrently\b/gi, '$1')
}

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
