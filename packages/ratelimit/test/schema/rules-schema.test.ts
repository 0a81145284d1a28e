import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { parse as parseAsEditor } from 'yaml'
import { algorithms, longestWindowSeconds, units } from '../../src/rules/model/rule.ts'
import { parseRuleFiles } from '../../src/rules/yaml/parse.ts'
import { fieldNames } from '../../src/rules/yaml/parse-drafts.ts'
import { anyRuleFile, hasUnlimitedWithUnknownUnit } from './support/rule-file-data.ts'

const file = join(import.meta.dirname, '../../schema/rules.schema.json')
const schema = JSON.parse(readFileSync(file, 'utf8'))
const accepts = new Ajv2020({ allowUnionTypes: true }).compile(schema)

/** The findings of `check --strict`: faults and warnings. */
function findingsOf(text: string): string[] {
  const { faults, warnings } = parseRuleFiles([{ name: 'a.yaml', text }], { mergeDomains: false })
  return [...faults, ...warnings].map(({ message }) => message)
}

/** Faults that a schema cannot detect, because they involve several rules. */
const beyondSchema = [
  /^duplicate descriptor composite key/,
  /^replaces should not contain name of same descriptor/,
]

suite('the JSON Schema of rule files', () => {
  test('has every field that the parser reads, and no other', () => {
    const { rule, rate_limit, replaced_name } = schema.$defs
    const byKind = { file: schema, rule, limit: rate_limit, replacedName: replaced_name }
    for (const [kind, names] of Object.entries(fieldNames)) {
      const described = Reflect.get(byKind, kind)
      assert.deepEqual(Object.keys(described.properties).sort(), [...names].sort(), kind)
      assert.equal(described.additionalProperties, false)
    }
  })

  test('describes every field', () => {
    const parts: Described[] = [schema, ...Object.values<Described>(schema.$defs)]
    for (const part of parts) {
      assert.ok(part.description)
      for (const [name, field] of Object.entries(part.properties)) {
        assert.ok(field.description ?? schema.$defs[name]?.description, name)
      }
    }
  })

  test('lists the units and algorithms that the parser knows', () => {
    const { unit, algorithm } = schema.$defs.rate_limit.properties
    assert.deepEqual(
      unit.anyOf[0].enum,
      units.map(({ name }) => name.toLowerCase()),
    )
    assert.deepEqual(algorithm.enum, [...algorithms, null])
  })

  test('accepts units in any case and windows of up to ten years', () => {
    for (const { name, seconds } of units) {
      const most = Math.floor(longestWindowSeconds / seconds)
      const lower = name.toLowerCase()
      for (const unit of [name, lower, `${lower.slice(0, 1)}${name.slice(1)}`]) {
        const fileWith = (unit_multiplier: number) => ({
          domain: 'd',
          descriptors: [{ key: 'k', rate_limit: { unit, requests_per_unit: 1, unit_multiplier } }],
        })
        assert.ok(accepts(fileWith(most)), `${most} ${unit}s`)
        assert.ok(!accepts(fileWith(most + 1)), `${most + 1} ${unit}s`)
      }
      assert.ok(!accepts(toFile({ unit: `${lower}s`, requests_per_unit: 1 })))
    }
  })

  test('accepts exactly the files without findings of the parser', () => {
    const seen = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(anyRuleFile, (data) => {
        const visible = findingsOf(JSON.stringify(data)).filter(
          (message) => !beyondSchema.some((pattern) => pattern.test(message)),
        )
        const isFine = visible.length === 0 && !hasUnlimitedWithUnknownUnit(data)
        seen[isFine ? 'accepted' : 'refused'] += 1
        assert.equal(accepts(data), isFine, `${visible.join('; ')} / ${toErrors()}`)
      }),
      { numRuns: 1200 },
    )
    assert.ok(seen.accepted > 200 && seen.refused > 200, JSON.stringify(seen))
  })

  test('accepts the example rules', () => {
    const directory = join(import.meta.dirname, '../../../../examples/ratelimit/config')
    for (const name of ['api.yaml', 'messaging.yaml', 'plans.yaml']) {
      const text = readFileSync(join(directory, name), 'utf8')
      assert.ok(accepts(parseAsEditor(text)), `${name}: ${toErrors()}`)
    }
  })
})

interface Described {
  readonly description?: string
  readonly properties: Readonly<Record<string, { readonly description?: string }>>
}

