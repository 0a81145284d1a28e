import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkCoverageList } from '../../../../scripts/testing/coverage-list.ts'

test('every sentence of the specification has a test, and every test of this folder has a sentence', () => {
  const { rows, faults } = checkCoverageList(join(import.meta.dirname, 'README.md'))
  assert.deepEqual(faults, [])
  assert.ok(rows.length >= 225, `${rows.length} rows`)
})
