/**
 * @isolated reading the test files prints a warning of Node, and other tests check that nothing is printed
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkCoverageList } from '../../../../scripts/testing/coverage-list.ts'
import { serverAudits } from '../../src/audits/index.ts'

const { rows, faults } = checkCoverageList(join(import.meta.dirname, 'README.md'))

test('every sentence of the specifications has its test', () => {
  assert.deepEqual(faults, [])
  assert.ok(rows.length > 200, `${rows.length} rows`)
})

test('every audit is named in the row of its sentence, once', () => {
  const url = 'http://localhost:4000/graphql'
  const ids = (['classic', '2026'] as const).flatMap((profile) =>
    serverAudits({ url, profile, extended: true }).map(({ id }) => id),
  )
  const named = rows.flatMap(({ sentence }) =>
    [...sentence.matchAll(/`([0-9A-Z]{4})`/g)].map(([, id = '']) => id),
  )
  assert.deepEqual(named.toSorted(), [...new Set(ids)].toSorted())
})
