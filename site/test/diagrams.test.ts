import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replaceDiagrams } from '../src/diagrams.ts'

test('a Mermaid block becomes an image with its nodes as description', () => {
  const drawn: string[] = []
  const text = replaceDiagrams(
    [
      'Before.',
      '```mermaid',
      'flowchart LR',
      '  api',
      '  main_ts["main.ts"]',
      '  C([clients]) -->|HTTPS| D[(PostgreSQL<br>primary)]',
      '```',
      'After.',
    ].join('\n'),
    (source) => {
      drawn.push(source)
      return { url: '/files/diagrams/1', width: 300 }
    },
  )
  assert.equal(drawn.length, 1)
  assert.match(drawn[0] ?? '', /^flowchart LR\n/)
  assert.equal(
    text,
    'Before.\n```diagram\n{"url":"/files/diagrams/1","width":300,' +
      '"description":"Diagram: api, main.ts, clients, PostgreSQL primary"}\n```\nAfter.',
  )
})
