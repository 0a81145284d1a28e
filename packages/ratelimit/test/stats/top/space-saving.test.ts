import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SpaceSaving } from '../../../src/stats/top/space-saving.ts'

/** A reproducible sequence of numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

test('with fewer keys than places every count is exact', () => {
  const sketch = new SpaceSaving<string>(10)
  for (let i = 0; i < 300; i += 1) sketch.add(`k${i % 7}`, 1 + (i % 3), 1, () => 'note')
  assert.equal(sketch.floor, 0)
  const entries = [...sketch.entries()]
  assert.equal(entries.length, 7)
  assert.ok(entries.every(({ error, note }) => error === 0 && note === 'note'))
  const sum = entries.reduce((total, { count }) => total + count, 0)
  assert.equal(sum, 600)
})

test('the bounds hold for every key of a skewed stream, and the most frequent keys are found', () => {
  const sketch = new SpaceSaving<undefined>(50)
  const random = createRandom(7)
  const exact = new Map<string, number>()
  let total = 0
  for (let i = 0; i < 100_000; i += 1) {
    // Roughly the distribution of Zipf over 5,000 keys.
    const key = `key-${Math.floor(5_000 ** random()) - 1}`
    const weight = 1 + Math.floor(random() * 3)
    exact.set(key, (exact.get(key) ?? 0) + weight)
    total += weight
    sketch.add(key, weight, 0, () => undefined)
  }
  const found = new Map([...sketch.entries()].map((entry) => [entry.key, entry]))
  assert.equal(found.size, 50)
  for (const [key, count] of exact) {
    const entry = found.get(key)
    if (entry === undefined) {
      assert.ok(count <= sketch.floor, `${key} has ${count}, above the floor ${sketch.floor}`)
      assert.ok(count <= total / 50)
    } else {
      assert.ok(entry.count >= count && entry.count - entry.error <= count, key)
    }
  }
  const heaviest = (counts: readonly (readonly [string, number])[]) =>
    [...counts]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 5)
      .map(([key]) => key)
  const estimated = [...found.values()].map(
    ({ key, count, error }) => [key, count - error] as const,
  )
  assert.deepEqual(heaviest(estimated), heaviest([...exact]))
})

test('the second weight counts only while the key has a place', () => {
  const sketch = new SpaceSaving<undefined>(1)
  sketch.add('a', 2, 5, () => undefined)
  sketch.addSide('a', 4)
  sketch.addSide('b', 4)
  assert.deepEqual([...sketch.entries()][0]?.side, 9)
  sketch.add('b', 1, 1, () => undefined)
  const [entry] = sketch.entries()
  assert.deepEqual([entry?.key, entry?.count, entry?.error, entry?.side], ['b', 3, 2, 1])
})
