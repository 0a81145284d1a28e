import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toPublishedText } from '../build-package.ts'

const repository = 'https://git.example.com/us/it'
const publish = (text: string, path = 'packages/it') => toPublishedText(text, path, repository)

test('links of a published README become absolute links to the repository', () => {
  const before =
    'The [manual](../../docs/graphql.md#use), the [spec](https://example.com), [below](#more), ![us](a.svg).'
  const after =
    'The [manual](https://git.example.com/us/it/blob/main/docs/graphql.md#use), the ' +
    '[spec](https://example.com), [below](#more), ' +
    '![us](https://git.example.com/us/it/raw/main/packages/it/a.svg).'
  assert.equal(publish(before), after)
  assert.equal(
    publish('See [docs](docs/a.md).', ''),
    'See [docs](https://git.example.com/us/it/blob/main/docs/a.md).',
  )
})

test('a published README ends before the section about the repository', () => {
  const before = '# example\n\nUse it.\n\n## In the repository\n\nRun the tests.\n'
  assert.equal(publish(before), '# example\n\nUse it.\n')
})
