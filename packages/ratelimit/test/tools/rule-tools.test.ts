import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  checkRules,
  explainEntries,
  parseRuleLine,
  readRuleDirectory,
  toRuleLines,
  toRuleTree,
} from '@portcullis/ratelimit/rules'

const api = `domain: api
descriptors:
  - key: tenant
    descriptors:
      - key: operation
        value: "10.0.0.1:80"
        shadow_mode: true
        quota_mode: true
        rate_limit: { unit: minute, requests_per_unit: 30, unit_multiplier: 5, algorithm: sliding_window, name: wide }
  - key: free
    rate_limit: { unlimited: true, replaces: [{ name: wide }] }
`

const check = (...files: { name: string; text: string }[]) =>
  checkRules({ files, skipped: [], unreadable: [] })

test('a folder of rules is converted to a tree with places, limits and flags', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'rules-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'api.yaml'), api)
  writeFileSync(join(directory, 'empty.yaml'), 'domain: empty\ndescriptors: []\n')
  const { rules, findings } = checkRules(
    await readRuleDirectory(directory, { ignoreDotFiles: false }),
  )
  assert.deepEqual(findings, [])

  const [first, second] = toRuleTree(rules)
  assert.deepEqual(second, { domain: 'empty', rules: [] })
  assert.equal(first?.domain, 'api')
  const [tenant, free] = first.rules
  assert.equal(tenant?.limit, undefined)
  assert.deepEqual(free?.place, { file: 'api.yaml', line: 10, column: 5 })
  assert.deepEqual(free.limit?.replaces, ['wide'])
  assert.equal(free.limit.unlimited, true)
  const [operation] = tenant?.rules ?? []
  assert.equal(operation?.path, 'api.tenant.operation_10.0.0.1:80')
  assert.equal(operation.statisticsKey, 'api.tenant.operation_10_0_0_1_80')
  assert.equal(operation.shadowMode, true)
  assert.equal(operation.quotaMode, true)
  assert.deepEqual(operation.limit, {
    requestsPerUnit: 30,
    unit: 'MINUTE',
    windowSeconds: 300,
    algorithm: 'sliding_window',
    unlimited: false,
    name: 'wide',
    replaces: [],
  })
})

test('errors are reported with file, line, column and hint, and there are no rules then', () => {
  const text = 'domain: b\ndescriptors:\n  - key: a\n    rate_limit:\n      unit: minutes\n'
  const { rules, findings } = check({ name: 'a.yaml', text: api }, { name: 'b.yaml', text })
  assert.deepEqual(rules, { domains: [], rules: [] })
  assert.deepEqual(findings, [
    {
      severity: 'fault',
      file: 'b.yaml',
      line: 5,
      column: 13,
      message: "invalid rate limit unit 'minutes'",
      hint: 'units are second, minute, hour, day, week, month, year',
    },
  ])
})

test('a domain in two files is a fault unless domains are merged', () => {
  const files = ['a.yaml', 'b.yaml'].map((name) => ({
    name,
    text: `domain: api\ndescriptors:\n  - key: ${name}\n`,
  }))
  const directory = { files, skipped: [], unreadable: [] }
  assert.match(checkRules(directory).findings[0]?.message ?? '', /duplicate domain 'api'/)
  const merged = checkRules(directory, { mergeDomains: true })
  assert.deepEqual(merged.findings, [])
  assert.deepEqual(
    toRuleTree(merged.rules)[0]?.rules.map(({ key }) => key),
    ['a.yaml', 'b.yaml'],
  )
})

test('an explanation contains the rule and its counter, or near misses', () => {
  const { rules } = check({ name: 'api.yaml', text: api })
  const descriptors = [
    [
      { key: 'tenant', value: 'x' },
      { key: 'operation', value: '10.0.0.1:80' },
    ],
    [{ key: 'Tenant', value: 'x' }],
  ]
  const [met, missed] = explainEntries(
    rules,
    { domain: 'api', descriptors },
    { nowSeconds: 1_000_000_000 },
  )
  assert.equal(met?.outcome, 'limited')
  assert.equal(met.match?.rule?.place.line, 5)
  assert.equal(met.counter?.windowEnd, 1_000_000_200)
  assert.equal(missed?.outcome, 'no rule')
  assert.match(missed.nearMisses.join(), /keys are case-sensitive/)
})

test('the lines of /rlconfig can be parsed', () => {
  const { rules } = check({ name: 'api.yaml', text: api })
  const [sliding, unlimited] = toRuleLines(rules).map(parseRuleLine)
  assert.deepEqual(sliding, {
    path: 'api.tenant.operation_10.0.0.1:80',
    limit: {
      requestsPerUnit: 30,
      unit: 'MINUTE',
      windowSeconds: 300,
      algorithm: 'sliding_window',
      unlimited: false,
      name: '',
      replaces: [],
    },
    shadowMode: true,
    quotaMode: true,
  })
  assert.equal(unlimited?.limit.unlimited, true)
})

test('lines of envoyproxy/ratelimit without a quota mode are parsed, other lines are not', () => {
  const line = parseRuleLine('d.k_v: unit=HOUR requests_per_unit=5, shadow_mode: false')
  assert.equal(line?.path, 'd.k_v')
  assert.equal(line.limit.windowSeconds, 3_600)
  assert.equal(line.quotaMode, false)
  assert.equal(parseRuleLine('<html>'), undefined)
})
