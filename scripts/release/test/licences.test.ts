import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../packaging/published-packages.ts'
import { allowedLicences, collectDependencies, toLicenceIds, toLicencePage } from '../licences.ts'

test('every production dependency has a licence that is allowed', () => {
  const dependencies = collectDependencies()
  assert.ok(dependencies.size > 50)
  const refused = [...dependencies].filter(([, { dependency }]) => {
    const ids = toLicenceIds(dependency.licence)
    return ids.length === 0 || ids.some((id) => !allowedLicences.includes(id))
  })
  assert.deepEqual(
    refused.map(([id, { dependency }]) => `${id}: ${dependency.licence}`),
    [],
  )
})

test('the licences of an expression are read one by one', () => {
  assert.deepEqual(toLicenceIds('(Apache-2.0 AND BSD-3-Clause)'), ['Apache-2.0', 'BSD-3-Clause'])
  assert.deepEqual(toLicenceIds(''), [])
})

test('docs/licences.md matches the lock file', () => {
  const page = join(root, 'docs/licences.md')
  const expected = toLicencePage()
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, expected)
  assert.equal(readFileSync(page, 'utf8'), expected, 'out of date: UPDATE_DOCS=1 writes it')
})
