import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import fc from 'fast-check'
import {
  RateLimitConfigSchema,
  RateLimitUnit,
} from '../../../../src/protocol/generated/ratelimit/v3/rls_conf_pb.ts'
import { loadResponse } from '../../../../src/rules/sources/xds/load-response.ts'
import {
  parseResources,
  toNodePath,
  toResourceTree,
} from '../../../../src/rules/sources/xds/parse-resources.ts'
import { parseRuleFiles } from '../../../../src/rules/yaml/parse.ts'
import { RuleStatistics } from '../../../../src/stats/rule-statistics.ts'
import { toDescriptor } from '../../../support/nested-rules.ts'
import { type ConfigInit, toResource, toResponse } from './support/ads-server.ts'

function parse(configs: readonly ConfigInit[], mergeDomains = false) {
  const response = toResponse({ version: '1', resources: configs.map(toResource) })
  return parseResources(response, { mergeDomains })
}

function withDescriptor(descriptor: object): ConfigInit {
  return { name: 'r', domain: 'd', descriptors: [{ key: 'fine' }, { key: 'k', ...descriptor }] }
}

test('every check of rule files also applies to resources, with the same message', () => {
  const cases: [ConfigInit, message: string, path: string][] = [
    [{ name: 'r' }, 'config file cannot have empty domain', 'domain'],
    [withDescriptor({ key: '' }), 'descriptor has empty key', 'descriptors[1]'],
    [
      withDescriptor({ key: 'fine' }),
      "duplicate descriptor composite key 'd.fine'",
      'descriptors[1]',
    ],
    [
      withDescriptor({ descriptors: [{ key: 'a', value: 'b' }, { key: 'a_b' }] }),
      "duplicate descriptor composite key 'd.k.a_b'",
      'descriptors[1].descriptors[1]',
    ],
    [
      withDescriptor({ rateLimit: { requestsPerUnit: 1 } }),
      "invalid rate limit unit 'UNKNOWN'",
      'descriptors[1].rate_limit.unit',
    ],
    [
      withDescriptor({ rateLimit: { unit: 8, requestsPerUnit: 1 } }),
      "invalid rate limit unit '8'",
      'descriptors[1].rate_limit.unit',
    ],
    [
      withDescriptor({ rateLimit: { unit: 1, unlimited: true } }),
      'should not specify rate limit unit when unlimited',
      'descriptors[1].rate_limit.unit',
    ],
    [
      withDescriptor({ rateLimit: { unit: 1, replaces: [{ name: 'x' }, { name: '' }] } }),
      'should not have an empty replaces entry',
      'descriptors[1].rate_limit.replaces[1]',
    ],
    [
      withDescriptor({ rateLimit: { unit: 1, name: 'x', replaces: [{ name: 'x' }] } }),
      'replaces should not contain name of same descriptor',
      'descriptors[1].rate_limit.replaces[0]',
    ],
    [
      withDescriptor({ metadata: { a: [1, { b: Number.NaN }] } }),
      'error parsing metadata: .nan cannot be represented in JSON',
      'descriptors[1].metadata.a[1].b',
    ],
  ]
  for (const [config, message, path] of cases) {
    const { faults, rules } = parse([config])
    const found = faults.map((fault) => [fault.place.file, fault.message, fault.path])
    assert.deepEqual(found, [['r', message, path]])
    assert.deepEqual(rules, { domains: [], rules: [] })
  }
})

test('domains may be repeated only if they are merged, and rules never', () => {
  const rules = (name: string, key: string) => ({ name, domain: 'd', descriptors: [{ key }] })
  const configs = [rules('a', 'x'), rules('b', 'y')]
  const [fault] = parse(configs).faults
  assert.equal(fault?.message, "duplicate domain 'd' in config file")
  assert.equal(fault?.place.file, 'b')
  assert.equal(parse(configs, true).rules.rules.length, 2)
  const clash = parse([rules('a', 'x'), rules('b', 'x')], true)
  assert.deepEqual(
    clash.faults.map(({ message, place }) => `${place.file}: ${message}`),
    ["b: duplicate descriptor composite key 'd.x'"],
  )
})

