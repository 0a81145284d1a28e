import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSumByRule } from '../../../src/console/limits/live-counters.ts'
import type { ShownRule } from '../../../src/console/limits/rule-book.ts'
import { noCounts } from '../../../src/console/limits/statistics.ts'

type Level = Partial<Pick<ShownRule, 'key' | 'value' | 'valueToMetric'>>

/** A rule below others. All levels but the last have no limit. */
function nest(levels: readonly Level[], detailedMetric: boolean): ShownRule {
  const [first = {}, ...below] = levels
  const { key = 'k', value = '', valueToMetric = false } = first
  const isLast = below.length === 0
  return {
    ...{
      key,
      value,
      valueToMetric,
      shareThreshold: false,
      detailedMetric: isLast && detailedMetric,
    },
    path: 'of the rule',
    statisticsKey: isLast ? 'of the rule' : 'of a level above',
    limit: isLast
      ? {
          ...{ requestsPerUnit: 1, unit: 'DAY', windowSeconds: 86_400, algorithm: 'fixed_window' },
          ...{ unlimited: false, name: '', replaces: [] },
        }
      : undefined,
    limitText: '',
    shadowMode: false,
    quotaMode: false,
    place: undefined,
    rules: isLast ? [] : [nest(below, detailedMetric)],
  }
}

function belongsTo(rule: ShownRule, key: string): boolean {
  const domains = [{ domain: 'shop', rules: [rule] }]
  const sum = createSumByRule({ source: 'files', domains, notice: undefined })
  return sum(new Map([[key, { ...noCounts, total: 1 }]])).has('of the rule')
}

test('the key of a value belongs to the rule whose levels it consists of', () => {
  const detailed = nest([{ key: 'user' }, { key: 'path' }], true)
  assert.ok(belongsTo(detailed, 'shop.user_7.path_/a.b'))
  assert.ok(belongsTo(detailed, 'shop.user_.path_.path_.'))
  for (const key of [
    'shop.user.path_/',
    'shop.user_7.path',
    'shop.user_7',
    'x.shop.user_7.path_',
  ]) {
    assert.ok(!belongsTo(detailed, key), key)
  }
  const fixed = [
    { key: 'plan', value: 'gold' },
    { key: 'user', valueToMetric: true },
    { key: 'op' },
  ]
  const valued = nest(fixed, false)
  assert.ok(belongsTo(valued, 'shop.plan_gold.user_7.op'))
  assert.ok(belongsTo(valued, 'shop.plan_gold.user.op'))
  assert.ok(!belongsTo(valued, 'shop.plan_gold.user_7.op_1'))
  assert.ok(!belongsTo(valued, 'shop.plan_silver.user_7.op'))
})

test('keys are matched like by the equivalent regular expression', () => {
  const level = fc.record({
    key: fc.constantFrom('a', 'b', 'a_b'),
    value: fc.constantFrom('', '*', 'a'),
    valueToMetric: fc.boolean(),
  })
  const levels = fc.array(level, { minLength: 1, maxLength: 3 })
  const keyEnd = fc.array(fc.constantFrom('a', 'b', '_', '.', '.a', '.b_'), { maxLength: 8 })
  fc.assert(
    fc.property(levels, fc.boolean(), keyEnd, (chosen, isDetailed, end) => {
      const parts = chosen.map(({ key, value, valueToMetric }) => {
        if (value === 'a') return `${key}_a`
        if (isDetailed) return `${key}_.*`
        if (valueToMetric) return `${key}(?:_.*)?`
        return value === '' ? key : `${key}_\\*`
      })
      // A rule without values has one key, which is its statistics key.
      fc.pre(parts.some((part) => part.includes('.*')))
      const key = `shop.${end.join('')}`
      const expected = new RegExp(`^shop\\.${parts.join('\\.')}$`).test(key)
      assert.equal(belongsTo(nest(chosen, isDetailed), key), expected)
    }),
    { numRuns: 3_000 },
  )
})

test('values that contain the texts of many levels do not take long', () => {
  const levels = Array.from({ length: 8 }, (_, n) => ({ key: n < 7 ? 'b' : 'never' }))
  assert.ok(!belongsTo(nest(levels, true), `shop.b_${'.b_'.repeat(330)}`))
})
