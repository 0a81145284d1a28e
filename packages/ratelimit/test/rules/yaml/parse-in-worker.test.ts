import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packRules } from '../../../src/hot/pack-rules.ts'
import { RuleTable } from '../../../src/hot/rule-table.ts'
import { RuleSnapshot } from '../../../src/rules/match/snapshot.ts'
import { parseRuleFiles } from '../../../src/rules/yaml/parse.ts'
import { parseInWorker } from '../../../src/rules/yaml/parse-thread.ts'
import { KeyRecorder, toDescriptor } from '../../support/nested-rules.ts'

const noRules = packRules({ domains: [], rules: [] })

function createFile(name: string, domain: string, count: number) {
  let text = `domain: ${domain}\ndescriptors:\n`
  for (let index = 0; index < count; index++) {
    text += `  - key: k\n    value: "é${index}*"\n    share_threshold: ${index % 2 === 0}\n`
    text += `    shadow_mode: ${index % 3 === 0}\n    value_to_metric: true\n`
    text += `    rate_limit: {unit: day, requests_per_unit: ${index}, name: n, replaces: [{name: m}]}\n`
    text += `    metadata: {__proto__: [1, ~]}\n    descriptors:\n      - key: child\n`
    text += '        rate_limit: {unlimited: true}\n'
  }
  return { name, text }
}

test('the worker returns the same rules as the parser', async () => {
  const files = [createFile('a.yaml', 'a', 700), createFile('b.yaml', 'b', 3)]
  const inline = parseRuleFiles(files, { mergeDomains: false })
  assert.deepEqual(inline.faults, [])
  assert.equal(inline.rules.rules.length, 1_406)
  const { rules, faults, warnings } = await parseInWorker(files, { mergeDomains: false })
  assert.deepEqual(rules, packRules(inline.rules))
  assert.deepEqual(faults, [])
  assert.deepEqual(warnings, inline.warnings)
})

test('the packed rules of the worker can be matched and described', async () => {
  const { rules } = await parseInWorker([createFile('a.yaml', 'a', 3)], { mergeDomains: false })
  const counters = new KeyRecorder()
  const snapshot = new RuleSnapshot({ rules, counters, onIgnoredOverride: () => {} })
  const match = snapshot.match('a', toDescriptor('k=é2x'))
  assert.deepEqual(match?.limit.replaces, ['m'])
  assert.deepEqual(match?.sharedValues, ['é2*'])
  assert.deepEqual(JSON.stringify(match?.limit.metadata), '{"__proto__":[1,null]}')
  assert.deepEqual(
    [...snapshot.describe()].map((line) => line.split(': ')[0]),
    ['a.k_é0*', 'a.k_é0*.child', 'a.k_é1*', 'a.k_é1*.child', 'a.k_é2*', 'a.k_é2*.child'],
  )
})

test('the worker returns the same faults and warnings as the parser, without rules', async () => {
  const files = [
    { name: 'a.yaml', text: 'domain: d\ndescriptors: [{key: k, unit: day}]\n' },
    { name: 'b.yaml', text: 'domain: d\ndescriptors: [{key: k, unti: day}]\n' },
  ]
  const { faults, warnings } = parseRuleFiles(files, { mergeDomains: true })
  assert.equal(faults.length, 2)
  const result = await parseInWorker(files, { mergeDomains: true })
  assert.deepEqual(result, { rules: noRules, faults, warnings })
})

test('large files reach the worker completely', async () => {
  const files = [createFile('a.yaml', 'a', 6000)]
  assert.ok((files[0]?.text.length ?? 0) > 1_000_000)
  const { rules, faults } = await parseInWorker(files, { mergeDomains: false })
  assert.deepEqual(faults, [])
  assert.equal(new RuleTable(rules).rowCount, 12_001)
})

test('files that were read in pieces reach the worker completely', async () => {
  const { name, text } = createFile('a.yaml', 'a', 50)
  const pieces = [text.slice(0, 1_001), '', text.slice(1_001, 1_002), text.slice(1_002)]
  const whole = await parseInWorker([{ name, text }], { mergeDomains: false })
  assert.deepEqual(whole.faults, [])
  assert.deepEqual(await parseInWorker([{ name, text, pieces }], { mergeDomains: false }), whole)
})

test('without files there are no rules', async () => {
  const result = await parseInWorker([], { mergeDomains: false })
  assert.deepEqual(result, { rules: noRules, faults: [], warnings: [] })
})

test('a worker that runs out of memory is a fault', async () => {
  const files = [createFile('a.yaml', 'a', 40_000), { name: 'b.yaml', text: '' }]
  const { faults } = await parseInWorker(files, { mergeDomains: false, maxHeapMb: 16 })
  assert.deepEqual(faults, [
    {
      message: 'error loading config file: the rule files need more memory than is available',
      place: { file: 'a.yaml and 1 more', line: 1, column: 1 },
    },
  ])
})