test('a resource without a name is identified by its number', () => {
  const { faults } = parse([{ name: 'a', domain: 'd' }, { domain: '' }])
  assert.deepEqual(
    faults.map(({ place }) => place.file),
    ['resource 2 of 2'],
  )
})

test('warnings about missing fields in files do not apply to resources', () => {
  const { warnings, faults, rules } = parse([
    { name: 'a', domain: 'empty' },
    { name: 'b', domain: 'd', descriptors: [{ key: 'k', rateLimit: { unit: 1 } }] },
  ])
  assert.deepEqual([warnings, faults], [[], []])
  assert.deepEqual(rules.domains, ['empty', 'd'])
  assert.equal(rules.rules[0]?.limit?.requestsPerUnit, 0)
})

test('an unlimited rule needs no unit, and every unit has its number', () => {
  const unlimited = parse([withDescriptor({ rateLimit: { unlimited: true } })])
  assert.equal(unlimited.rules.rules[1]?.limit?.unlimited, true)
  const names = [1, 2, 3, 4, 5, 6, 7].map(
    (unit) => parse([withDescriptor({ rateLimit: { unit } })]).rules.rules[1]?.limit?.unit,
  )
  assert.deepEqual(names, ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'WEEK'])
})

/** Text that YAML would interpret differently without quotes. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
  fc.constantFrom('true', 'null', '007', '1.5', '~', '*', 'a_b', '2020-01-01', '<<'),
)

const units = ['second', 'minute', 'hour', 'day', 'month', 'year', 'week']

interface Rule {
  readonly key: string
  readonly value: string
  readonly limit: { unit: number; count: number; name: string; replaces: string[] } | undefined
  readonly flags: readonly boolean[]
  readonly metadata: Record<string, fc.JsonValue> | undefined
  readonly rules: readonly Rule[]
}

function arbitraryRule(levelsBelow: number): fc.Arbitrary<Rule> {
  return fc.record({
    key: text,
    value: fc.oneof(fc.constant(''), text),
    limit: fc.option(
      fc.record({
        unit: fc.integer({ min: 0, max: 7 }),
        count: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        name: fc.constantFrom('', 'a', 'b'),
        replaces: fc.array(fc.constantFrom('', 'a', 'c'), { maxLength: 2 }),
      }),
      { nil: undefined },
    ),
    flags: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    metadata: fc.option(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), {
      nil: undefined,
    }),
    rules:
      levelsBelow === 0
        ? fc.constant([])
        : fc.array(arbitraryRule(levelsBelow - 1), { maxLength: 2 }),
  })
}

/** The same rule for a rule file, as JSON, which is valid YAML. */
function toFileRule({ key, value, limit, flags, metadata, rules }: Rule): object {
  return {
    key,
    value,
    ...(limit && {
      rate_limit: {
        unit: units[limit.unit - 1] ?? 'UNKNOWN',
        requests_per_unit: limit.count,
        unlimited: flags[3],
        name: limit.name,
        replaces: limit.replaces.map((name) => ({ name })),
      },
    }),
    shadow_mode: flags[0],
    quota_mode: flags[1],
    detailed_metric: flags[2],
    ...(metadata && { metadata }),
    descriptors: rules.map(toFileRule),
  }
}

function toResourceRule({ key, value, limit, flags, metadata, rules }: Rule): object {
  return {
    key,
    value,
    ...(limit && {
      rateLimit: {
        unit: limit.unit,
        requestsPerUnit: limit.count,
        unlimited: flags[3],
        name: limit.name,
        replaces: limit.replaces.map((name) => ({ name })),
      },
    }),
    shadowMode: flags[0],
    quotaMode: flags[1],
    detailedMetric: flags[2],
    ...(metadata && { metadata }),
    descriptors: rules.map(toResourceRule),
  }
}

