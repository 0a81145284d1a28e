import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileRules } from '../../../src/rules/match/snapshot.ts'
import { Statistics } from '../../../src/stats/registry.ts'
import { parseText } from '../../support/parse-text.ts'

test('only windows of several units and sliding windows add fields to the line', () => {
  const { rules } = parseText(`
domain: d
descriptors:
  - { key: usual, rate_limit: { unit: minute, requests_per_unit: 1 } }
  - { key: long, rate_limit: { unit: minute, unit_multiplier: 5, requests_per_unit: 2 } }
  - key: both
    rate_limit: { unit: hour, unit_multiplier: 2, requests_per_unit: 3, algorithm: sliding_window }
`)
  const snapshot = compileRules(rules, new Statistics({ maxRequestKeys: 10 }).rules)
  assert.deepEqual(
    [...snapshot.describe()],
    [
      'd.usual: unit=MINUTE requests_per_unit=1, shadow_mode: false, quota_mode: false',
      'd.long: unit=MINUTE requests_per_unit=2, shadow_mode: false, quota_mode: false unit_multiplier=5',
      'd.both: unit=HOUR requests_per_unit=3, shadow_mode: false, quota_mode: false' +
        ' unit_multiplier=2 algorithm=sliding_window',
    ],
  )
  assert.match(
    [...snapshot.describeLoad()].at(-1) ?? '',
    /quota_mode=false unit_multiplier=2 algorithm=sliding_window\}$/,
  )
})
