import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJsonObject } from '../../src/web/json-object.ts'
import { toMetadataChange } from '../../src/web/pages/users/metadata.ts'

const faults = [
  { text: '', at: [1, 1], says: 'expected a value, found the end of the text' },
  { text: '[1]', at: [1, 1], says: 'must be a JSON object' },
  { text: '{"a": 1,}', at: [1, 8], says: 'a trailing comma is not allowed' },
  { text: '{\n  "a": 1\n  "b": 2\n}', at: [3, 3], says: 'expected a comma or }' },
  { text: '{\n  a: 1\n}', at: [2, 3], says: 'expected a key in double quotes' },
  { text: '{"a" 1}', at: [1, 6], says: 'expected a colon' },
  { text: '{"a": tru}', at: [1, 7], says: 'expected a value' },
  { text: '{"a": 01}', at: [1, 7], says: '01 is not a number' },
  { text: '{"a": "b}', at: [1, 7], says: 'no closing quote' },
  { text: '{"a": "\\x"}', at: [1, 8], says: 'invalid escape sequence' },
  { text: '{} {}', at: [1, 4], says: 'unexpected text after' },
  { text: '{"a": [1, 2}', at: [1, 12], says: 'expected a comma or ]' },
] as const

for (const { text, at, says } of faults) {
  test(`the syntax error in ${JSON.stringify(text)} is reported with line and column`, () => {
    const parsed = parseJsonObject(text)
    assert.ok('fault' in parsed)
    assert.deepEqual([parsed.fault.line, parsed.fault.column], at)
    assert.ok(parsed.fault.message.includes(says), parsed.fault.message)
    if (text !== '[1]') assert.throws(() => JSON.parse(text), SyntaxError)
  })
}

test('every valid JSON object is accepted', () => {
  const text = ' {"a": [1, -2.5e+3, true, null, {"b\\u00e9\\n": {}}], "c": [], "__proto__": 1}\n'
  const parsed = parseJsonObject(text)
  assert.ok('value' in parsed)
  assert.deepEqual(JSON.stringify(parsed.value), JSON.stringify(JSON.parse(text)))
})

test('removed keys are sent as null, and unchanged keys are not sent', () => {
  const before = { kept: { deep: [1] }, gone: 1, other: 'a' }
  const after = { kept: { deep: [1] }, other: 'b', added: true }
  assert.deepEqual(toMetadataChange(before, after), { gone: null, other: 'b', added: true })
  assert.equal(toMetadataChange(before, before), undefined)
})