test('a resource results in the same rules or faults as a file', () => {
  const withoutPlace = <Value extends { place: unknown }>({ place: _, ...rest }: Value) => rest
  fc.assert(
    fc.property(
      fc.array(arbitraryRule(2), { maxLength: 3 }),
      fc.constantFrom('d', ''),
      (rules, domain) => {
        const content = JSON.stringify({ domain, descriptors: rules.map(toFileRule) })
        const file = parseRuleFiles([{ name: 'r', text: content }], { mergeDomains: false })
        const resource = parse([{ name: 'r', domain, descriptors: rules.map(toResourceRule) }])
        assert.deepEqual(
          resource.faults.map(({ message }) => message),
          file.faults.map(({ message }) => message),
        )
        assert.deepEqual(resource.rules.rules.map(withoutPlace), file.rules.rules.map(withoutPlace))
      },
    ),
    { numRuns: 200 },
  )
})

test('the path of any node leads to that node', () => {
  const tree = toResourceTree(
    create(RateLimitConfigSchema, {
      domain: 'd',
      descriptors: [
        { key: 'a', value: 'b', rateLimit: { unit: 1 }, descriptors: [{ key: 'c' }] },
        { key: 'e', metadata: { f: [true, null] } },
      ],
    }),
  )
  const paths = Array.from({ length: 17 }, (_, offset) => toNodePath(tree, offset))
  assert.deepEqual(paths, [
    '',
    'domain',
    'descriptors',
    'descriptors[0]',
    'descriptors[0].key',
    'descriptors[0].value',
    'descriptors[0].rate_limit',
    'descriptors[0].rate_limit.unit',
    'descriptors[0].rate_limit.requests_per_unit',
    'descriptors[0].descriptors',
    'descriptors[0].descriptors[0]',
    'descriptors[0].descriptors[0].key',
    'descriptors[1]',
    'descriptors[1].key',
    'descriptors[1].metadata',
    'descriptors[1].metadata.f',
    'descriptors[1].metadata.f[0]',
  ])
})

test('rules nested too deep are refused, not a crash', () => {
  let descriptor: { key: string; descriptors: object[] } = { key: 'k', descriptors: [] }
  for (let depth = 0; depth < 150; depth++) descriptor = { key: 'k', descriptors: [descriptor] }
  const { faults } = parse([{ name: 'a', domain: 'd', descriptors: [descriptor] }])
  assert.match(faults[0]?.message ?? '', /cannot be decoded: .*depth/)
})

function toLoadSettings() {
  return {
    mergeDomains: false,
    counters: new RuleStatistics(1_000, () => {}),
    onIgnoredOverride: () => {},
    signal: new AbortController().signal,
  }
}

test('many rules are loaded without blocking the event loop', async () => {
  const ruleCount = 30_000
  const descriptors = Array.from({ length: ruleCount }, (_, index) => ({
    key: 'customer',
    value: `c${index}`,
    rateLimit: { unit: RateLimitUnit.SECOND, requestsPerUnit: index },
  }))
  const response = toResponse({ resources: [toResource({ name: 'a', domain: 'd', descriptors })] })
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const { snapshot } = await loadResponse(Buffer.from(new Uint8Array(response)), toLoadSettings())
  isOver = true
  assert.equal(snapshot.ruleCount, ruleCount)
  const match = snapshot.match('d', toDescriptor('customer=c29999'))
  assert.equal(match?.limit.requestsPerUnit, 29_999)
  assert.ok(turns > ruleCount / 500, `${turns} turns`)
})

test('faults of many rules are returned from the thread', async () => {
  const descriptors = Array.from({ length: 5_000 }, (_, index) => ({ key: `k${index % 4_999}` }))
  const response = toResponse({ resources: [toResource({ name: 'a', domain: 'd', descriptors })] })
  await assert.rejects(loadResponse(Buffer.from(new Uint8Array(response)), toLoadSettings()), {
    name: 'ResourceError',
    message: "a: duplicate descriptor composite key 'd.k0'",
  })
})
