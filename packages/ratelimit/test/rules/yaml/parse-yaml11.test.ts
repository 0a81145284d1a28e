import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOf, parseText, rulesOf, warningsOf } from '../../support/parse-text.ts'

/** Each type of YAML 1.1 as in envoyproxy/ratelimit. */

function textOf(written: string): string | undefined {
  return rulesOf(`domain: d\ndescriptors:\n  - key: k\n    value: ${written}\n`)[0]?.value
}

function requestsOf(written: string): number | undefined {
  return rulesOf(
    `domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unit: day\n      requests_per_unit: ${written}\n`,
  )[0]?.limit?.requestsPerUnit
}

test('a text field accepts the text of any scalar as written', () => {
  for (const text of [
    'yes',
    '007',
    '2020-01-01',
    '0x1F',
    '-5',
    'True',
    '1_000',
    '10.0.0.5',
    '1:30',
  ]) {
    assert.equal(textOf(text), text)
  }
  assert.equal(textOf('"null"'), 'null')
  assert.equal(textOf("'it''s'"), "it's")
  assert.equal(textOf('"a\\tb"'), 'a\tb')
  assert.equal(textOf('|\n      two\n      lines'), 'two\nlines\n')
  assert.equal(textOf('two\n      words'), 'two words')
  assert.equal(textOf('!!str 1.5'), '1.5')
  assert.equal(textOf('!!binary aGVsbG8='), 'hello')
})

test('null is not text', () => {
  for (const written of ['', '~', 'null', 'Null', 'NULL', '# a comment']) {
    assert.equal(textOf(written), '')
  }
})

test('booleans are the unquoted words of YAML 1.1', () => {
  const flagOf = (written: string) =>
    rulesOf(`domain: d\ndescriptors:\n  - key: k\n    shadow_mode: ${written}\n`)[0]?.shadowMode
  for (const word of ['true', 'True', 'TRUE', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'y', 'Y']) {
    assert.equal(flagOf(word), true, word)
  }
  for (const word of ['false', 'False', 'FALSE', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'n', 'N']) {
    assert.equal(flagOf(word), false, word)
  }
  assert.equal(flagOf(''), false)
  for (const word of ['"true"', 'tRue', 'yEs', '1', '0']) {
    const faults = faultsOf(`domain: d\ndescriptors: [{key: k, shadow_mode: ${word}}]`)
    assert.match(faults[0] ?? '', /shadow_mode must be true or false/, word)
  }
})

test('integers may be octal, hexadecimal, binary, signed and grouped', () => {
  assert.equal(requestsOf('0'), 0)
  assert.equal(requestsOf('010'), 8)
  assert.equal(requestsOf('0o17'), 15)
  assert.equal(requestsOf('0x1F'), 31)
  assert.equal(requestsOf('0b101'), 5)
  assert.equal(requestsOf('1_000_000'), 1_000_000)
  assert.equal(requestsOf('+5'), 5)
  assert.equal(requestsOf('!!int "5"'), 5)
  assert.equal(requestsOf('4294967295'), 4_294_967_295)
})

test('a number of requests that is quoted, negative or too large is refused', () => {
  for (const written of [
    '"5"',
    "'5'",
    '-1',
    '4294967296',
    '0x100000000',
    'five',
    '!!str 5',
    'yes',
  ]) {
    const text = `domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: ${written}}}]`
    assert.match(
      faultsOf(text)[0] ?? '',
      /requests_per_unit must be an integer from 0 to 429/,
      written,
    )
  }
})

test('a number that is not a 64-bit integer is refused everywhere', () => {
  for (const written of ['1.5', '.5', '1e3', '-.inf', '.NaN', '089', '9223372036854775808']) {
    for (const field of ['value', 'shadow_mode', 'unit']) {
      const text = `domain: d\ndescriptors:\n  - key: k\n    ${field}: ${written}\n`
      const column = field.length + 7
      assert.deepEqual(
        faultsOf(text),
        [`a.yaml: error checking config (line 4, column ${column})`],
        `${field}: ${written}`,
      )
    }
  }
  assert.equal(textOf('9223372036854775807'), '9223372036854775807')
  assert.equal(textOf('"1.5"'), '1.5')
})

test('the last of several equal keys wins, with a warning', () => {
  const text = 'domain: a\ndomain: b\ndescriptors: [{bad: 1}]\ndescriptors: []\n'
  assert.deepEqual(parseText(text).rules, { domains: ['b'], rules: [] })
  assert.deepEqual(warningsOf(text), [
    "a.yaml: 'domain' occurs twice; the last one is used (line 2, column 1)",
    "a.yaml: 'descriptors' occurs twice; the last one is used (line 4, column 1)",
  ])
})

test('anchors, aliases and merge keys work', () => {
  const rules = rulesOf(`
domain: d
descriptors:
  - &base
    key: k
    value: a
    rate_limit: &limit {unit: second, requests_per_unit: 5}
    descriptors: &children
      - key: child
  - <<: *base
    value: b
  - key: other
    rate_limit: *limit
    descriptors: *children
  - <<: [{value: c}, *base]
    rate_limit:
      requests_per_unit: 6
`)
  assert.deepEqual(
    rules.map(({ key, value, parent, limit }) => [key, value, parent, limit?.requestsPerUnit]),
    [
      ['k', 'a', -1, 5],
      ['child', '', 0, undefined],
      ['k', 'b', -1, 5],
      ['child', '', 2, undefined],
      ['other', '', -1, 5],
      ['child', '', 4, undefined],
      ['k', 'c', -1, 6],
      ['child', '', 6, undefined],
    ],
  )
  assert.equal(rules[6]?.limit?.unit, 'SECOND', 'a limit keeps fields that are not repeated')
})

test('a merge key replaces earlier keys, with a warning', () => {
  const text = `
domain: d
descriptors:
  - &base {key: k, value: a}
  - value: b
    <<: *base
    key: other
`
  assert.deepEqual(
    rulesOf(text).map(({ key, value }) => [key, value]),
    [
      ['k', 'a'],
      ['other', 'a'],
    ],
  )
  assert.deepEqual(warningsOf(text), [
    "a.yaml: '<<' replaces the 'value' written above it: write '<<' first (line 6, column 5)",
  ])
})

test('a merge of anything other than maps is refused', () => {
  assert.deepEqual(faultsOf('domain: d\ndescriptors:\n  - <<: text\n    key: k\n'), [
    'a.yaml: error loading config file: yaml: map merge requires map or sequence of maps as the value (line 3, column 5)',
  ])
})

test('an alias without an anchor is refused', () => {
  assert.deepEqual(faultsOf('domain: *d\ndescriptors: []\n'), [
    "a.yaml: error loading config file: yaml: unknown anchor 'd' referenced (line 1, column 9)",
  ])
})

test('only the first document is read', () => {
  const text = '%YAML 1.1\n---\ndomain: a\ndescriptors: []\n---\ndomain: [\n'
  assert.deepEqual(parseText(text).rules.domains, ['a'])
  assert.deepEqual(parseText('domain: a\ndescriptors: []\n...\n}{').rules.domains, ['a'])
  assert.deepEqual(faultsOf('---\n---\ndomain: a\n'), [
    'a.yaml: config file cannot have empty domain (line 1, column 1)',
  ])
})

test('a tag that contradicts its value is refused', () => {
  assert.deepEqual(faultsOf('domain: !!int d\ndescriptors: []\n'), [
    "a.yaml: error loading config file: yaml: cannot read 'd' as a !!int (line 1, column 15)",
  ])
})
