import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KeyTemplate } from '../../src/hot/key-template.ts'
import { KeyBytes, type KeyWords } from '../../src/structures/key-bytes.ts'

const outline = (key: KeyWords | undefined) =>
  key && {
    bytes: Buffer.from(key.words.buffer, key.words.byteOffset, key.byteLength).toString('hex'),
    hash: key.hash,
    secondHash: key.secondHash,
    isAscii: key.isAscii,
  }

test('a template has the same bytes and hash as the whole text, whatever the previous value was', () => {
  const value = fc.string({
    unit: fc.constantFrom('a', 'Z', '0', '.', ':', '~', '!'),
    maxLength: 64,
  })
  const before = fc.string({ unit: 'binary' })
  const after = fc.string({ unit: 'binary-ascii' })
  fc.assert(
    fc.property(before, after, fc.array(value, { minLength: 1 }), (before, after, values) => {
      const template = new KeyTemplate(before, after)
      const key = new KeyBytes()
      for (const value of values) {
        const whole = outline(key.set(`${before}${value}${after}`))
        assert.deepEqual(outline(template.encode(value)), whole)
      }
    }),
  )
})

test('a template takes neither long values nor values that are escaped in keys', () => {
  const template = new KeyTemplate('default_ip_', '_60s_')
  for (const value of ['_', 'a_b', '%', ' ', '\n', '\u007f', 'é', '\ud800', 'x'.repeat(65)]) {
    assert.equal(template.encode(value), undefined)
  }
  assert.equal(template.encode('1')?.toText(), 'default_ip_1_60s_')
})
