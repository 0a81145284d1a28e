import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { KeyBytes } from '../../src/structures/key-bytes.ts'

function toBytes(key: KeyBytes, text: string): string {
  const { words, byteLength } = key.set(text)
  return Buffer.from(words.buffer, words.byteOffset, byteLength).toString('hex')
}

test('the bytes of a well-formed text are its UTF-8, except for characters beyond 16 bits', () => {
  const key = new KeyBytes()
  const text = fc.string({ unit: 'grapheme', maxLength: 300 })
  fc.assert(
    fc.property(text, (s) => {
      fc.pre([...s].every((c) => c.length === 1))
      assert.equal(toBytes(key, s), Buffer.from(s).toString('hex'))
    }),
  )
})

test('different texts have different bytes, even with lone surrogates', () => {
  const key = new KeyBytes()
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
  const text = fc.array(unit, { maxLength: 5 }).map((units) => units.join(''))
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(toBytes(key, a) === toBytes(key, b), a === b)
    }),
    { numRuns: 700 },
  )
  assert.notEqual(toBytes(key, '\ud800'), toBytes(key, '\udbff'))
})

test('a text has the same hash, whatever the previous text was', () => {
  const key = new KeyBytes()
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      const { hash, secondHash } = key.set(a)
      key.set(b)
      assert.equal(key.set(a).hash, hash)
      assert.equal(key.set(a).secondHash, secondHash)
      assert.equal(key.set(a).byteLength, Buffer.from(toBytes(key, a), 'hex').length)
    }),
  )
})

test('texts that collide in simple hash functions have no more equal hashes than random texts', () => {
  const key = new KeyBytes()
  const families = {
    // Equal in every hash function that multiplies by 31.
    pairs: (i: number) => blocks(i, 'Aa', 'BB'),
    // The high bit of one word, and its effect on the next.
    highBits: (i: number) => blocks(i, 'aaa!aa!!', 'aaaaaa aa'),
    numbers: (i: number) => `domain_address_${i}_`,
    zeros: (i: number) => '\u0000'.repeat(i % 64) + String(i >> 6),
  }
  for (const [name, family] of Object.entries(families)) {
    const count = 2 ** 16
    for (const hash of ['hash', 'secondHash'] as const) {
      const hashes = new Set(Array.from({ length: count }, (_, i) => key.set(family(i))[hash]))
      // On average there is half a pair; ten have a probability of one in a billion.
      assert.ok(count - hashes.size < 10, `${name}: ${count - hashes.size} equal hashes`)
    }
  }
})

test('the hash of a text differs from process to process', async () => {
  const module = new URL('../../src/structures/key-bytes.ts', import.meta.url)
  const script = `import { KeyBytes } from '${module}'; console.log(new KeyBytes().set('key').hash)`
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  const outputs = await Promise.all([run(), run()])
  assert.ok(new Set(outputs.map(({ stdout }) => stdout)).size > 1)
})

/** Sixteen blocks, each of which is one of the two texts, selected by a bit of `i`. */
function blocks(i: number, zero: string, one: string): string {
  return Array.from({ length: 16 }, (_, bit) => ((i >> bit) & 1 ? one : zero)).join('')
}
