import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compileRules, createSnapshotBuilder } from '../../src/rules/compile.ts'
import { KeyRecorder, type NestedRule, toDescriptor, toRuleSet } from '../support/nested-rules.ts'

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
  test('any slices give the same rules as one go', () => {
    const whole = compileRules(set, new KeyRecorder())
    for (let size = 1; size <= set.rules.length; size += 1) {
      const builder = createSnapshotBuilder(new KeyRecorder())
      for (let at = 0; at < set.rules.length; at += size)
        builder.add(set.rules.slice(at, at + size))
      const sliced = builder.finish(set.domains)
      assert.deepEqual([...sliced.describe()], [...whole.describe()])
      const descriptor = toDescriptor('message_type=marketing', 'to_number=1')
      assert.deepEqual(
        sliced.match('messaging', descriptor)?.limit,
        whole.match('messaging', descriptor)?.limit,
      )
      assert.notEqual(sliced.match('messaging', descriptor), undefined)
    }
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

  test('the description shows what the statistics key hides', () => {
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
    const snapshot = createSnapshotBuilder(new KeyRecorder()).finish([])
    assert.ok(!snapshot.hasDomain('any'))
    assert.deepEqual([...snapshot.describe()], [])
  })

  test('a child before its parent is a mistake of the programmer', () => {
    const orphan = set.rules[1]
    assert.ok(orphan)
    assert.throws(() => createSnapshotBuilder(new KeyRecorder()).add([orphan]), TypeError)
  })
})
