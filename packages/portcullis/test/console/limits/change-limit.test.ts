import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeLimit, unitByName } from '../../../src/console/limits/change-limit.ts'

function change(text: string, path: string, requestsPerUnit = 7, unitName = 'hour') {
  const unit = unitByName(unitName)
  assert.ok(unit)
  const directory = { files: [{ name: 'shop.yaml', text }], skipped: [], unreadable: [] }
  return changeLimit(directory, path, { requestsPerUnit, unit })
}

const blocks = `# The limits of the shop.
domain: shop
descriptors:
  - key: tenant
    descriptors:
      - key: operation
        value: export
        rate_limit:
          requests_per_unit: 20 # per tenant
          unit: day
    rate_limit: # after the nested rule
      unit: minute
      requests_per_unit: 100
  - key: user
    rate_limit:
      unit: "second"
      name: burst
      requests_per_unit: 5
`

test('the limit of a rule is replaced, and the rest of the file stays', () => {
  assert.deepEqual(change(blocks, 'shop.tenant.operation_export'), {
    ...{ file: 'shop.yaml', line: 6, before: '20 per day', after: '7 per hour' },
    text: blocks.replace(
      '20 # per tenant\n          unit: day',
      '7 # per tenant\n          unit: hour',
    ),
  })
  const outer = change(blocks, 'shop.tenant')
  assert.equal(
    outer.text,
    blocks.replace(
      'unit: minute\n      requests_per_unit: 100',
      'unit: hour\n      requests_per_unit: 7',
    ),
  )
})

test('a limit after many nested rules is replaced, and quotes and Windows line ends are allowed', () => {
  const nested = Array.from(
    { length: 300 },
    (_, at) =>
      `      - key: b\r\n        value: v${at}\r\n        rate_limit: { unit: day, requests_per_unit: 3 }\r\n`,
  )
  const toText = (limit: string) =>
    `domain: shop\r\ndescriptors:\r\n  - descriptors:\r\n${nested.join('')}\r\n# Not indented.\r\n    rate_limit:\r\n${limit}    key: a\r\n`
  const before = toText(`      'unit': "day"\r\n      requests_per_unit: 3\r\n`)
  const after = toText(`      'unit': hour\r\n      requests_per_unit: 7\r\n`)
  assert.equal(change(before, 'shop.a').text, after)
})

test('flow style works, and rules on the same line stay', () => {
  const text = `domain: shop
descriptors: [{ key: a, rate_limit: { unit: day, requests_per_unit: 3 } }, { key: b, rate_limit: { requests_per_unit: 3, unit: day } }]
`
  assert.equal(
    change(text, 'shop.b', 1000).text,
    text.replace('requests_per_unit: 3, unit: day', 'requests_per_unit: 1000, unit: hour'),
  )
})

test('a rule that is missing, ambiguous or without a plain limit is refused', () => {
  assert.throws(() => change(blocks, 'shop.usr'), {
    message:
      'There is no rule "shop.usr". Rules with a limit: shop.tenant, shop.tenant.operation_export, shop.user. Did you mean shop.user?',
  })
  const head = 'domain: shop\ndescriptors:\n'
  for (const [rule, message] of [
    [
      '  - { key: a, rate_limit: { unlimited: true } }\n',
      /^The limit cannot be replaced\. Edit the rule shop\.a in shop\.yaml, line 3\.$/,
    ],
    [
      '  - { key: a, rate_limit: &one { unit: day, requests_per_unit: 3 } }\n  - { key: b, rate_limit: *one }\n',
      /^The limit cannot be replaced\. Edit the rule shop\.a in shop\.yaml, line 3\.$/,
    ],
    [
      '  - { key: b, rate_limit: &one { unit: day, requests_per_unit: 3 } }\n  - { key: a, rate_limit: *one }\n',
      /^The limit cannot be replaced\. Edit the rule shop\.a in shop\.yaml, line 4\.$/,
    ],
    [
      '  - { key: a, descriptors: [{ key: b }] }\n',
      /^The rule has no limit\. Edit the rule shop\.a in/,
    ],
    [
      '  - { key: a, rate_limit: { unit: minute, unit_multiplier: 5, requests_per_unit: 3 } }\n',
      /^The limit cannot be replaced\./,
    ],
    [
      '  - { key: a, rate_limit: { unit: eon, requests_per_unit: 3 } }\n',
      /^The rule files contain an error: shop\.yaml, line/,
    ],
    [
      '  - { key: a.b, rate_limit: { unit: day, requests_per_unit: 3 } }\n  - { key: a, descriptors: [{ key: b, rate_limit: { unit: day, requests_per_unit: 3 } }] }\n',
      /^Two rules have the name shop\.a\.b: shop\.yaml, line 3 and shop\.yaml, line 4\. Edit the file\.$/,
    ],
  ] as const) {
    const path = rule.includes('a.b') ? 'shop.a.b' : 'shop.a'
    assert.throws(() => change(head + rule, path), { message })
  }
})
