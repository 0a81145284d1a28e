import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownCounters } from '../../../src/counters/redis/known-counters.ts'
import { KeyBytes } from '../../../src/structures/key-bytes.ts'

const bytes = new KeyBytes()

function recall(known: KnownCounters, key: string, window: number, unitSeconds = 60): boolean {
  return known.recall(bytes.set(key), { window, unitSeconds })
}

test('a counter is known from the second time on, in each window', () => {
  const known = new KnownCounters()
  assert.equal(recall(known, 'a_', 60), false)
  assert.equal(recall(known, 'a_', 60), true)
  assert.equal(recall(known, 'a_', 120), false)
  assert.equal(recall(known, 'a_', 120), true)
  assert.equal(recall(known, 'b_', 120), false)
  // Its TTL is that of the shorter unit, which is too short for the longer one.
  assert.equal(recall(known, 'a_', 120, 3600), false)
})

test('after forgetAll no counter is known', () => {
  const known = new KnownCounters()
  recall(known, 'a_', 60)
  known.forgetAll()
  assert.equal(recall(known, 'a_', 60), false)
})

test('a note beside the key is read instead of the table, and is not valid after forgetAll', () => {
  const known = new KnownCounters()
  const words = new Int32Array(8)
  const noted = { words, noteAt: 2, hash: 1, secondHash: 2 }
  const later = { window: 120, unitSeconds: 60 }
  assert.equal(known.recall(noted, { window: 60, unitSeconds: 60 }), false)
  assert.equal(known.recall(noted, { window: 60, unitSeconds: 60 }), true)
  assert.equal(known.recall(noted, later), false)
  assert.equal(known.recall(noted, later), true)
  // The table does not contain this counter.
  const unknown = { ...noted, hash: 99 }
  assert.equal(known.recall(unknown, later), true)
  assert.equal(known.recall({ ...unknown, noteAt: 0 }, later), false)
  known.forgetAll()
  assert.equal(known.recall(noted, later), false)
  assert.deepEqual([...words.subarray(0, 2), ...words.subarray(4)], [0, 0, 0, 0, 0, 0])
})

test('no counter of a million is mistaken for another, and most of 100,000 stay known', () => {
  const known = new KnownCounters()
  let mistaken = 0
  for (let i = 0; i < 1_000_000; i++) if (recall(known, `domain_user_${i}_`, 60)) mistaken++
  assert.equal(mistaken, 0)
  known.forgetAll()
  for (let i = 0; i < 100_000; i++) recall(known, `domain_user_${i}_`, 60)
  let kept = 0
  for (let i = 0; i < 100_000; i++) if (recall(known, `domain_user_${i}_`, 60)) kept++
  assert.ok(kept > 95_000, `${kept} of 100,000 are still known`)
})

test('counters in use stay known during a flood of new counters', () => {
  const known = new KnownCounters()
  const inUse = Array.from({ length: 10_000 }, (_, i) => `domain_user_${i}_`)
  for (let i = 0; i < 2; i++) for (const key of inUse) recall(known, key, 60)
  for (let i = 0; i < 2_000_000; i++) recall(known, `domain_guest_${i}_`, 60)
  const kept = inUse.filter((key) => recall(known, key, 60)).length
  assert.ok(kept > 9_900, `${kept} of 10,000 are still known`)
})
