import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLocalCache } from '../../src/hot/local-cache.ts'
import { KeyBytes } from '../../src/structures/key-bytes.ts'

const start = 1_700_000_040

function open(sizeInBytes = 0) {
  const clock = { seconds: start }
  const cache = createLocalCache({ sizeInBytes, now: () => clock.seconds * 1000 + 321 })
  return { cache, clock }
}

/** A key of 76 characters. */
function toKey(i: number): string {
  return `domain_remote_address_${String(i).padStart(10, '0')}_path_${'x'.repeat(37)}_`
}

test('a counter is over its limit in its window once it was added', () => {
  const { cache } = open()
  assert.equal(cache.isOver('key_', start, 10), false)
  cache.add('key_', start, 60, 10)
  assert.equal(cache.isOver('key_', start, 10), true)
  assert.equal(cache.isOver('key_', start + 60, 10), false)
  assert.equal(cache.isOver('other_', start, 10), false)
})

test('a higher limit is not refused, a lower one is', () => {
  const { cache } = open()
  cache.add('key_', start, 60, 10)
  assert.equal(cache.isOver('key_', start, 11), false)
  assert.equal(cache.isOver('key_', start, 9), true)
  cache.add('key_', start, 60, 4_294_967_295)
  assert.equal(cache.isOver('key_', start, 4_294_967_295), true)
  cache.add('key_', start, 60, 3)
  assert.equal(cache.isOver('key_', start, 11), true, 'over a limit is over every lower one')
})

test('a limit of 0 is cached', () => {
  const { cache } = open()
  cache.add('key_', start, 60, 0)
  assert.equal(cache.isOver('key_', start, 0), true)
  assert.equal(cache.isOver('key_', start, 1), false)
})

test('an entry ends with its window', () => {
  const { cache, clock } = open()
  cache.add('key_', start, 60, 10)
  clock.seconds = start + 59
  assert.equal(cache.isOver('key_', start, 10), true)
  clock.seconds = start + 60
  assert.equal(cache.isOver('key_', start, 10), false)
  assert.deepEqual([cache.expiredCount, cache.entryCount], [1, 0])
})

test('a deleted entry is gone, and can be added again', () => {
  const { cache } = open()
  cache.add('key_', start, 60, 10)
  cache.delete('key_', start)
  cache.delete('never_', start)
  assert.equal(cache.isOver('key_', start, 10), false)
  assert.deepEqual([cache.entryCount, cache.expiredCount], [0, 0])
  cache.add('key_', start, 60, 10)
  assert.equal(cache.isOver('key_', start, 10), true)
  assert.equal(cache.entryCount, 1)
})

test('an encoded key and its text are the same counter', () => {
  const { cache } = open()
  const encode = (text: string) => new KeyBytes().set(text)
  cache.add(encode('first_'), start, 60, 10)
  cache.add('second_', start, 60, 10)
  const isOver = (...keys: string[]) =>
    keys.map((key) => [cache.isOver(key, start, 10), cache.isOver(encode(key), start, 10)])
  assert.deepEqual(isOver('first_', 'second_', 'third_'), [
    [true, true],
    [true, true],
    [false, false],
  ])
  cache.delete('first_', start)
  cache.delete(encode('second_'), start)
  assert.deepEqual(isOver('first_', 'second_'), [
    [false, false],
    [false, false],
  ])
})

test('a key above 65535 bytes is not stored', () => {
  const { cache } = open()
  const [longest, tooLong] = ['x'.repeat(65_535), 'x'.repeat(65_536)]
  cache.add(longest, start, 60, 1)
  cache.add(tooLong, start, 60, 1)
  assert.equal(cache.isOver(longest, start, 1), true)
  assert.equal(cache.isOver(tooLong, start, 1), false)
  assert.equal(cache.entryCount, 1)
})

test('the gauges count the operations', () => {
  const { cache, clock } = open()
  assert.equal(cache.averageAccessTime, 0)
  cache.isOver('a_', start, 1)
  cache.add('a_', start, 3600, 1)
  clock.seconds += 10
  cache.add('b_', start, 3600, 1)
  assert.equal(cache.averageAccessTime, start + 5)
  cache.isOver('a_', start, 1)
  assert.equal(cache.averageAccessTime, start + 10)
  cache.isOver('a_', start, 2)
  cache.add('a_', start, 3600, 2)
  assert.deepEqual(
    {
      entries: cache.entryCount,
      hits: cache.hitCount,
      misses: cache.missCount,
      lookups: cache.lookupCount,
      overwrites: cache.overwriteCount,
    },
    { entries: 2, hits: 1, misses: 2, lookups: 3, overwrites: 1 },
  )
})

