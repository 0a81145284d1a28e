import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readBlockDocument } from '../../src/yaml/yaml-block.ts'
import { readDocument } from '../../src/yaml/yaml-document.ts'
import { damagedYaml, shuffledYaml } from '../support/yaml-samples.ts'

/** Text in the subset, with variations in indentation, comments, quotes and blank lines. */
const blockYaml = fc.letrec((tie) => ({
  scalar: fc.oneof(
    fc.constantFrom(
      'v',
      '5',
      '0x1f',
      'yes',
      '~',
      '1.5',
      'a b',
      'a:b',
      'a#b',
      '"q"',
      "'q'",
      '"\\t"',
    ),
    fc.constantFrom('{a: 1}', '[a, "b"]', '{}', '"a: b"', "'it''s'", '/x/*', '+1', 'a - b', '""'),
    fc.stringMatching(/^[A-Za-z0-9_./+~$][ -~]{0,12}$/),
    tie('flow'),
  ),
  // Brackets are usually closed, and sometimes not.
  flow: fc
    .array(
      fc.oneof({ weight: 9, arbitrary: tie('flowPart') }, { weight: 1, arbitrary: tie('scalar') }),
      {
        maxLength: 4,
      },
    )
    .chain((parts) => fc.constantFrom(`{${parts.join(', ')}}`, `{ ${parts.join(',')} }`)),
  flowPart: fc
    .tuple(fc.constantFrom('key: ', 'unit:  ', 'a:', ''), tie('flowValue'))
    .map(([key, value]) => `${key}${value}`),
  flowValue: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'v',
      '5',
      '1.5',
      '~',
      'a*',
      '"q*"',
      "'q'",
      "'it''s'",
      '"\\t"',
      'a b',
      '[]',
      '{}',
      '*a',
    ),
    fc.array(tie('flow'), { maxLength: 2 }).map((items) => `[${items.join(', ')}]`),
    tie('flow'),
  ),
  tail: fc.constantFrom('', '', '', ' ', ' # note', '   ', '\n', '\n\n  # note: x', '\r'),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('scalar'),
    tie('map'),
    tie('list'),
  ),
  entry: fc.record({
    name: fc.constantFrom('key', 'value', 'unit', 'descriptors', 'n', 'a-b', 'key2'),
    gap: fc.constantFrom(' ', ' ', '  '),
    value: tie('value'),
    tail: tie('tail'),
  }),
  map: fc.record({
    kind: fc.constant('map'),
    entries: fc.array(tie('entry'), { minLength: 1, maxLength: 4 }),
    step: fc.constantFrom(1, 2, 4),
  }),
  list: fc.record({
    kind: fc.constant('list'),
    items: fc.array(fc.oneof(tie('map'), fc.constant('{a: b}')), { minLength: 1, maxLength: 3 }),
    step: fc.constantFrom(0, 2, 3),
  }),
}))

interface Part {
  readonly kind?: string
  readonly step: number
  readonly entries: readonly { name: string; gap: string; value: unknown; tail: string }[]
  readonly items: readonly unknown[]
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null
}

function write(value: unknown, indent: number): string {
  if (!isPart(value)) return String(value)
  const space = ' '.repeat(indent)
  if (value.kind === 'list') {
    return value.items.map((item) => `${space}- ${write(item, indent + 2).trimStart()}`).join('\n')
  }
  const lines = value.entries.map(({ name, gap, value: inner, tail }) => {
    const written = isPart(inner)
      ? `${tail}\n${write(inner, indent + inner.step)}`
      : `${gap}${write(inner, 0)}${tail}`
    return `${space}${name}:${written}`
  })
  return lines.join('\n')
}

test('the block reader returns the same result as the library', () => {
  let read = 0
  fc.assert(
    fc.property(
      fc.oneof(
        blockYaml.map.map((map) => write(map, 0)),
        damagedYaml,
        shuffledYaml,
      ),
      (text) => {
        const document = readBlockDocument(text)
        if (document === undefined) return
        read++
        assert.deepEqual(document, readDocument(text), JSON.stringify(text))
      },
    ),
    { numRuns: 4000 },
  )
  assert.ok(read > 500, `it must read files in its subset, but read only ${read}`)
})

test('plain rule files are read without the library', () => {
  for (const text of [
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unit: day # note\n',
    '---\n# note\ndomain: "d"\ndescriptors:\n- key: k\n  descriptors:\n  - {key: n}\n',
    'domain: d\r\ndescriptors:\r\n  - key: k\r\n\r\n  - key: l\r\n',
  ]) {
    assert.deepEqual(readBlockDocument(text), readDocument(text))
    assert.ok(readBlockDocument(text)?.root)
  }
})

test('everything else is left to the library', () => {
  for (const text of [
    '',
    ' domain: d\n',
    'domain: d\n---\ndomain: e\n',
    'domain: &a d\n',
    'domain: *a\n',
    'domain: !!str d\n',
    'domain: |\n  d\n',
    'domain: two\n  lines\n',
    'domain:\td\n',
    'domain: a: b\n',
    'domain: "d\n',
    '"domain": d\n',
    '? domain\n: d\n',
    '<<: {a: b}\n',
    'descriptors:\n  - text\n',
    'descriptors:\n    - key: k\n  - key: l\n',
    'descriptors: [{key: k},\n  {key: l}]\n',
  ]) {
    assert.equal(readBlockDocument(text), undefined, JSON.stringify(text))
  }
})
