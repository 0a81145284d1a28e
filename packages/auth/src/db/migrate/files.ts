import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

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
