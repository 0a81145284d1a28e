import assert from 'node:assert/strict'
import test from 'node:test'
import { median, medianRatio } from '../src/statistics.ts'

test('the median of an even number of values lies between the middle two', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([3, 1, 2]), 2)
})

test('a slow round does not change the ratio when it was slow for both', () => {
  assert.equal(medianRatio([200, 20, 210], [100, 10, 100]), 2)
})
