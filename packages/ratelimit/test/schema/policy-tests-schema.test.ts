import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse as parseAsEditor } from 'yaml'
import { expectedFields } from '../../src/tools/policy-tests/expected-fields.ts'
import { fileFields, parsePolicyTests, testFields } from '../../src/tools/policy-tests/parse.ts'
import { descriptorFields, requestFields } from '../../src/tools/policy-tests/parse-request.ts'
import { stepFields } from '../../src/tools/policy-tests/parse-step.ts'

const file = join(import.meta.dirname, '../../schema/policy-tests.schema.json')
const schema = JSON.parse(readFileSync(file, 'utf8'))
const accepts = new Ajv2020({ allowUnionTypes: true, strictRequired: false }).compile(schema)

suite('the JSON Schema of policy tests', () => {
  test('has every field that the parser reads, and no other', () => {
    const { test: testPart, step, request, descriptor, expectation, status } = schema.$defs
    const names = Object.keys(expectedFields)
    for (const [part, known] of [
      [schema, fileFields],
      [testPart, testFields],
      [step, stepFields],
      [request, requestFields],
      [descriptor, descriptorFields],
      [expectation, [...names, 'descriptors']],
      [status, names],
    ] as const) {
      assert.deepEqual(Object.keys(part.properties).sort(), [...known].sort())
      assert.equal(part.additionalProperties, false)
      assert.ok(part.description)
    }
  })

  test('accepts the example tests', () => {
    const directory = join(import.meta.dirname, '../../../../examples/ratelimit/config')
    for (const name of ['api.test.yaml', 'messaging.test.yaml', 'plans.test.yaml']) {
      const text = readFileSync(join(directory, name), 'utf8')
      assert.ok(accepts(parseAsEditor(text)), `${name}: ${JSON.stringify(accepts.errors)}`)
    }
  })

  const call = 'request: {descriptors: [{k: v}]}'
  const files: readonly (readonly [text: string, isFine: boolean])[] = [
    [`{domain: d, tests: [{name: n, steps: [{${call}, expect: OK}]}]}`, true],
    [`{domain: d, tests: [{name: n, at: 0, steps: [{${call}, expect: {remaining: 1}}]}]}`, true],
    [`{domain: d, tests: [{name: n, steps: [{advance: 5}, {${call}, expect: ok}]}]}`, true],
    [`{domain: d, tests: [{name: n, steps: [{${call}}]}]}`, false],
    [`{domain: d, tests: [{name: n, steps: [{${call}, expect: {}}]}]}`, false],
    [`{domain: d, tests: [{name: n, steps: [{${call}, expect: maybe}]}]}`, false],
    [`{domain: d, tests: [{name: n, steps: [{${call}, expect: ok, times: 0}]}]}`, false],
    [`{domain: d, tests: [{name: n, steps: [{${call}, expect: ok, advance: 1s}]}]}`, false],
    [`{domain: d, tests: [{name: n, steps: [{advance: 1s, expect: ok}]}]}`, false],
    [`{domain: d, tests: [{name: n, steps: []}]}`, false],
    [`{domain: d, tests: [{steps: [{${call}, expect: ok}]}]}`, false],
    [`{domain: d, tests: []}`, false],
    [`{domain: d}`, false],
  ]
  for (const [text, isFine] of files) {
    test(`${isFine ? 'accepts' : 'refuses'} ${text}, as the parser does`, () => {
      const { faults } = parsePolicyTests({ name: 'a.test.yaml', text })
      assert.equal(faults.length === 0, isFine)
      assert.equal(accepts(parseAsEditor(text)), isFine, JSON.stringify(accepts.errors))
    })
  }
})
