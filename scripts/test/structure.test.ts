import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readSources } from '../boundaries/read-sources.ts'

const root = dirname(dirname(import.meta.dirname))
const sources = [...readSources(root)].filter(([file]) => !file.includes('/generated/'))

test('no source file has more than 300 lines', () => {
  const long = sources
    .map(([file, text]) => ({ file, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > 300)
  assert.deepEqual(long, [])
})

/** Folders with one file per entry of a long list, all of the same kind. */
const lists = ['packages/auth/src/db/migrations', 'packages/auth/src/plugins/providers']

test('no source folder has more than 20 files, except for two long lists', () => {
  const counts = new Map<string, number>()
  for (const file of globSync('packages/*/src/**/*.*', { cwd: root })) {
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  }
  const large = [...counts].filter(([, count]) => count > 20).map(([folder]) => folder)
  assert.deepEqual(large.sort(), lists)
})

test('the HTTP server of auth fits on a screen', () => {
  const text = readFileSync(join(root, 'packages/auth/src/http/server.ts'), 'utf8')
  assert.ok(text.split('\n').length <= 80)
})

/** `export` and `import` run on the databases of two servers, with statements that they put together. */
const hasStatements = /\/src\/(?:db|import|export)\/|\/statements(?:\/|\.ts$)/

test('only files of statements and the database layer contain SQL', () => {
  const found = sources
    .filter(([file]) => file.startsWith('packages/auth/src/') && !hasStatements.test(file))
    .filter(([, text]) => /\b(?:statement|batch)\(|\.query\(|\bfrom 'pg'/.test(text))
  assert.deepEqual(
    found.map(([file]) => file),
    [],
  )
})
