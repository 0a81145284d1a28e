import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkCoverageList } from '../../../../scripts/testing/coverage-list.ts'

test('every security property has a test, and every test of this folder has a property', () => {
  const { rows, faults } = checkCoverageList(join(import.meta.dirname, 'README.md'))
  assert.deepEqual(faults, [])
  assert.ok(rows.length >= 112, `${rows.length} rows`)
})
