import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toLoadError } from '../../../src/rules/model/fault.ts'
import { parseRuleFiles } from '../../../src/rules/yaml/parse.ts'
import { faultsOf, parseText, rulesOf, warningsOf } from '../../support/parse-text.ts'

test('a file becomes a flat list of rules in depth-first order', () => {
  const { rules, faults, warnings } = parseText(`
domain: messaging
descriptors:
  - key: message_type
    value: marketing
    descriptors:
      - key: to_number
        rate_limit:
          unit: day
          requests_per_unit: 5
  - key: to_number
    rate_limit: {unit: Minute, requests_per_unit: 100}
`)
  assert.deepEqual(faults, [])
  assert.deepEqual(warnings, [])
  assert.deepEqual(rules.domains, ['messaging'])
  const plain = {
    domain: 'messaging',
    shadowMode: false,
    quotaMode: false,
    detailedMetric: false,
    valueToMetric: false,
    shareThreshold: false,
    metadata: undefined,
  }
  const limit = {
    unitMultiplier: 1,
    algorithm: 'fixed_window',
    unlimited: false,
    name: '',
    replaces: [],
  }
  assert.deepEqual(rules.rules, [
    {
      ...plain,
      parent: -1,
      key: 'message_type',
      value: 'marketing',
      limit: undefined,
      place: { file: 'a.yaml', line: 4, column: 5 },
    },
    {
      ...plain,
      parent: 0,
      key: 'to_number',
      value: '',
      limit: { ...limit, requestsPerUnit: 5, unit: 'DAY' },
      place: { file: 'a.yaml', line: 7, column: 9 },
    },
    {
      ...plain,
      parent: -1,
      key: 'to_number',
      value: '',
      limit: { ...limit, requestsPerUnit: 100, unit: 'MINUTE' },
      place: { file: 'a.yaml', line: 11, column: 5 },
    },
  ])
})

test('every field of a rule is read', () => {
  const [rule] = rulesOf(`
domain: d
descriptors:
  - key: k
    value: "v*"
    shadow_mode: true
    quota_mode: true
    detailed_metric: true
    value_to_metric: true
    share_threshold: true
    rate_limit:
      unlimited: true
      name: n
      replaces:
        - name: a
        - name: b
    metadata:
      text: x
      list: [1, 2.5, true, null, {deep: -0x10}]
      __proto__: kept
`)
  assert.ok(rule)
  const { shadowMode, quotaMode, detailedMetric, valueToMetric, shareThreshold } = rule
  assert.deepEqual(
    { shadowMode, quotaMode, detailedMetric, valueToMetric, shareThreshold },
    {
      shadowMode: true,
      quotaMode: true,
      detailedMetric: true,
      valueToMetric: true,
      shareThreshold: true,
    },
  )
  assert.deepEqual(rule.limit, {
    requestsPerUnit: 0,
    unit: undefined,
    unitMultiplier: 1,
    algorithm: 'fixed_window',
    unlimited: true,
    name: 'n',
    replaces: ['a', 'b'],
  })
  assert.equal(
    JSON.stringify(rule.metadata),
    '{"text":"x","list":[1,2.5,true,null,{"deep":-16}],"__proto__":"kept"}',
  )
})

test('week, month and year are units too', () => {
  for (const unit of ['second', 'minute', 'hour', 'day', 'week', 'month', 'year']) {
    const [rule] = rulesOf(
      `{domain: d, descriptors: [{key: k, rate_limit: {unit: ${unit}, requests_per_unit: 1}}]}`,
    )
    assert.equal(rule?.limit?.unit, unit.toUpperCase())
  }
})

test('two files must not define one domain, unless domains are merged', () => {
  const files = [
    { name: 'a.yaml', text: 'domain: d\ndescriptors: [{key: a}]' },
    { name: 'b.yaml', text: 'domain: e\ndescriptors: []' },
    { name: 'c.yaml', text: 'domain: d\ndescriptors: [{key: b, descriptors: [{key: c}]}]' },
  ]
  const apart = parseRuleFiles(files, { mergeDomains: false })
  assert.deepEqual(apart.faults.map(toLoadError), [
    "c.yaml: duplicate domain 'd' in config file (line 1, column 9)",
  ])
  assert.deepEqual(apart.rules, { domains: [], rules: [] })
  const merged = parseRuleFiles(files, { mergeDomains: true })
  assert.deepEqual(merged.faults, [])
  assert.deepEqual(merged.rules.domains, ['d', 'e'])
  assert.deepEqual(
    merged.rules.rules.map(({ key, parent, domain, place }) => [key, parent, domain, place.file]),
    [
      ['a', -1, 'd', 'a.yaml'],
      ['b', -1, 'd', 'c.yaml'],
      ['c', 1, 'd', 'c.yaml'],
    ],
  )
})

test('duplicate top-level rules of merged files are refused, because trees are not merged', () => {
  const files = [
    { name: 'a.yaml', text: 'domain: d\ndescriptors: [{key: a, descriptors: [{key: x}]}]' },
    { name: 'b.yaml', text: 'domain: d\ndescriptors: [{key: a, descriptors: [{key: y}]}]' },
  ]
  const { faults } = parseRuleFiles(files, { mergeDomains: true })
  assert.deepEqual(faults.map(toLoadError), [
    "b.yaml: duplicate descriptor composite key 'd.a' (line 2, column 15)",
  ])
  assert.equal(faults[0]?.hint, 'the first one is in a.yaml, line 2')
})

