import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toStatusMessage } from '../../src/grpc/status-message.ts'

test('printable ASCII is unchanged, everything else is percent-encoded UTF-8', () => {
  assert.equal(toStatusMessage('plain text ~!'), 'plain text ~!')
  assert.equal(toStatusMessage('100%'), '100%25')
  assert.equal(toStatusMessage('a\nb'), 'a%0Ab')
  assert.equal(toStatusMessage('ü€'), '%C3%BC%E2%82%AC')
})

test('any text is unchanged after decoding', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const encoded = toStatusMessage(text)
      assert.match(encoded, /^[ -~]*$/)
      assert.equal(decodeURIComponent(encoded), text.toWellFormed())
    }),
  )
})

test('a very long text is truncated', () => {
  assert.ok(toStatusMessage('x'.repeat(100_000)).length <= 4096)
  assert.ok(toStatusMessage('ü'.repeat(100_000)).length <= 4096)
})
