// Records the statements of the previous release, for checkouts without its history:
//   npx node packages/auth/test/support/previous-release/record.ts
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toChecksum } from '../../../src/db/migrate/files.ts'
import { packRelease, previousCommit } from './pack.ts'

await using release = await packRelease()
if (release === undefined) throw new Error(`${previousCommit} is not in the history`)
const db = join(release.folder, 'packages/auth/src/db')

// All statements are created by this function, so it is patched to keep a list.
const maker = join(db, 'statement.ts')
const text = await readFile(maker, 'utf8')
const marked = text.replace(
  'return { name, text }',
  'const made = { name, text }; (globalThis.madeStatements ??= []).push(made); return made',
)
if (marked === text) throw new Error('The source of statement() has changed')
await writeFile(maker, marked.replaceAll('globalThis.', '(globalThis as any).'))
for (const name of (await readdir(db)).filter((file) => file.endsWith('.ts'))) {
  await import(join(db, name))
}
const folder = join(db, 'migrations')
const migrations: Record<string, string> = {}
for (const name of (await readdir(folder)).sort()) {
  const version = name.replace(/\.sql$/, '')
  migrations[version] = toChecksum({ version, text: await readFile(join(folder, name), 'utf8') })
}
const { madeStatements: statements = [] } = globalThis as { madeStatements?: unknown[] }
const file = join(import.meta.dirname, 'recorded.json')
await writeFile(file, `${JSON.stringify({ migrations, statements }, undefined, 2)}\n`)
console.log(`${statements.length} statements, ${Object.keys(migrations).length} migrations`)
