import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkLowestNode } from '../check-lowest-node.ts'

test('an API that the lowest Node lacks is reported with its module', (t) => {
  const dist = mkdtempSync(join(tmpdir(), 'check-lowest-node-'))
  t.after(() => rmSync(dist, { recursive: true }))
  writeFileSync(join(dist, 'old.js'), 'export const pattern = new RegExp(text)')
  writeFileSync(join(dist, 'new.js'), 'const opened = new AsyncDisposableStack()')
  checkLowestNode(dist, { contents: ['old.js'] })
  assert.throws(() => checkLowestNode(dist, { contents: ['old.js', 'new.js'] }), {
    message: 'AsyncDisposableStack in new.js',
  })
})
