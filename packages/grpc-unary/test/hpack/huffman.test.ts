import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeHuffman, maxDecodedLength } from '../../src/hpack/huffman.ts'

function decode(hex: string): string | undefined {
  const bytes = Buffer.from(hex, 'hex')
  const target = Buffer.alloc(maxDecodedLength(bytes.length))
  const written = decodeHuffman(bytes, 0, bytes.length, target)
  return written < 0 ? undefined : target.toString('latin1', 0, written)
}

test('short and long codes are decoded', () => {
  assert.equal(decode('f1e3c2e5f23a6ba0ab90f4ff'), 'www.example.com')
  assert.equal(decode(''), '')
  assert.equal(decode('1f'), 'a')
  assert.equal(decode('ffc7'), '\0')
  assert.equal(decode('fffffff3'), '\n')
  assert.equal(decode('fffffbbf'), '\xff')
})

test('any bytes either decode to at most the computed length or are refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const target = Buffer.alloc(256, 0xee)
      const written = decodeHuffman(bytes, 0, bytes.length, target)
      assert.ok(written >= -1 && written <= maxDecodedLength(bytes.length))
    }),
    { numRuns: 2000 },
  )
})
