import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { packRules } from '../../../src/hot/pack-rules.ts'
import { compileInTurns, compileRules } from '../../../src/rules/match/snapshot.ts'
import { RuleStatistics } from '../../../src/stats/rule-statistics.ts'
import {
  KeyRecorder,
  type NestedRule,
  toDescriptor,
  toRuleSet,
} from '../../support/nested-rules.ts'

const limit = { requests: 5 }
const rules: NestedRule[] = [
  {
    key: 'message_type',
    value: 'marketing',
    rules: [{ key: 'to_number', limit: { per: 'DAY', requests: 5 } }],
  },
  { key: 'to_number', shadowMode: true, limit: { per: 'SECOND', requests: 100 } },
  { key: 'free' },
  { key: 'all', quotaMode: true, limit: { unlimited: true, requests: 9 } },
]
const set = toRuleSet({
  messaging: rules,
  empty: [],
  other: [{ key: 'k', limit: { requests: 1 } }],
})

suite('compiling', () => {
  test('rules that are compiled in turns are the same as those compiled at once', async () => {
    const many = toRuleSet({
      d: Array.from({ length: 1_250 }, (_, i) => ({ key: 'k', value: `v${i}`, limit })),
    })
    for (const each of [set, many]) {
      const [atOnce, inTurns] = [new KeyRecorder(), new KeyRecorder()]
      const whole = compileRules(each, atOnce)
      const sliced = await compileInTurns(
        { rules: packRules(each), counters: inTurns, onIgnoredOverride: () => {} },
        new AbortController().signal,
      )
      assert.deepEqual([...sliced.describe()], [...whole.describe()])
      assert.deepEqual([...sliced.describeLoad()], [...whole.describeLoad()])
      assert.deepEqual([...inTurns.rules.keys()], [...atOnce.rules.keys()])
      assert.ok(inTurns.rules.size >= 4)
    }
  })

  test('compiling in turns can be aborted', async () => {
    const stop = new AbortController()
    const counters = new RuleStatistics(10, () => {})
    const compiling = compileInTurns(
      { rules: packRules(set), counters, onIgnoredOverride: () => {} },
      stop.signal,
    )
    stop.abort()
    await assert.rejects(compiling, { name: 'AbortError' })
    assert.equal(counters.size, 0)
  })

  test('the load is logged by domain, with domains without rules last', () => {
    const several = toRuleSet({ first: [], second: [{ key: 'a', rules: [{ key: 'b', limit }] }] })
    assert.deepEqual(
      [...compileRules(several, new KeyRecorder()).describeLoad()],
      [
        'loading domain: second',
        'loading descriptor: key=second.a',
        'loading descriptor: key=second.a.b ratelimit={requests_per_unit=5, unit=MINUTE, unlimited=false, shadow_mode=false, quota_mode=false}',
        'loading domain: first',
      ],
    )
  })

  test('the description has a line per limit, in the order of the configuration', () => {
    assert.deepEqual(
      [...compileRules(set, new KeyRecorder()).describe()],
      [
        'messaging.message_type_marketing.to_number: unit=DAY requests_per_unit=5, shadow_mode: false, quota_mode: false',
        'messaging.to_number: unit=SECOND requests_per_unit=100, shadow_mode: true, quota_mode: false',
        'messaging.all: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, quota_mode: true',
        'other.k: unit=MINUTE requests_per_unit=1, shadow_mode: false, quota_mode: false',
      ],
    )
  })

  test('the description shows values that the statistics key hides', () => {
    const counters = new KeyRecorder()
    const snapshot = compileRules(
      toRuleSet({ d: [{ key: 'ip', value: '10.0.0.1:80', limit: { requests: 1 } }] }),
      counters,
    )
    assert.match([...snapshot.describe()][0] ?? '', /^d\.ip_10\.0\.0\.1:80: /)
    assert.deepEqual([...counters.rules.keys()], ['d.ip_10_0_0_1_80'])
  })

  test('a domain without rules is known', () => {
    const snapshot = compileRules(set, new KeyRecorder())
    assert.ok(snapshot.hasDomain('empty'))
    assert.equal(snapshot.domainCount, 3)
    assert.equal(snapshot.ruleCount, 6)
    assert.equal(snapshot.match('empty', toDescriptor('k=1')), undefined)
  })

  test('no rules at all are a valid configuration', () => {
    const snapshot = compileRules({ domains: [], rules: [] }, new KeyRecorder())
    assert.ok(!snapshot.hasDomain('any'))
    assert.deepEqual([...snapshot.describe()], [])
  })

  test('a child before its parent throws a TypeError', () => {
    const orphan = set.rules[1]
    assert.ok(orphan)
    const wrong = { domains: set.domains, rules: [orphan] }
    assert.throws(() => compileRules(wrong, new KeyRecorder()), TypeError)
  })
})
