import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compileRules } from '../../src/rules/match/snapshot.ts'
import { toOverridePath, toStatisticsKey } from '../../src/stats/statistics-key.ts'
import { KeyRecorder, type NestedRule, toDescriptor, toRuleSet } from '../support/nested-rules.ts'

/** The statistics key a request counts under, with rules for the domain `D`. */
function keyFor(rules: readonly NestedRule[], ...pairs: string[]): string | undefined {
  const counters = new KeyRecorder()
  const snapshot = compileRules(toRuleSet({ D: rules }), counters)
  return counters.keyOf(snapshot.match('D', toDescriptor(...pairs))?.counters)
}

const limit = { requests: 1 }

suite('statistics keys', () => {
  const vectors: readonly {
    readonly what: string
    readonly rules: readonly NestedRule[]
    readonly request: string[]
    readonly key: string
  }[] = [
    {
      what: 'a nested rule without a value omits the value',
      rules: [{ key: 'key1', value: 'value1', rules: [{ key: 'subkey1', limit }] }],
      request: ['key1=value1', 'subkey1=x'],
      key: 'D.key1_value1.subkey1',
    },
    {
      what: 'detailed_metric adds the value',
      rules: [{ key: 'key7', detailedMetric: true, limit }],
      request: ['key7=foo'],
      key: 'D.key7_foo',
    },
    {
      what: 'value_to_metric adds only the values of its levels',
      rules: [
        {
          key: 'route',
          valueToMetric: true,
          rules: [
            { key: 'http_method', valueToMetric: true, rules: [{ key: 'subject_id', limit }] },
          ],
        },
      ],
      request: ['route=draw', 'http_method=GET', 'subject_id=123'],
      key: 'D.route_draw.http_method_GET.subject_id',
    },
    {
      what: 'a wildcard is named after its pattern',
      rules: [{ key: 'wild', value: 'foo*', limit }],
      request: ['wild=foo1'],
      key: 'D.wild_foo*',
    },
    {
      what: 'a wildcard with value_to_metric is named after the value',
      rules: [{ key: 'wild', value: 'foo*', valueToMetric: true, limit }],
      request: ['wild=foo1'],
      key: 'D.wild_foo1',
    },
    {
      what: 'share_threshold wins over value_to_metric',
      rules: [
        {
          key: 'route',
          value: 'api/*',
          shareThreshold: true,
          valueToMetric: true,
          rules: [{ key: 'method', limit }],
        },
      ],
      request: ['route=api/v1', 'method=GET'],
      key: 'D.route_api/*.method',
    },
    {
      what: 'share_threshold keeps the pattern below detailed_metric',
      rules: [
        {
          key: 'service',
          value: 'svc/*',
          shareThreshold: true,
          rules: [{ key: 'endpoint', detailedMetric: true, limit }],
        },
      ],
      request: ['service=svc/user', 'endpoint=get'],
      key: 'D.service_svc/*.endpoint_get',
    },
    {
      what: 'patterns of several levels are kept',
      rules: [
        {
          key: 'path',
          value: 'path/*',
          shareThreshold: true,
          rules: [{ key: 'file', value: 'file/*', rules: [{ key: 'type', limit }] }],
        },
      ],
      request: ['path=path/foo', 'file=file/doc1', 'type=pdf'],
      key: 'D.path_path/*.file_file/*.type',
    },
    {
      what: 'the dots of an address become underscores',
      rules: [{ key: 'ip', detailedMetric: true, limit }],
      request: ['ip=10.0.0.5'],
      key: 'D.ip_10_0_0_5',
    },
    {
      what: 'detailed_metric of a parent is ignored',
      rules: [{ key: 'a', detailedMetric: true, limit, rules: [{ key: 'b', limit }] }],
      request: ['a=1', 'b=2'],
      key: 'D.a.b',
    },
    {
      what: 'detailed_metric adds the values of all levels and makes value_to_metric redundant',
      rules: [{ key: 'a', rules: [{ key: 'b', value: 'x*', detailedMetric: true, limit }] }],
      request: ['a=1', 'b=xy'],
      key: 'D.a_1.b_xy',
    },
    {
      what: 'value_to_metric with an empty value adds only the key',
      rules: [{ key: 'a', valueToMetric: true, limit }],
      request: ['a='],
      key: 'D.a',
    },
    {
      what: 'an exact value needs no metric flag',
      rules: [{ key: 'a', value: '1', valueToMetric: true, detailedMetric: true, limit }],
      request: ['a=1'],
      key: 'D.a_1',
    },
  ]
  for (const { what, rules, request, key } of vectors) {
    test(what, () => assert.equal(keyFor(rules, ...request), key))
  }

  test('an override is named after the entries of the request', () => {
    const { entries } = toDescriptor('key1=value1', 'subkey1=x', 'empty=')
    assert.equal(toOverridePath('D', entries), 'D.key1_value1.subkey1_x.empty')
  })

  test('only special characters of statsd are replaced', () => {
    assert.equal(toStatisticsKey('a.b:c|d'), 'a.b_c_d')
    assert.equal(toStatisticsKey('d.ip_1.2.3.4.x_256.300.0.1'), 'd.ip_1_2_3_4.x_256_300_0_1')
    assert.equal(toStatisticsKey('v_1.2.3'), 'v_1.2.3')
    assert.equal(toStatisticsKey('v_1.2.3.4.5'), 'v_1_2_3_4.5')
    assert.equal(toStatisticsKey('1234.5.6.7890'), '1234_5_6_7890')
    assert.equal(toStatisticsKey('a/b*c é'), 'a/b*c é')
  })

  test('only values that are part of the key create counters for a request', () => {
    const counters = new KeyRecorder()
    const rules = [
      { key: 'fixed', limit },
      { key: 'detailed', detailedMetric: true, limit },
    ]
    const snapshot = compileRules(toRuleSet({ D: rules }), counters)
    snapshot.match('D', toDescriptor('fixed=1'))
    assert.equal(counters.requests.size, 0)
    snapshot.match('D', toDescriptor('detailed=1'))
    assert.deepEqual([...counters.requests.keys()], ['D.detailed_1'])
    assert.deepEqual([...counters.rules.keys()], ['D.fixed', 'D.detailed'])
  })

  test('a match is lasting if its statistics depend on neither the request nor a value', () => {
    const rules = [
      { key: 'fixed', limit },
      { key: 'detailed', detailedMetric: true, limit },
    ]
    const snapshot = compileRules(toRuleSet({ D: rules }), new KeyRecorder())
    const fixed = toDescriptor('fixed=1')
    assert.equal(snapshot.isLasting('D', fixed), true)
    assert.equal(snapshot.match('D', fixed), snapshot.match('D', fixed))
    assert.equal(snapshot.isLasting('D', toDescriptor('nothing=1')), true)
    assert.equal(snapshot.isLasting('D', toDescriptor('detailed=1')), false)
    assert.equal(snapshot.isLasting('unknown', fixed), false)
    const sent = { ...fixed, limit: { requestsPerUnit: 1, unit: 1 } }
    assert.equal(snapshot.isLasting('D', sent), false)
  })
})
