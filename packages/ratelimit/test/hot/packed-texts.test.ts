import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { emptyText, PackedTexts, TextPacker } from '../../src/hot/packed-texts.ts'

suite('packed texts', () => {
  test('any text is returned unchanged and equals no other', () => {
    // Single code units, including lone surrogates.
    const text = fc
      .array(fc.oneof(fc.integer({ min: 0, max: 0xff }), fc.integer({ min: 0, max: 0xffff })), {
        maxLength: 12,
      })
      .map((units) => String.fromCharCode(...units))
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), (texts) => {
        const packer = new TextPacker()
        const places = texts.map((each) => packer.add(each))
        const packed = new PackedTexts(packer.finish())
        assert.deepEqual(
          places.map((at) => packed.read(at)),
          texts,
        )
        for (const one of texts) {
          assert.deepEqual(
            places.map((at) => packed.is(at, one)),
            texts.map((other) => other === one),
          )
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a repeated text takes no more room', () => {
    const packer = new TextPacker()
    assert.equal(packer.add('same'), packer.add('same'))
    assert.notEqual(packer.add('same'), packer.add('other'))
    assert.equal(packer.add(''), emptyText)
    assert.equal(packer.finish().length, 1 + 2 + 3)
  })

  test('texts far longer than the first buffer fit', () => {
    const packer = new TextPacker()
    const long = `${'é'.repeat(1_000_000)}€`
    const [short, at] = [packer.add('short'), packer.add(long)]
    const packed = new PackedTexts(packer.finish())
    assert.ok(packed.is(at, long))
    assert.equal(packed.read(at), long)
    assert.equal(packed.read(short), 'short')
  })
})
