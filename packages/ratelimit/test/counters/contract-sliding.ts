import assert from 'node:assert/strict'
import type { CounterStore } from '../../src/counters/counter-store.ts'
import {
  add,
  increment,
  newKey,
  type Points,
  read,
  readThese,
  sliding,
  unitMs,
  unitSeconds,
  window,
} from './contract-calls.ts'

const before = { startsAt: window - unitSeconds }
const next = { startsAt: window + unitSeconds }

/**
 * Requirements for sliding counters in every store. `sliding` allows 10 and counts the previous window fully.
 */
export const slidingPoints = {
  'adds up in a sliding window': async (store) => {
    const key = newKey()
    assert.deepEqual(await add(store, [sliding(key, 1)]), [1])
    assert.deepEqual(await add(store, [sliding(key, 1)]), [2])
    assert.deepEqual(await add(store, [sliding(key, 5, { overlapMs: 1 })]), [7])
    assert.deepEqual(await readThese(store, [sliding(key, 3)]), [7])
  },

  'adds no hits that would bring a sliding window above its limit': async (store) => {
    const key = newKey()
    assert.deepEqual(await add(store, [sliding(key, 8)]), [8])
    assert.deepEqual(await add(store, [sliding(key, 3)]), [11])
    assert.deepEqual(await add(store, [sliding(key, 30)]), [38])
    assert.deepEqual(await readThese(store, [sliding(key, 1)]), [8])
    assert.deepEqual(await add(store, [sliding(key, 2)]), [10])
    for (let i = 0; i < 3; i++) assert.deepEqual(await add(store, [sliding(key, 1)]), [11])
    assert.deepEqual(await readThese(store, [sliding(key, 1)]), [10])
  },

  'uses the limit of each call, strict or not': async (store) => {
    const key = newKey()
    await add(store, [sliding(key, 10)])
    assert.deepEqual(await add(store, [sliding(key, 1, { isStrict: false })]), [11])
    assert.deepEqual(await add(store, [sliding(key, 5, { most: 15 })]), [15])
    assert.deepEqual(await add(store, [sliding(key, 1, { most: 0 })]), [16])
    assert.deepEqual(await readThese(store, [sliding(key, 1)]), [15])
  },

  'weights the previous window by its overlap, rounded down': async (store) => {
    const key = newKey()
    await add(store, [sliding(key, 7, before)])
    const countAt = async (overlapMs: number) => {
      const now = sliding(key, 1, { overlapMs })
      assert.deepEqual(await readThese(store, [now]), [Math.floor((7 * overlapMs) / unitMs)])
      assert.equal(now.previous, 7)
      return now.after
    }
    const parts = [unitMs, unitMs - 1, (unitMs * 6) / 7, (unitMs * 6) / 7 - 1, unitMs / 2, 1]
    const counts = []
    for (const overlapMs of parts) counts.push(await countAt(overlapMs))
    assert.deepEqual(counts, [7, 6, 6, 5, 3, 0])
  },

  'allows hits again as the window slides': async (store) => {
    const key = newKey()
    await add(store, [sliding(key, 7, before)])
    assert.deepEqual(await add(store, [sliding(key, 3)]), [10])
    assert.deepEqual(await add(store, [sliding(key, 1)]), [11])
    const halfway = { overlapMs: unitMs / 2 }
    assert.deepEqual(await add(store, [sliding(key, 5, halfway)]), [11])
    assert.deepEqual(await add(store, [sliding(key, 4, halfway)]), [10])
    assert.deepEqual(await add(store, [sliding(key, 1, halfway)]), [11])
    const last = sliding(key, 3, { overlapMs: 1 })
    assert.deepEqual(await add(store, [last]), [10])
    assert.equal(last.previous, 7)
    assert.deepEqual(await add(store, [sliding(key, 1, { overlapMs: 1 })]), [11])
  },

  'drops a window when the next one has ended': async (store) => {
    const key = newKey()
    await add(store, [sliding(key, 7, before)])
    await add(store, [sliding(key, 2)])
    const second = sliding(key, 1, next)
    assert.deepEqual(await add(store, [second]), [3])
    assert.equal(second.previous, 2)
    const third = sliding(key, 1, { startsAt: window + 3 * unitSeconds })
    assert.deepEqual(await add(store, [third]), [1])
    assert.equal(third.previous, 0)
  },

  'counts a late call in the previous window without affecting the current one': async (store) => {
    const key = newKey()
    await add(store, [sliding(key, 1, before)])
    await add(store, [sliding(key, 3)])
    assert.deepEqual(await add(store, [sliding(key, 2, before)]), [3])
    assert.deepEqual(await readThese(store, [sliding(key, 0, before)]), [3])
    const now = sliding(key, 1)
    assert.deepEqual(await add(store, [now]), [7])
    assert.equal(now.previous, 3)
  },

  'refunds in a sliding window never go below 0 or affect the previous window': async (store) => {
    const key = newKey()
    await add(store, [sliding(key, 4, before)])
    await add(store, [sliding(key, 5)])
    assert.deepEqual(await add(store, [sliding(key, -2)]), [7])
    assert.deepEqual(await add(store, [sliding(key, -9)]), [4])
    assert.deepEqual(await add(store, [sliding(key, 6)]), [10])
    assert.deepEqual(await add(store, [sliding(newKey(), -3)]), [0])
  },

  'refunds a sliding window that is above its limit': async (store) => {
    const key = newKey()
    await add(store, [sliding(key, 10)])
    assert.deepEqual(await add(store, [sliding(key, -2, { most: 5 })]), [8])
    assert.deepEqual(await readThese(store, [sliding(key, 1)]), [8])
  },

  'reads a sliding window with 0 hits and changes nothing': async (store) => {
    const key = newKey()
    assert.deepEqual(await add(store, [sliding(key, 0)]), [0])
    await add(store, [sliding(key, 4, before), sliding(key, 10, { most: 14 })])
    assert.deepEqual(await add(store, [sliding(key, 0), sliding(key, 0, { most: 0 })]), [14, 14])
    assert.deepEqual(await add(store, [sliding(key, 1, { most: 15 })]), [15])
  },

  'counts the same sliding window twice in one call, in order': async (store) => {
    const key = newKey()
    const changes = [6, 5, 4, 1, -3, 3].map((hits) => sliding(key, hits))
    assert.deepEqual(await add(store, changes), [6, 11, 10, 11, 7, 10])
  },

  'counts fixed and sliding windows of the same name separately in one call': async (store) => {
    const [key, other] = [newKey(), newKey()]
    const changes = [increment(key, 20), sliding(key, 2), increment(other, 1), sliding(key, 3)]
    assert.deepEqual(await add(store, changes), [20, 2, 1, 5])
    assert.deepEqual(await readThese(store, [sliding(key, 0), increment(key, 0)]), [5, 20])
    assert.deepEqual(await read(store, key, other), [20, 1])
  },

  'weights large counts in doubles': async (store) => {
    const [key, most] = [newKey(), 4_294_967_295]
    assert.deepEqual(await add(store, [sliding(key, most - 1, { ...before, most })]), [most - 1])
    for (const overlapMs of [1, 12_345_678, unitMs / 3 - 1, unitMs - 1, unitMs]) {
      const share = Math.floor(((most - 1) * overlapMs) / unitMs)
      const now = [sliding(key, 0, { most, overlapMs }), sliding(key, most, { most, overlapMs })]
      assert.deepEqual(await add(store, now), [share, share + most])
    }
    assert.deepEqual(await add(store, [sliding(key, 1, { most })]), [most])
  },
} satisfies Points

