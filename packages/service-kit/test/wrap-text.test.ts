import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wrapText } from '@portcullis/service-kit/wrap-text'

test('a text is broken between words, and a word that is too long gets its own line', () => {
  assert.deepEqual(wrapText('one two three', 7), ['one two', 'three'])
  assert.deepEqual(wrapText('a longest b', 4), ['a', 'longest', 'b'])
  assert.deepEqual(wrapText('', 4), [''])
})
