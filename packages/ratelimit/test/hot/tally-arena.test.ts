import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tally } from '../../src/decide/tally.ts'
import { KeyBytes } from '../../src/hot/key-bytes.ts'
import { RequestWords } from '../../src/hot/request-words.ts'
import { TallyArena } from '../../src/hot/tally-arena.ts'
import { toTally } from '../support/tally.ts'

const request = new RequestWords(16)
request.set(Buffer.from('request'), 0, 7)

function add(arena: TallyArena, key: string): readonly (Tally | undefined)[] {
  const tally = toTally({ key })
  assert.ok(arena.makeRoomFor(arena.measure(request, [tally]) ?? 0))
  return arena.talliesOf(arena.add(request, [tally]))
}

test('keys of tallies stay valid when the arena is cleared and filled again', () => {
  const arena = new TallyArena(1 << 20)
  const keys = ['domain_key_1_', 'domain_é_2_', 'domain_ш_3_', '']
  const tallies = keys.flatMap((key) => add(arena, key))
  arena.clear()
  for (let i = 0; i < 100; i += 1) add(arena, `another_key_${i}_`)
  assert.deepEqual(
    tallies.map((tally) => tally?.key),
    keys,
  )
})

test('a key in ASCII stays encoded, as a store would encode it', () => {
  const arena = new TallyArena(1 << 20)
  const bytes = new KeyBytes()
  for (const text of ['domain_key_1_', 'a', 'abcd', 'abcde']) {
    const [tally] = add(arena, text)
    const encoded = tally?.encodedKey
    const wanted = bytes.set(text)
    assert.ok(encoded)
    const { start, byteLength, hash, secondHash } = encoded
    const length = (byteLength + 3) >> 2
    assert.deepEqual(
      { byteLength, hash, secondHash, words: encoded.words.slice(start, start + length) },
      {
        byteLength: wanted.byteLength,
        hash: wanted.hash,
        secondHash: wanted.secondHash,
        words: wanted.words.slice(0, length),
      },
    )
  }
  assert.equal(add(arena, 'é')[0]?.encodedKey, undefined)
})