/** Requirements for stores that check and add atomically. */
export const atomicSlidingPoints = {
  'allows exactly the limit to 500 concurrent calls in a sliding window': async (store) => {
    const [key, most] = [newKey(), 100]
    const admitted = await admit(store, 500, () => sliding(key, 1, { most }))
    assert.deepEqual(
      admitted,
      Array.from({ length: most }, (_, i) => i + 1),
    )
    assert.deepEqual(await readThese(store, [sliding(key, 1)]), [most])
  },

  'allows exactly what the previous window leaves to concurrent calls': async (store) => {
    const key = newKey()
    await add(store, [sliding(key, 70, { ...before, most: 100 })])
    const halfway = { most: 100, overlapMs: unitMs / 2 }
    const admitted = await admit(store, 200, () => sliding(key, 3, halfway))
    assert.deepEqual(
      admitted,
      Array.from({ length: 21 }, (_, i) => 35 + 3 * (i + 1)),
    )
  },
} satisfies Points

/** Returns the sorted counts of the allowed calls. */
async function admit(
  store: CounterStore,
  callers: number,
  toIncrement: () => ReturnType<typeof sliding>,
): Promise<number[]> {
  const calls = Array.from({ length: callers }, toIncrement)
  await Promise.all(calls.map((one) => add(store, [one])))
  return calls.flatMap(({ after, most }) => (after <= most ? after : [])).sort((a, b) => a - b)
}
