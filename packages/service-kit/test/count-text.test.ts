import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCountText } from '../src/count-text.ts'

test('the noun after a count is singular or plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => toCountText(count, 'user')),
    ['0 users', '1 user', '2 users'],
  )
  assert.equal(toCountText(2, 'identity', 'identities'), '2 identities')
})