test('a smaller size is raised to 512 KiB', () => {
  const { cache } = open(1)
  for (let i = 0; i < 2000; i++) cache.add(toKey(i), start, 60, 1)
  for (let i = 0; i < 2000; i++) assert.equal(cache.isOver(toKey(i), start, 1), true)
})

test('it stays within its memory limit and keeps entries in use', () => {
  const bytes = new KeyBytes()
  for (const sizeInBytes of [512 * 1024, 3_000_000]) {
    const { cache } = open(sizeInBytes)
    const hot = Array.from({ length: 50 }, (_, i) => `hot_${i}_`)
    for (const key of hot) cache.add(key, start, 60, 1)
    for (let i = 0; i < 100_000; i++) {
      cache.add(toKey(i), start, 60, 1)
      const key = hot[i % hot.length] ?? ''
      const isOver = cache.isOver(i % 2 === 0 ? key : bytes.set(key), start, 1)
      assert.equal(isOver, true, `${key} after ${i}`)
    }
    // The key alone is 76 bytes.
    assert.ok(cache.entryCount * 76 < sizeInBytes, `${cache.entryCount} entries`)
    assert.ok(cache.entryCount * 150 > sizeInBytes / 2, `${cache.entryCount} entries`)
    assert.ok(cache.evacuateCount > 0)
    assert.equal(cache.isOver(toKey(99_999), start, 1), true)
    assert.equal(cache.isOver(toKey(0), start, 1), false)
  }
})

test('entries whose window has ended when they are dropped count as expired, once', () => {
  const { cache, clock } = open()
  for (let i = 0; i < 1000; i++) cache.add(toKey(i), start, 60, 1)
  clock.seconds += 60
  for (let i = 1000; i < 20_000; i++) cache.add(toKey(i), start + 60, 60, 1)
  assert.equal(cache.expiredCount, 1000)
})

test('a key that is refused in consecutive windows needs one record', () => {
  const { cache, clock } = open()
  for (let i = 0; i < 20_000; i++) {
    clock.seconds = start + i
    cache.add('key_', clock.seconds, 1, 5)
    assert.equal(cache.isOver('key_', clock.seconds, 5), true)
    assert.equal(cache.entryCount, 1)
  }
  assert.equal(cache.expiredCount, 19_999)
})

test('it never refuses what a Map of limits would not, and drops nothing before it is full', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constantFrom('add' as const, 'check' as const, 'check' as const, 'delete' as const),
      key: fc.constantFrom('a_', 'b_', 'a_b_', 'ü_', '\ud800', ''),
      unit: fc.constantFrom(1, 60),
      limit: fc.integer({ min: 0, max: 4 }),
    }),
    fc.record({ kind: fc.constant('clock' as const), by: fc.integer({ min: 0, max: 40 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { cache, clock } = open()
      const entries = new Map<string, { limit: number; end: number }>()
      for (const step of steps) {
        if (step.kind === 'clock') {
          clock.seconds += step.by
          continue
        }
        const { key, unit, limit } = step
        const window = Math.floor(clock.seconds / unit) * unit
        const name = `${window} ${key}`
        const known = entries.get(name)
        if (step.kind === 'add') {
          cache.add(key, window, unit, limit)
          const end = Math.max(known?.end ?? 0, window + unit)
          entries.set(name, { limit: Math.max(known?.limit ?? 0, limit), end })
        } else if (step.kind === 'delete') {
          cache.delete(key, window)
          entries.delete(name)
        } else {
          // The end matters too: a window of a second and one of a minute can start together.
          const isOver = known !== undefined && known.end > clock.seconds && known.limit >= limit
          assert.equal(cache.isOver(key, window, limit), isOver, name)
        }
      }
      assert.equal(cache.lookupCount, cache.hitCount + cache.missCount)
      assert.ok(cache.entryCount >= 0 && cache.entryCount <= entries.size)
    }),
  )
})
