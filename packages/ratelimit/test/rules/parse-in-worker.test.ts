import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRuleFiles } from '../../src/rules/parse.ts'
import { parseInWorker } from '../../src/rules/parse-in-worker.ts'
import type { RuleRecord } from '../../src/rules/rule.ts'

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

test('the worker finds what the parser finds, in parts', async () => {
  const files = [createFile('a.yaml', 'a', 700), createFile('b.yaml', 'b', 3)]
  const inline = parseRuleFiles(files, { mergeDomains: false })
  assert.deepEqual(inline.faults, [])
  const parts: RuleRecord[][] = []
  const result = await parseInWorker(files, { mergeDomains: false }, (part) => {
    parts.push(part)
  })
  assert.deepEqual(result, { domains: ['a', 'b'], faults: [], warnings: inline.warnings })
  assert.deepEqual(
    parts.map((part) => part.length),
    [500, 500, 406],
  )
  assert.deepEqual(parts.flat(), inline.rules.rules)
})

test('the worker waits until a part is dealt with', async () => {
  let busy = 0
  let most = 0
  await parseInWorker([createFile('a.yaml', 'a', 800)], { mergeDomains: false }, async () => {
    busy++
    most = Math.max(most, busy)
    await new Promise((resolve) => setTimeout(resolve, 5))
    busy--
  })
  assert.equal(most, 1)
})

test('faults and warnings come back as the parser found them, without rules', async () => {
  const files = [
    { name: 'a.yaml', text: 'domain: d\ndescriptors: [{key: k, unit: day}]\n' },
    { name: 'b.yaml', text: 'domain: d\ndescriptors: [{key: k, unti: day}]\n' },
  ]
  const { faults, warnings } = parseRuleFiles(files, { mergeDomains: true })
  assert.equal(faults.length, 2)
  let parts = 0
  const result = await parseInWorker(files, { mergeDomains: true }, () => void parts++)
  assert.deepEqual(result, { domains: [], faults, warnings })
  assert.equal(parts, 0)
})

test('large files reach the worker whole', async () => {
  const files = [createFile('a.yaml', 'a', 6000)]
  assert.ok((files[0]?.text.length ?? 0) > 1_000_000)
  let count = 0
  const { faults } = await parseInWorker(files, { mergeDomains: false }, (part) => {
    count += part.length
  })
  assert.deepEqual(faults, [])
  assert.equal(count, 12_000)
})

test('no files are no rules', async () => {
  const result = await parseInWorker([], { mergeDomains: false }, () => assert.fail('no rules'))
  assert.deepEqual(result, { domains: [], faults: [], warnings: [] })
})

test('a worker that runs out of memory is a fault', async () => {
  const files = [createFile('a.yaml', 'a', 40_000), { name: 'b.yaml', text: '' }]
  const { faults } = await parseInWorker(files, { mergeDomains: false, maxHeapMb: 16 }, () => {})
  assert.deepEqual(faults, [
    {
      message: 'error loading config file: the rule files need more memory than there is',
      place: { file: 'a.yaml and 1 more', line: 1, column: 1 },
    },
  ])
})

test('a failure of the caller is the caller’s', async () => {
  const failure = new Error('compile failed')
  const parsing = parseInWorker([createFile('a.yaml', 'a', 1)], { mergeDomains: false }, () => {
    throw failure
  })
  await assert.rejects(parsing, failure)
})
