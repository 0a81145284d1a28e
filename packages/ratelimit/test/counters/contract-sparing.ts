import assert from 'node:assert/strict'
import { highestCount } from '../../src/counters/counter-store.ts'
import {
  add,
  addSparing,
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

/** Requirements for `addSparing` in every store. */
export const sparingPoints = {
  'adds to every counter while all have room': async (store) => {
    const [a, b, c] = [newKey(), newKey(), newKey()]
    const toIncrements = (hits: number) => [
      increment(a, hits, { most: 4 }),
      sliding(b, hits),
      increment(c, hits, { most: 4, isStrict: false }),
    ]
    assert.deepEqual(await addSparing(store, toIncrements(3)), [3, 3, 3])
    assert.deepEqual(await addSparing(store, toIncrements(1)), [4, 4, 4])
    assert.deepEqual(await addSparing(store, toIncrements(0)), [4, 4, 4])
    assert.deepEqual(await read(store, a, c), [4, 4])
  },
} satisfies Points

/** Requirements for `addSparing` in stores that support it. Memcached does not. */
export const realSparingPoints = {
  'adds only to counters without room if a strict counter has none': async (store) => {
    const [full, free, sliding1] = [newKey(), newKey(), newKey()]
    await add(store, [increment(full, 5), increment(free, 1), sliding(sliding1, 2)])
    const counts = await addSparing(store, [
      increment(free, 2, { most: 4 }),
      increment(full, 2, { most: 6 }),
      sliding(sliding1, 2),
    ])
    assert.deepEqual(counts, [1, 7, 2])
    assert.deepEqual(await read(store, free, full), [1, 7])
    assert.deepEqual(await readThese(store, [sliding(sliding1, 0)]), [2])
  },

  'adds hits beyond the highest count up to it': async (store) => {
    const [full, free] = [newKey(), newKey()]
    await add(store, [increment(full, 1)])
    const counts = await addSparing(store, [
      increment(full, highestCount, { most: 5 }),
      increment(free, 1, { most: 5 }),
    ])
    assert.ok((counts[0] ?? 0) >= highestCount && counts[1] === 0, `${counts}`)
    const [stored = 0, other] = await read(store, full, free)
    assert.ok(stored >= highestCount && other === 0, `${stored}, ${other}`)
  },

  'adds to every counter if the one without room is not strict': async (store) => {
    const [full, free] = [newKey(), newKey()]
    await add(store, [increment(full, 5)])
    const increments = [
      increment(full, 1, { most: 5, isStrict: false }),
      increment(free, 1, { most: 5 }),
    ]
    assert.deepEqual(await addSparing(store, increments), [6, 1])
    assert.deepEqual(await read(store, full, free), [6, 1])
  },

  'leaves a counter that is not strict unchanged only if it has room, like the others': async (
    store,
  ) => {
    const [strict, full, free] = [newKey(), newKey(), newKey()]
    await add(store, [increment(strict, 5), increment(full, 5)])
    const counts = await addSparing(store, [
      increment(strict, 1, { most: 5 }),
      increment(full, 1, { most: 5, isStrict: false }),
      increment(free, 1, { most: 5, isStrict: false }),
    ])
    assert.deepEqual(counts, [6, 6, 0])
    assert.deepEqual(await read(store, strict, full, free), [6, 6, 0])
  },

  'makes refunds even if a counter has no room': async (store) => {
    const [full, refunded] = [newKey(), newKey()]
    await add(store, [increment(full, 5), increment(refunded, 5)])
    const counts = await addSparing(store, [
      increment(refunded, -2, { isStrict: false }),
      increment(full, 1, { most: 5 }),
    ])
    assert.deepEqual(counts, [3, 6])
    assert.deepEqual(await read(store, refunded), [3])
  },

  'adds nothing at all if a strict sliding window has no room': async (store) => {
    const [key, free] = [newKey(), newKey()]
    await add(store, [sliding(key, 6, { startsAt: window - unitSeconds }), sliding(key, 1)])
    const full = sliding(key, 7, { overlapMs: unitMs / 2 })
    assert.deepEqual(await addSparing(store, [full, increment(free, 1)]), [11, 0])
    assert.equal(full.previous, 6)
    assert.deepEqual(await readThese(store, [sliding(key, 0), increment(free, 0)]), [7, 0])

    const fitting = sliding(key, 6, { overlapMs: unitMs / 2 })
    assert.deepEqual(await addSparing(store, [fitting, increment(free, 1)]), [10, 1])
    assert.equal(fitting.previous, 6)
    assert.deepEqual(await readThese(store, [sliding(key, 0), increment(free, 0)]), [13, 1])
  },

  'refuses 0 hits above the limit, but not at the limit': async (store) => {
    const [full, free] = [newKey(), newKey()]
    await add(store, [increment(full, 5)])
    const toIncrements = (most: number) => [increment(full, 0, { most }), increment(free, 1)]
    assert.deepEqual(await addSparing(store, toIncrements(4)), [5, 0])
    assert.deepEqual(await addSparing(store, toIncrements(5)), [5, 1])
  },

  'leaves the same counter unchanged in one call as in two calls': async (store) => {
    const [full, free] = [newKey(), newKey()]
    await add(store, [increment(full, 5)])
    const increments = [increment(free, 1), increment(free, 2), increment(full, 1, { most: 5 })]
    assert.deepEqual(await addSparing(store, increments), [0, 0, 6])
    assert.deepEqual(await read(store, free), [0])
  },
} satisfies Points

/** Requirements for stores that check all counters of a call and add to them atomically. */
export const atomicSparingPoints = {
  'changes no other counter for refused calls among 300 concurrent ones': async (store) => {
    const [tight, tightSliding, others] = [newKey(), newKey(), [newKey(), newKey()]]
    const calls = Array.from({ length: 300 }, (_, i) => [
      increment(others[0] ?? '', 2),
      i % 2 === 0 ? increment(tight, 1, { most: 30 }) : sliding(tightSliding, 1, { most: 20 }),
      sliding(others[1] ?? '', 1, { most: 1000 }),
    ])
    await Promise.all(calls.map((one) => addSparing(store, one)))
    const admitted = calls.filter(([, one]) => one && one.after <= one.most).length
    assert.equal(admitted, 50)
    const [first = '', second = ''] = others
    assert.deepEqual(await readThese(store, [increment(first, 0), sliding(second, 0)]), [100, 50])
  },
} satisfies Points
