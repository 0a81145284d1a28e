/**
 * @isolated reading the test files prints a warning of Node, and other tests check that nothing is printed
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkCoverageList } from '../../../../scripts/testing/coverage-list.ts'

test('every security property has its test', () => {
  const { rows, faults } = checkCoverageList(join(import.meta.dirname, 'README.md'))
  assert.deepEqual(faults, [])
  assert.ok(rows.length > 90, `${rows.length} rows`)
})
