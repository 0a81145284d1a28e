import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuleSnapshot } from '../../../src/rules/match/snapshot.ts'
import { algorithms, longestWindowSeconds, units } from '../../../src/rules/model/rule.ts'
import { parseInWorker } from '../../../src/rules/yaml/parse-thread.ts'
import { KeyRecorder, toDescriptor } from '../../support/nested-rules.ts'
import { faultsOf, parseText, rulesOf, warningsOf } from '../../support/parse-text.ts'

/** A file with one rule whose limit has the given fields in addition to the required ones. */
function fileWith(fields: string): string {
  const limit = `{unit: minute, requests_per_unit: 1${fields === '' ? '' : `, ${fields}`}}`
  return `{domain: d, descriptors: [{key: k, rate_limit: ${limit}}]}`
}

function limitWith(fields: string) {
  const [rule] = rulesOf(fileWith(fields))
  assert.ok(rule?.limit)
  return rule.limit
}

test('a window lasts one unit by default', () => {
  assert.equal(limitWith('').unitMultiplier, 1)
  assert.equal(limitWith('unit_multiplier: 1').unitMultiplier, 1)
  assert.equal(limitWith('unit_multiplier: 5').unitMultiplier, 5)
  assert.equal(limitWith('unit_multiplier: 0x10').unitMultiplier, 16)
  assert.equal(limitWith('unit_multiplier: ~').unitMultiplier, 1)
})

test('hits are counted in fixed windows by default', () => {
  assert.equal(limitWith('').algorithm, 'fixed_window')
  assert.equal(limitWith('algorithm: ~').algorithm, 'fixed_window')
  for (const name of algorithms) assert.equal(limitWith(`algorithm: ${name}`).algorithm, name)
})

test('windows of every unit may last ten years and no longer', () => {
  for (const { name, seconds } of units) {
    const most = Math.floor(longestWindowSeconds / seconds)
    const text = (multiplier: number) =>
      `{domain: d, descriptors: [{key: k, rate_limit: {unit: ${name}, requests_per_unit: 1, ` +
      `unit_multiplier: ${multiplier}}}]}`
    assert.equal(rulesOf(text(most))[0]?.limit?.unitMultiplier, most)
    const [fault] = parseText(text(most + 1)).faults
    const unit = name.toLowerCase()
    assert.equal(
      fault?.message,
      `rate limit window of ${most + 1} ${unit}s is longer than 10 years`,
    )
    assert.equal(fault?.hint, `with unit ${unit}, unit_multiplier is at most ${most}`)
  }
})

test('the fault of a misspelled algorithm contains a suggestion and all algorithms', () => {
  const hintOf = (name: string) => parseText(fileWith(`algorithm: ${name}`)).faults[0]?.hint
  const all = 'algorithms are fixed_window, sliding_window'
  assert.equal(hintOf('sliding-window'), `did you mean 'sliding_window'? ${all}`)
  assert.equal(hintOf('Fixed_Window'), `did you mean 'fixed_window'? ${all}`)
  assert.equal(hintOf('token_bucket'), all)
})

test('the fault of a misspelled field contains a suggestion', () => {
  const hintOf = (field: string) => parseText(fileWith(field)).faults[0]?.hint
  assert.equal(hintOf('unit_multiplyer: 5'), "did you mean 'unit_multiplier'?")
  assert.equal(hintOf('algorythm: fixed_window'), "did you mean 'algorithm'?")
})

test('an unlimited rule with every field of a window has a fault for each', () => {
  const text = `domain: d
descriptors:
  - key: k
    rate_limit: {unlimited: true, unit: day, unit_multiplier: 2, algorithm: fixed_window}`
  assert.deepEqual(faultsOf(text), [
    'a.yaml: should not specify rate limit unit when unlimited (line 4, column 41)',
    'a.yaml: should not specify rate limit unit_multiplier when unlimited (line 4, column 63)',
    'a.yaml: should not specify rate limit algorithm when unlimited (line 4, column 77)',
  ])
})

test('a bad multiplier is not reported twice', () => {
  assert.equal(faultsOf(fileWith('unit_multiplier: -1')).length, 1)
  assert.equal(faultsOf(fileWith('unit_multiplier: 4294967296')).length, 1)
  assert.equal(faultsOf(fileWith('unit_multiplier: 1.5')).length, 1)
})

test('limit fields next to a key cause a warning', () => {
  const text = 'domain: d\ndescriptors:\n  - {key: k, unit_multiplier: 5, algorithm: fixed_window}'
  assert.deepEqual(warningsOf(text), [
    "a.yaml: 'unit_multiplier' has no effect here, it belongs inside rate_limit (line 3, column 14)",
    "a.yaml: 'algorithm' has no effect here, it belongs inside rate_limit (line 3, column 34)",
  ])
})

test('both fields are kept when rules are transferred between threads', async () => {
  const text = fileWith('unit_multiplier: 7, algorithm: sliding_window')
  const { rules } = await parseInWorker([{ name: 'a.yaml', text }], { mergeDomains: false })
  const parts = { rules, counters: new KeyRecorder(), onIgnoredOverride: () => {} }
  const limit = new RuleSnapshot(parts).match('d', toDescriptor('k=v'))?.limit
  assert.equal(limit?.windowSeconds, 7 * 60)
  assert.equal(limit?.algorithm, 'sliding_window')
})
