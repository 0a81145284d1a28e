import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { toPlainLimit } from '../../../src/hot/rule-limit.ts'
import { createOverrideWarning } from '../../../src/rules/match/override.ts'
import { compileRules } from '../../../src/rules/match/snapshot.ts'
import {
  KeyRecorder,
  type NestedRule,
  toDescriptor,
  toRuleSet,
} from '../../support/nested-rules.ts'

const snapshotOf = (...rules: readonly NestedRule[]) =>
  compileRules(toRuleSet({ d: rules }), new KeyRecorder())

/** The path of the rule whose limit applies. */
const pathFor = (rules: readonly NestedRule[], ...pairs: string[]) =>
  snapshotOf(...rules).match('d', toDescriptor(...pairs))?.limit.path

const limit = { requests: 5 }

suite('matching', () => {
  test('the exact value is tried before wildcards, and those before the key alone', () => {
    const rules = [
      { key: 'k', limit },
      { key: 'k', value: 'a*', limit },
      { key: 'k', value: 'ab', limit },
    ]
    assert.equal(pathFor(rules, 'k=ab'), 'd.k_ab')
    assert.equal(pathFor(rules, 'k=abc'), 'd.k_a*')
    assert.equal(pathFor(rules, 'k=b'), 'd.k')
    assert.equal(pathFor(rules, 'k='), 'd.k')
  })

  test('a descriptor matches only rules of its own depth', () => {
    const rules = [{ key: 'a', limit, rules: [{ key: 'b', limit, rules: [{ key: 'c', limit }] }] }]
    assert.equal(pathFor(rules, 'a=1'), 'd.a')
    assert.equal(pathFor(rules, 'a=1', 'b=1'), 'd.a.b')
    assert.equal(pathFor(rules, 'a=1', 'b=1', 'c=1'), 'd.a.b.c')
    assert.equal(pathFor(rules, 'a=1', 'b=1', 'c=1', 'd=1'), undefined)
    assert.equal(pathFor(rules, 'b=1'), undefined)
    assert.equal(pathFor(rules, 'b=1', 'a=1'), undefined)
    assert.equal(pathFor(rules), undefined)
  })

  test('once a value has matched, the rule without a value is not tried', () => {
    const rules = [
      { key: 'a', value: 'x', rules: [{ key: 'b', limit }] },
      { key: 'a', rules: [{ key: 'c', limit }] },
    ]
    assert.equal(pathFor(rules, 'a=x', 'c=1'), undefined)
    assert.equal(pathFor(rules, 'a=y', 'c=1'), 'd.a.c')
  })

  test('key and value are compared separately', () => {
    const rules = [
      { key: 'a', value: 'b_c', limit },
      { key: 'user', value: '*', limit },
    ]
    assert.equal(pathFor(rules, 'a=b_c'), 'd.a_b_c')
    assert.equal(pathFor(rules, 'a_b=c'), undefined)
    assert.equal(pathFor(rules, 'user_id=7'), undefined)
    assert.equal(pathFor(rules, 'user=7'), 'd.user_*')
    assert.equal(pathFor(rules, 'user='), 'd.user_*')
  })

  test('a star in a request is a plain character', () => {
    const rules = [
      { key: 'k', value: 'first*', limit },
      { key: 'k', value: 'f*', limit },
    ]
    assert.equal(pathFor(rules, 'k=f*'), 'd.k_f*')
    assert.equal(pathFor(rules, 'k=first*'), 'd.k_first*')
    assert.equal(pathFor([{ key: 'k', value: 'abc', limit }], 'k=*'), undefined)
  })

  test('names of properties that every object has are ordinary keys', () => {
    assert.equal(pathFor([{ key: 'a', limit }], '__proto__=constructor'), undefined)
    const rules = [{ key: '__proto__', value: 'constructor', limit }]
    assert.equal(pathFor(rules, '__proto__=constructor'), 'd.__proto___constructor')
  })

  test('a rule without a limit whitelists, an unknown domain matches nothing', () => {
    const snapshot = snapshotOf({ key: 'free' }, { key: 'k', limit })
    assert.equal(snapshot.match('d', toDescriptor('free=1')), undefined)
    assert.equal(snapshot.match('other', toDescriptor('k=1')), undefined)
    assert.ok(snapshot.hasDomain('d'))
    assert.ok(!snapshot.hasDomain('D'))
  })

  test('a match contains everything of the rule', () => {
    const metadata = { team: 'x' }
    const snapshot = snapshotOf({
      key: 'k',
      value: 'v',
      shadowMode: true,
      quotaMode: true,
      metadata,
      limit: { per: 'WEEK', requests: 7, name: 'seven', replaces: ['eight'] },
    })
    const match = snapshot.match('d', toDescriptor('k=v'))
    assert.deepEqual(match && toPlainLimit(match.limit), {
      requestsPerUnit: 7,
      unit: { name: 'WEEK', wire: 7, seconds: 604_800 },
      windowSeconds: 604_800,
      algorithm: 'fixed_window',
      unlimited: false,
      name: 'seven',
      replaces: ['eight'],
      shadowMode: true,
      quotaMode: true,
      metadata,
      path: 'd.k_v',
    })
  })

  test('an unlimited rule has no unit', () => {
    const match = snapshotOf({ key: 'k', limit: { unlimited: true } }).match(
      'd',
      toDescriptor('k=v'),
    )
    assert.equal(match?.limit.unlimited, true)
    assert.equal(match?.limit.unit, undefined)
  })

  test('the same rule returns the same match object again', () => {
    const snapshot = snapshotOf({ key: 'k', limit })
    assert.equal(snapshot.match('d', toDescriptor('k=1')), snapshot.match('d', toDescriptor('k=2')))
  })

  test('levels with share_threshold contain their pattern', () => {
    const snapshot = snapshotOf({
      key: 'a',
      rules: [
        {
          key: 'files',
          value: 'files/*',
          shareThreshold: true,
          limit,
          rules: [{ key: 'kind', limit }],
        },
      ],
    })
    const files = snapshot.match('d', toDescriptor('a=1', 'files=files/a.pdf'))
    assert.deepEqual(files?.sharedValues, [undefined, 'files/*'])
    const kind = snapshot.match('d', toDescriptor('a=1', 'files=files/a.pdf', 'kind=x'))
    assert.deepEqual(kind?.sharedValues, [undefined, 'files/*', undefined])
    const plain = snapshotOf({ key: 'a', value: 'x*', limit })
    assert.equal(plain.match('d', toDescriptor('a=xy'))?.sharedValues, undefined)
  })

  test('metadata is kept with statistics by value', () => {
    const metadata = { a: 1 }
    const snapshot = snapshotOf({ key: 'k', detailedMetric: true, metadata, limit })
    assert.deepEqual(snapshot.match('d', toDescriptor('k=v'))?.limit.metadata, metadata)
  })
})

