import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPublishedReadme } from '../build-package.ts'

test('a published README has no links into the repository', () => {
  const before =
    'The [manual](../../docs/graphql.md), the [spec](https://example.com), [below](#more).'
  const after = 'The manual, the [spec](https://example.com), [below](#more).'
  assert.equal(toPublishedReadme(before), after)
})

test('a published README ends where the part about the repository begins', () => {
  const before = '# example\n\nUse it.\n\n## In the repository\n\nRun the tests.\n'
  assert.equal(toPublishedReadme(before), '# example\n\nUse it.\n')
})
