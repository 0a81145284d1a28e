import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wrapText } from '@portcullis/service-kit/text/format'
import { toCountText } from '../../src/text/format.ts'

test('a text is broken between words, and a word that is too long gets its own line', () => {
  assert.deepEqual(wrapText('one two three', 7), ['one two', 'three'])
  assert.deepEqual(wrapText('a longest b', 4), ['a', 'longest', 'b'])
  assert.deepEqual(wrapText('', 4), [''])
})

test('the noun after a count is singular or plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => toCountText(count, 'user')),
    ['0 users', '1 user', '2 users'],
  )
  assert.equal(toCountText(2, 'identity', 'identities'), '2 identities')
})
