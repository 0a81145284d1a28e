import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isNestedDeeperThan } from '../../src/transports/json.ts'

function depthOf(json: unknown): number {
  if (typeof json !== 'object' || json === null) return 0
  return 1 + Math.max(0, ...Object.values(json).map(depthOf))
}

test('the depth of any JSON is found, whatever its strings contain', () => {
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.string(),
      fc.constantFrom('{', '[["', '\\"[', '\\\\'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }),
    ),
  })).value
  fc.assert(
    fc.property(json, (value) => {
      const bytes = Buffer.from(JSON.stringify(value))
      const depth = depthOf(value)
      assert.equal(isNestedDeeperThan(bytes, depth), false)
      if (depth > 0) assert.equal(isNestedDeeperThan(bytes, depth - 1), true)
    }),
  )
})

test('truncated JSON is checked too', () => {
  assert.equal(isNestedDeeperThan(Buffer.from('['.repeat(33)), 32), true)
  assert.equal(isNestedDeeperThan(Buffer.from('"\\'), 32), false)
  assert.equal(isNestedDeeperThan(Buffer.alloc(0), 32), false)
})
