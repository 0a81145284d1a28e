import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Thing } from './read-things.ts'

/** `{ns}` stands for the schema, `{trgm}` for that of the extension pg_trgm. */
export type ExpectedThing = Omit<Thing, 'isSound'>

export const expectedFile = join(import.meta.dirname, 'schema.sql')

const heading = `-- All that the migrations make, to compare and to repair with. Written from them by
-- UPDATE_SCHEMA=1 npm test -- packages/auth/test/db/schema.test.ts
`

export async function readExpected(): Promise<readonly ExpectedThing[]> {
  const text = await readFile(expectedFile, 'utf8')
  const parts = text.split(/^-- (table|constraint|index|function|trigger) (.+)\n/m)
  const things: ExpectedThing[] = []
  for (let at = 1; at + 2 < parts.length + 1; at += 3) {
    const [kind, name = '', definition = ''] = parts.slice(at, at + 3)
    things.push({
      kind: kind as Thing['kind'],
      name,
      definition: definition.trim().replace(/^-- |;$/g, ''),
    })
  }
  return things
}

/** The text of the file, from the tables of a schema with a name that occurs nowhere else. */
export function toExpectedText(things: readonly Thing[], schema: string): string {
  const parts = things.map(({ kind, name, definition }) => {
    const body = kind === 'table' ? `-- ${definition}` : `${definition};`
    return `-- ${kind} ${name}\n${body}\n`
  })
  return `${heading}\n${parts.join('\n')}`
    .replaceAll(`"${schema}"`, '{ns}')
    .replaceAll(schema, '{ns}')
    .replaceAll(/[\w{}]+\.gin_trgm_ops/g, '{trgm}.gin_trgm_ops')
}
