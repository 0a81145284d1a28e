import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tally } from '../../src/decide/tally.ts'
import { RequestWords } from '../../src/hot/request-words.ts'
import { TallyArena } from '../../src/hot/tally-arena.ts'
import { KeyBytes } from '../../src/structures/key-bytes.ts'
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

test('released tallies are used again, as if they were new', () => {
  const arena = new TallyArena(1 << 20)
  const [first] = add(arena, 'domain_key_1_')
  assert.ok(first)
  Object.assign(first, { window: 60, hits: 0, after: 9, previous: 8, overlapMs: 7 })
  assert.equal(first.key, 'domain_key_1_')
  arena.release([first, undefined])
  const [second] = add(arena, 'domain_key_22_')
  assert.equal(second, first)
  const [fresh] = add(new TallyArena(1 << 20), 'domain_key_22_')
  assert.ok(second && fresh)
  const withText = (tally: Tally) => ({ ...tally, key: tally.key, counters: 0, encodedKey: 0 })
  assert.deepEqual(withText(second), withText(fresh))
  assert.notEqual(add(arena, 'domain_key_22_')[0], second)
})

test('tallies whose keys are in an earlier buffer are not used again', () => {
  const arena = new TallyArena(1 << 20)
  const [early] = add(arena, 'domain_key_1_')
  arena.clear()
  arena.release([early])
  const [late] = add(arena, 'domain_key_2_')
  assert.notEqual(late, early)
  arena.release([late])
  arena.clear()
  assert.notEqual(add(arena, 'domain_key_3_')[0], late)
})

test('a key has room for a note of the store, which every tally of the same descriptor finds', () => {
  const arena = new TallyArena(1 << 20)
  const tally = toTally({ key: 'domain_key_1_' })
  assert.ok(arena.makeRoomFor(arena.measure(request, [tally]) ?? 0))
  const record = arena.add(request, [tally])
  const notesOf = () => {
    const [found] = arena.talliesOf(record)
    const { words, noteAt = 0 } = found?.encodedKey ?? {}
    return words?.subarray(noteAt, noteAt + 2)
  }
  assert.deepEqual(notesOf(), Int32Array.of(0, 0))
  notesOf()?.set([5, 6])
  assert.deepEqual(notesOf(), Int32Array.of(5, 6))
  assert.equal(arena.talliesOf(record)[0]?.key, 'domain_key_1_')
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
