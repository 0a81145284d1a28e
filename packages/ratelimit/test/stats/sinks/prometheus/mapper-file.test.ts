import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMapper } from '../../../../src/stats/sinks/prometheus/mapper-file.ts'
import type { Mapping } from '../../../../src/stats/sinks/prometheus/mapping.ts'

function read(text: string, usesMilliseconds = false): Mapping {
  const { mapping, faults } = parseMapper(text, { usesMilliseconds })
  assert.deepEqual(faults, [])
  assert.ok(mapping)
  return mapping
}

function mapRule({ rules }: Mapping, key: string) {
  assert.ok(rules.kind === 'separate')
  return rules.map(key)
}

function findFaults(text: string): string[] {
  const { mapping, faults } = parseMapper(text, { usesMilliseconds: false })
  assert.equal(mapping, undefined)
  return faults.map(({ line, column, message }) => `${line}:${column} ${message}`)
}

test('the first glob that matches wins, and globs come before regular expressions', () => {
  const mapping = read(`
mappings:
- match: '.*'
  match_type: regex
  name: everything
- match: 'a.*.c'
  name: 'first_$1'
  labels: { whole: '$0' }
- match: 'a.b.*'
  name: second
`)
  assert.equal(mapping.named('a.b.c', 'counter')?.name, 'first_b')
  assert.deepEqual(mapping.named('a.b.c', 'counter')?.labels, [['whole', 'a.b.c']])
  assert.equal(mapping.named('a.b.x', 'counter')?.name, 'second')
  assert.equal(mapping.named('a.b', 'counter')?.name, 'everything')
})

test('regular expressions match anywhere, with the group syntax of Go', () => {
  const mapping = read(`
mappings:
- match: '(?i)RATE_limit\\.(?P<domain>[^.]+)\\.(.*)\\.total_hits'
  match_type: regex
  name: hits
  labels:
    domain: $1
    rest: "x\${2}y"
`)
  const mapped = mapRule(mapping, 'd.k.k2')[4]
  assert.equal(mapped?.name, 'hits')
  assert.deepEqual(mapped?.labels, [
    ['domain', 'd'],
    ['rest', 'xk.k2y'],
  ])
  assert.equal(mapRule(mapping, 'd.k')[0]?.name, 'ratelimit_service_rate_limit_d_k_near_limit')
})

test('a mapping may apply to one type only, and may drop statistics', () => {
  const mapping = read(`
mappings:
- { match: 'a.*', match_metric_type: gauge, name: gauges }
- { match: 'a.*', match_metric_type: observer, action: drop }
- { match: 'a.*', match_metric_type: counter, action: map, name: counters }
`)
  assert.equal(mapping.named('a.b', 'gauge')?.name, 'gauges')
  assert.equal(mapping.named('a.b', 'timer'), undefined)
  assert.equal(mapping.named('a.b', 'counter')?.name, 'counters')
})

test('defaults apply if a mapping does not override them', () => {
  const mapping = read(`
defaults:
  match_type: regex
  timer_type: histogram
  histogram_options: { buckets: [1, 2.5] }
  glob_disable_ordering: false
  ttl: 0
mappings:
- { match: ^t1$, name: t1 }
- { match: t2.*, match_type: glob, name: t2, buckets: [.5, 1], scale: 10 }
`)
  assert.deepEqual(mapping.named('t1', 'timer')?.histogram, { buckets: [1, 2.5], scale: 0.001 })
  assert.deepEqual(mapping.named('t2.x', 'timer')?.histogram, { buckets: [0.5, 1], scale: 10 })
})

test('with milliseconds, only an explicit scale changes a time', () => {
  const mapping = read("mappings: [{ match: 'a.*', name: a }]", true)
  assert.equal(mapping.named('a.b', 'timer')?.histogram?.scale, 1)
})

test('a tag wins over a label only if the mapping honors it', () => {
  const mapping = read(`
mappings:
- { match: 'a.*', name: a, labels: { code: x }, honor_labels: true }
- { match: 'b.*', name: b, labels: { code: x } }
`)
  assert.equal(mapping.named('a.b', 'counter')?.honorsTags, true)
  assert.equal(mapping.named('b.b', 'counter')?.honorsTags, false)
})

test('an empty file maps nothing', () => {
  assert.equal(read('mappings:\n').named('a.b-c', 'counter')?.name, 'a_b_c')
})

test('a name with very many dots is not matched with regular expressions', () => {
  const mapping = read(
    "mappings: [{ match: '(.*)\\.(.*)\\.(.*)\\.(.*)!', match_type: regex, name: a }]",
  )
  assert.match(mapping.named('.'.repeat(2_000), 'counter')?.name ?? '', /^_+$/)
})

const faulty: readonly (readonly [text: string, ...faults: string[]])[] = [
  ['- a', '1:1 this must be a map of keys and values'],
  ['mappings: 5', '1:11 this must be a list'],
  ['mapping: []', "1:1 unknown key 'mapping': the keys are defaults, mappings"],
  ['mappings:\n- name: a', "2:3 a mapping needs 'match'"],
  ['mappings:\n- match: a.*', "2:3 a mapping needs 'name'"],
  [
    'mappings:\n- match: a.b*\n  name: a',
    "2:10 invalid match 'a.b*': * must be a whole part between dots",
  ],
  ['mappings:\n- match: a.*\n  name: a-b', "3:9 'a-b' is not a valid Prometheus metric name"],
  ['mappings:\n- match: a.*\n  name: $x', `3:9 '$x': a dollar sign must be part of $1 or \${1}`],
  [
    'mappings:\n- match: a.*\n  name: a\n  labels: { le: x, a-b: y }',
    "4:13 'le' is not a valid Prometheus label name",
    "4:20 'a-b' is not a valid Prometheus label name",
  ],
  [
    'mappings:\n- match: a.*\n  name: a\n  match_type: exact',
    "4:15 'exact' is not one of glob, regex",
  ],
  [
    'mappings:\n- match: a.*\n  name: a\n  timer_type: summary',
    '4:15 summaries are not supported: use histogram, whose quantiles Prometheus computes itself',
  ],
  ['mappings:\n- match: a.*\n  name: a\n  buckets: [2, 1]', '4:12 buckets must be ascending'],
  ['mappings:\n- match: a.*\n  name: a\n  buckets: [x]', '4:13 x is not a number'],
  ['mappings:\n- match: a.*\n  name: a\n  honor_labels: 3', '4:17 3 is neither true nor false'],
  [
    'defaults:\n  glob_disable_ordering: true\nmappings: []',
    '2:26 glob_disable_ordering must be false, because mappings are tried in order',
  ],
]

for (const [text, ...faults] of faulty) {
  test(`refused with its position: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(findFaults(text), faults)
  })
}

test('invalid YAML and invalid regular expressions are refused', () => {
  assert.match(findFaults('mappings:\n- match: *.a\n  name: a')[0] ?? '', /^2:10 /)
  assert.match(
    findFaults("mappings:\n- match: '('\n  match_type: regex\n  name: a")[0] ?? '',
    /^2:10 invalid regex: .*Unterminated group/,
  )
})
