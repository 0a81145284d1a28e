import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkImports } from '../check-imports.ts'

const files = {
  'lib/main.js': `import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { log } from '../kit/log.js'
const later = () => import('pg/lib/utils')
const program = new URL('./worker.js', import.meta.url)
`,
  'lib/worker.js': '',
  'kit/log.js': 'export const log = 1',
}
const dependencies = { yaml: '^2.0.0', pg: '^8.0.0' }

test('imports of the package itself, of Node and of dependencies are allowed', async (t) => {
  assert.equal(await check(t, files, dependencies), '3 modules')
})

test('an import that is not a dependency is reported', async (t) => {
  await assert.rejects(check(t, files, { yaml: '^2.0.0' }), {
    message: 'Imported, but not a dependency: pg',
  })
})

test('a dependency that is not imported is reported', async (t) => {
  await assert.rejects(check(t, files, { ...dependencies, jose: '^6.0.0' }), {
    message: 'A dependency, but not imported: jose',
  })
})

test('a relative import of a missing file is an error', async (t) => {
  const broken = { ...files, 'lib/worker.js': `import './gone.js'` }
  await assert.rejects(check(t, broken, dependencies), /gone\.js/)
})

test('a file that a module refers to must exist', async (t) => {
  const broken = { ...files, 'lib/worker.js': `join(import.meta.dirname, 'migrations')` }
  await assert.rejects(check(t, broken, dependencies), {
    message: 'Referenced, but missing: lib/migrations',
  })
})

function check(
  t: TestContext,
  contents: Readonly<Record<string, string>>,
  dependencies: Readonly<Record<string, string>>,
): Promise<string> {
  const dist = mkdtempSync(join(tmpdir(), 'check-imports-'))
  t.after(() => rmSync(dist, { recursive: true }))
  for (const [file, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(dist, file)), { recursive: true })
    writeFileSync(join(dist, file), text)
  }
  const manifest = { name: 'example', version: '1.0.0', exports: {}, files: ['lib'], dependencies }
  return checkImports(dist, { contents: Object.keys(contents), manifest })
}
