import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../../src/process/make-folder.ts'

test('a folder is created with its parents, and an existing one is unchanged', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'make-folder-'))
  t.after(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'a', 'b', 'c')
  makeFolder(folder, 0o700)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  makeFolder(`${folder}/`)
  assert.ok(statSync(folder).isDirectory())
})

test('a file in its place, or in place of a parent, is an error', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'make-folder-'))
  t.after(() => rmSync(root, { recursive: true }))
  const file = join(root, 'file')
  writeFileSync(file, '')
  assert.throws(() => makeFolder(file), { code: 'EEXIST' })
  assert.throws(() => makeFolder(join(file, 'a', 'b')), { code: 'ENOTDIR' })
})

test('a file system that rejects folders is an error, not an endless loop', {
  skip: !existsSync('/proc/self') && 'there is no /proc',
}, () => {
  assert.throws(() => makeFolder('/proc/portcullis/data'), { code: 'ENOENT' })
})
