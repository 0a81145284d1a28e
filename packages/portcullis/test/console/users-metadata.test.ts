import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJsonObject, toMetadataChange } from '../../src/web/pages/users/metadata.ts'

const faults = [
  { text: '', at: [1, 1], says: 'a value is expected here, not the end' },
  { text: '[1]', at: [1, 1], says: 'is an object' },
  { text: '{"a": 1,}', at: [1, 8], says: 'the last item has no comma behind it' },
  { text: '{\n  "a": 1\n  "b": 2\n}', at: [3, 3], says: 'a comma or } is expected here' },
  { text: '{\n  a: 1\n}', at: [2, 3], says: 'a key in double quotes' },
  { text: '{"a" 1}', at: [1, 6], says: 'a colon is expected' },
  { text: '{"a": tru}', at: [1, 7], says: 'a value is expected' },
  { text: '{"a": 01}', at: [1, 7], says: '01 is neither a number' },
  { text: '{"a": "b}', at: [1, 7], says: 'no closing quote' },
  { text: '{"a": "\\x"}', at: [1, 8], says: 'backslash' },
  { text: '{} {}', at: [1, 4], says: 'nothing may follow' },
  { text: '{"a": [1, 2}', at: [1, 12], says: 'a comma or ]' },
] as const

for (const { text, at, says } of faults) {
  test(`of ${JSON.stringify(text)} the fault is told with its line and column`, () => {
    const parsed = parseJsonObject(text)
    assert.ok('fault' in parsed)
    assert.deepEqual([parsed.fault.line, parsed.fault.column], at)
    assert.ok(parsed.fault.message.includes(says), parsed.fault.message)
    if (text !== '[1]') assert.throws(() => JSON.parse(text), SyntaxError)
  })
}

test('whatever JSON takes for an object is taken', () => {
  const text = ' {"a": [1, -2.5e+3, true, null, {"b\\u00e9\\n": {}}], "c": [], "__proto__": 1}\n'
  const parsed = parseJsonObject(text)
  assert.ok('value' in parsed)
  assert.deepEqual(JSON.stringify(parsed.value), JSON.stringify(JSON.parse(text)))
})

test('keys that were taken out are sent as null, and those that are the same not at all', () => {
  const before = { kept: { deep: [1] }, gone: 1, other: 'a' }
  const after = { kept: { deep: [1] }, other: 'b', added: true }
  assert.deepEqual(toMetadataChange(before, after), { gone: null, other: 'b', added: true })
  assert.equal(toMetadataChange(before, before), undefined)
})