function toFile(rate_limit: unknown, rule: object = {}) {
  return { domain: 'd', descriptors: [{ key: 'k', rate_limit, ...rule }] }
}

function toErrors(): string {
  return (accepts.errors ?? [])
    .map(({ instancePath, message }) => `${instancePath} ${message}`)
    .join('; ')
}

const limit = 'rate_limit: {unit: day, requests_per_unit: 1'

/**
 * Differences between schema and parser, each with a file. Editors read YAML 1.2, the parser YAML 1.1 like
 * Go.
 */
const accepted: readonly (readonly [what: string, text: string, finding: RegExp])[] = [
  [
    'two equal sibling rules',
    'domain: d\ndescriptors: [{key: k}, {key: k}]',
    /^duplicate descriptor composite key 'd\.k'/,
  ],
  [
    'a rule that replaces itself',
    `domain: d\ndescriptors: [{key: k, ${limit}, name: n, replaces: [{name: n}]}}]`,
    /^replaces should not contain name of same/,
  ],
  [
    'a field that occurs twice',
    'domain: d\ndomain: e\ndescriptors: []',
    /^'domain' occurs twice; the last one is used/,
  ],
  [
    'an integer written with a fraction',
    'domain: d\ndescriptors: [{key: k, value: 1.0}]',
    /^error checking config/,
  ],
  [
    'an integer of more than 64 bits instead of text',
    'domain: d\ndescriptors: [{key: k, value: 36893488147419103232}]',
    /^error checking config/,
  ],
  [
    'metadata that JSON cannot represent',
    'domain: d\ndescriptors: [{key: k, metadata: {a: .nan}}]',
    /^error parsing metadata/,
  ],
]

const refused: readonly (readonly [what: string, text: string])[] = [
  [
    'an unknown unit in an unlimited rule, as in envoyproxy/ratelimit',
    'domain: d\ndescriptors: [{key: k, rate_limit: {unlimited: true, unit: fortnight}}]',
  ],
  [
    'booleans written as in YAML 1.1',
    'domain: d\ndescriptors: [{key: k, shadow_mode: yes, quota_mode: Off}]',
  ],
  [
    'integers written as in YAML 1.1',
    'domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 1_000}}]',
  ],
]

suite('differences between the JSON Schema and the parser', () => {
  for (const [what, text, finding] of accepted) {
    test(`the schema accepts ${what}, the parser does not`, () => {
      const findings = findingsOf(text)
      assert.equal(findings.length, 1)
      assert.match(findings[0] ?? '', finding)
      assert.ok(accepts(parseAsEditor(text, { uniqueKeys: false })), toErrors())
    })
  }

  test('the schema accepts a domain in two files, the parser only if domains are merged', () => {
    const text = 'domain: d\ndescriptors: []'
    const files = [
      { name: 'a.yaml', text },
      { name: 'b.yaml', text },
    ]
    const [fault] = parseRuleFiles(files, { mergeDomains: false }).faults
    assert.match(fault?.message ?? '', /^duplicate domain 'd'/)
    assert.ok(accepts(parseAsEditor(text)))
  })

  test('the schema accepts more than a thousand levels, the parser does not', () => {
    const list = `${'['.repeat(1200)}${']'.repeat(1200)}`
    const text = `{"domain": "d", "descriptors": [{"key": "k", "metadata": {"a": ${list}}}]}`
    assert.match(findingsOf(text)[0] ?? '', /nested deeper than 1000 levels/)
    assert.ok(accepts(JSON.parse(text)))
  })

  for (const [what, text] of refused) {
    test(`the parser accepts ${what}, the schema does not`, () => {
      assert.deepEqual(findingsOf(text), [])
      assert.ok(!accepts(parseAsEditor(text)))
    })
  }

  test('the schema refuses what causes a warning', () => {
    for (const text of [
      'domain: d',
      'domain: d\ndescriptors: [{key: k, rate_limit: {unit: day}}]',
      'domain: d\ndescriptors: [{key: k, unit: day}]',
    ]) {
      const parsed = parseRuleFiles([{ name: 'a.yaml', text }], { mergeDomains: false })
      assert.deepEqual(parsed.faults, [])
      assert.equal(parsed.warnings.length, 1)
      assert.ok(!accepts(parseAsEditor(text)))
    }
  })
})
