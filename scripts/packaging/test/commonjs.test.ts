import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toCommonJsDeclarations, writeCommonJsTypes } from '../commonjs.ts'

test('declarations for CommonJS import types of ES modules with resolution-mode', () => {
  const before = [
    "import { type JWTPayload, type JWK as Key } from 'jose';",
    "import type { FastifyRequest } from 'fastify';",
    "import { type Log } from '../log.js';",
  ]
  assert.deepEqual(toCommonJsDeclarations(before.join('\n'), ['jose']).split('\n'), [
    "import type { JWTPayload, JWK as Key } from 'jose' with { 'resolution-mode': 'import' };",
    before[1],
    before[2],
  ])
})

test('declarations for CommonJS include the declarations that they import', (t) => {
  const dist = mkdtempSync(join(tmpdir(), 'portcullis-commonjs-'))
  t.after(() => rmSync(dist, { recursive: true, force: true }))
  for (const folder of ['lib/use', 'kit']) mkdirSync(join(dist, folder), { recursive: true })
  writeFileSync(join(dist, 'lib/use/http.d.ts'), "export type { Log } from '../../kit/log.js';\n")
  writeFileSync(join(dist, 'kit/log.d.ts'), 'export interface Log {}\n')
  const subpath = { specifier: 'it', types: './lib/use/http.d.ts', file: './lib/use/http.js' }
  writeCommonJsTypes(dist, [subpath], [])
  const read = (file: string) => readFileSync(join(dist, 'cjs', file), 'utf8')
  assert.match(read('lib/use/http.d.ts'), /'\.\.\/\.\.\/kit\/log\.js'/)
  assert.equal(read('kit/log.d.ts'), 'export interface Log {}\n')
  assert.match(read('lib/use/http.js'), /require\('\.\.\/\.\.\/\.\.\/lib\/use\/http\.js'\)/)
  assert.deepEqual(JSON.parse(read('package.json')), { type: 'commonjs' })
})