suite('limits in requests', () => {
  const withLimit = (requestsPerUnit: number, unit: number, ...pairs: string[]) => ({
    ...toDescriptor(...pairs),
    limit: { requestsPerUnit, unit },
  })

  test('they need a known domain, but no rule', () => {
    const counters = new KeyRecorder()
    const rules = [{ key: 'k', shadowMode: true, limit: { requests: 1, name: 'n' } }]
    const snapshot = compileRules(toRuleSet({ d: rules }), counters)
    for (const pair of ['k=1', 'other=1']) {
      const match = snapshot.match('d', withLimit(42, 3, pair, 'e='))
      assert.equal(match?.limit.requestsPerUnit, 42)
      assert.equal(match?.limit.unit?.name, 'HOUR')
      assert.equal(match?.limit.name, '')
      assert.equal(match?.limit.shadowMode, false)
      assert.equal(counters.keyOf(match?.counters), `d.${pair.replace('=', '_')}.e`)
    }
    assert.equal(snapshot.match('unknown', withLimit(42, 3, 'k=1')), undefined)
  })

  test('the numbers of all seven units are known', () => {
    const snapshot = snapshotOf({ key: 'k', limit })
    const names = [1, 2, 3, 4, 5, 6, 7].map(
      (unit) => snapshot.match('d', withLimit(1, unit, 'k=1'))?.limit.unit?.name,
    )
    assert.deepEqual(names, ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'WEEK'])
  })

  test('with an unknown unit the configured rule is used, with one warning', () => {
    const warnings: string[] = []
    const warn = createOverrideWarning((message) => warnings.push(message))
    const set = toRuleSet({ d: [{ key: 'k', limit }] })
    const snapshot = compileRules(set, new KeyRecorder(), warn)
    for (const unit of [0, 8, -1, 1e9]) {
      assert.equal(snapshot.match('d', withLimit(42, unit, 'k=1'))?.limit.path, 'd.k')
      assert.equal(snapshot.match('d', withLimit(42, unit, 'x=1')), undefined)
    }
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /domain 'd'.*unknown unit 0/)
  })
})
