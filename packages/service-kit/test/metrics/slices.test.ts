import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sortInSlices } from '../../src/metrics/slices.ts'

test('it sorts like Array.sort, for any length', async () => {
  for (const length of [0, 1, 2, 1_999, 2_000, 2_001, 4_001, 9_999, 16_001]) {
    const items = Array.from({ length }, (_, i) => (i * 7_919) % 10_007)
    const expected = [...items].sort((a, b) => a - b)
    await sortInSlices(items, (a, b) => a - b)
    assert.deepEqual(items, expected)
  }
})

test('it keeps the order of equal items', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 5_000 }), async (keys) => {
      const items = keys.map((key, index) => ({ key, index }))
      const expected = [...items].sort((a, b) => a.key - b.key)
      await sortInSlices(items, (a, b) => a.key - b.key)
      assert.deepEqual(items, expected)
    }),
    { numRuns: 20 },
  )
})