test('all faults of all files are returned together, in the order of the checks', () => {
  const files = [
    { name: 'rules.yaml', text: 'domain: d\ndescriptors: [{key: a}, {key: a}]' },
    { name: 'types.yaml', text: 'domain: d\ndescriptors: [{key: [], shadow_mode: 3, ky: 1}]' },
    { name: 'syntax.yaml', text: 'domain: "d' },
    { name: 'empty.yaml', text: '' },
  ]
  const { faults } = parseRuleFiles(files, { mergeDomains: false })
  assert.deepEqual(
    faults.map(({ message, place }) => `${place.file}: ${message}`),
    [
      "types.yaml: config error, unknown key 'ky'",
      'types.yaml: error loading config file: key must be text, not a list',
      'types.yaml: error loading config file: shadow_mode must be true or false, not 3',
      'syntax.yaml: error loading config file: yaml: Missing closing "quote',
      "rules.yaml: duplicate descriptor composite key 'd.a'",
      "types.yaml: duplicate domain 'd' in config file",
      'empty.yaml: config file cannot have empty domain',
    ],
  )
})

test('the checks of a rule run from its key to its children', () => {
  assert.deepEqual(
    parseText(`
domain: d
descriptors:
  - key: a
  - key: a
    rate_limit: {unit: eon, name: n, requests_per_unit: 1, replaces: [{name: ''}, {name: n}]}
    share_threshold: true
    metadata: {x: .inf}
    descriptors:
      - value: v
`).faults.map((fault) => fault.message),
    [
      "duplicate descriptor composite key 'd.a'",
      "invalid rate limit unit 'eon'",
      'should not have an empty replaces entry',
      'replaces should not contain name of same descriptor',
      "share_threshold can only be used with wildcard values (containing '*'), but found key 'a'",
      'error parsing metadata: .inf cannot be represented in JSON',
      'descriptor has empty key',
    ],
  )
})

test('a limit without requests_per_unit refuses everything, with a warning', () => {
  const text = 'domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day}\n'
  assert.equal(rulesOf(text)[0]?.limit?.requestsPerUnit, 0)
  assert.deepEqual(warningsOf(text), [
    'a.yaml: requests_per_unit is missing: it defaults to 0, so every request is refused (line 4, column 17)',
  ])
  assert.deepEqual(warningsOf(text.replace('unit: day', 'unlimited: true')), [])
})

test('a domain without descriptors is a domain, with a warning', () => {
  for (const text of ['domain: d\n', 'domain: d\ndescriptors:\n', 'domain: d\ndescriptors: ~\n']) {
    assert.deepEqual(parseText(text).rules, { domains: ['d'], rules: [] })
    assert.deepEqual(warningsOf(text), [
      "a.yaml: descriptors is missing: domain 'd' has no rules (line 1, column 9)",
    ])
  }
})

test('a known key in the wrong place is ignored, with a warning about the right place', () => {
  const text = `
domain: d
unit: day
descriptors:
  - key: k
    requests_per_unit: [{name: x}]
    domain: e
    rate_limit:
      unit: day
      requests_per_unit: 1
      shadow_mode: true
`
  assert.equal(rulesOf(text)[0]?.shadowMode, false)
  assert.deepEqual(warningsOf(text), [
    "a.yaml: 'unit' has no effect here, it belongs inside rate_limit (line 3, column 1)",
    "a.yaml: 'requests_per_unit' has no effect here, it belongs inside rate_limit (line 6, column 5)",
    "a.yaml: 'domain' has no effect here, it belongs at the top of the file (line 7, column 5)",
    "a.yaml: 'shadow_mode' has no effect here, it belongs to a descriptor, next to its key (line 11, column 7)",
  ])
})

test('the consequences of an invalid key are not reported', () => {
  assert.deepEqual(
    faultsOf(`
domain: d
descriptors:
  - kee: k
    rate_limit: {unitt: day, requests_per_unit: 1.5}
`),
    [
      "a.yaml: config error, unknown key 'kee' (line 4, column 5)",
      "a.yaml: config error, unknown key 'unitt' (line 5, column 18)",
      'a.yaml: error checking config (line 5, column 49)',
    ],
  )
})

test('the fault of a misspelled key contains a suggestion', () => {
  const { faults } = parseText('domain: d\ndescriptors: [{key: k, rateLimit: {}}]')
  assert.equal(faults[0]?.hint, "did you mean 'rate_limit'?")
})

test('a file with very many faults shows the first hundred of a kind and counts the rest', () => {
  const rules = Array.from({ length: 300 }, (_, index) => `  - {key: k${index}, bad: 1}\n`)
  const { faults } = parseText(`domain: d\ndescriptors:\n${rules.join('')}`)
  assert.equal(faults.length, 101)
  assert.equal(faults.at(-1)?.message, 'and 200 more of this kind')
})

test('all three kinds of line breaks are accepted', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const lines = ['domain: d', 'descriptors:', '  - key: k', '    foo: x', '']
    assert.deepEqual(faultsOf(lines.join(end)), [
      "a.yaml: config error, unknown key 'foo' (line 4, column 5)",
    ])
  }
})

test('30,000 rules are read', () => {
  let text = 'domain: big\ndescriptors:\n'
  for (let index = 0; index < 30_000; index++) {
    text += `  - key: user\n    value: u${index}\n    rate_limit:\n      unit: second\n`
    text += `      requests_per_unit: ${index}\n`
  }
  const rules = rulesOf(text)
  assert.equal(rules.length, 30_000)
  assert.equal(rules.at(-1)?.limit?.requestsPerUnit, 29_999)
})
