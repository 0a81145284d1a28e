import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CounterStore, highestCount } from '../../src/counters/counter-store.ts'
import {
  add,
  addSparing,
  assertStoreError,
  call,
  callbacks,
  increment,
  methods,
  newKey,
  type Points,
  read,
  readThese,
  sliding,
  unitSeconds,
  window,
} from './contract-calls.ts'
import { atomicSlidingPoints, slidingPoints } from './contract-sliding.ts'
import { atomicSparingPoints, realSparingPoints, sparingPoints } from './contract-sparing.ts'

/** Keys that break naive encodings of text protocols, separators and character sets. */
const strangeNames = [
  'a_b_c',
  '__',
  'two words',
  ' ',
  'tab\tand\nline',
  'über/日本語/🙂',
  '*3\r\n$6\r\nINCRBY\r\n',
  '{slot}{',
  '%s\\0"\'',
  'files/*',
]
const controlNames = ['\u0000', '\u0000\u0001\u0002\u007f', '\u00ff\u00fe', '\r\n']

const fixedPoints = {
  'stops at the highest count, and does not fail': async (store) => {
    const key = newKey()
    await add(store, [increment(key, 1)])
    // Redis would refuse the last ones, and memcached would wrap around to 0.
    for (let call = 0; call < 2_100; call += 1) {
      const [after = 0] = await add(store, [increment(key, highestCount)])
      assert.ok(after >= highestCount, `${after} after ${call + 1} calls`)
    }
    const [after = 0] = await add(store, [increment(key, 1)])
    const [stored = 0] = await read(store, key)
    assert.ok(after >= highestCount && stored >= highestCount, `${after}, stored: ${stored}`)
  },
  'adds up': async (store) => {
    const key = newKey()
    assert.deepEqual(await add(store, [increment(key, 1)]), [1])
    assert.deepEqual(await add(store, [increment(key, 1)]), [2])
    assert.deepEqual(await add(store, [increment(key, 5)]), [7])
    assert.deepEqual(await read(store, key), [7])
  },

  'changes several counters in one call': async (store) => {
    const names = Array.from({ length: 100 }, () => newKey())
    const first = names.map((key, i) => increment(key, i + 1))
    assert.deepEqual(
      await add(store, first),
      names.map((_, i) => i + 1),
    )
    const second = names.map((key) => increment(key, 1)).reverse()
    assert.deepEqual(await add(store, second), names.map((_, i) => i + 2).reverse())
  },

  'calls back for an empty list': async (store) => {
    assert.deepEqual(await add(store, []), [])
    assert.deepEqual(await addSparing(store, []), [])
    assert.deepEqual(await read(store), [])
  },

  'counts the same counter twice in one call, in order': async (store) => {
    const [key, other] = [newKey(), newKey()]
    const counts = await add(store, [increment(key, 2), increment(other, 1), increment(key, 3)])
    assert.deepEqual(counts, [2, 1, 5])
    assert.deepEqual(await read(store, key, other, key), [5, 1, 5])
  },

  'reads with 0 hits and changes nothing': async (store) => {
    const key = newKey()
    assert.deepEqual(await add(store, [increment(key, 0)]), [0])
    assert.deepEqual(await add(store, [increment(key, 3)]), [3])
    assert.deepEqual(await add(store, [increment(key, 0), increment(key, 0)]), [3, 3])
    assert.deepEqual(await add(store, [increment(key, 1)]), [4])
  },

  'reads without a change, whatever the hits are': async (store) => {
    const [key, unknown] = [newKey(), newKey()]
    await add(store, [increment(key, 3)])
    assert.deepEqual(await read(store, unknown, key), [0, 3])
    assert.deepEqual(await read(store, key, unknown, key), [3, 0, 3])
    assert.deepEqual(await add(store, [increment(unknown, 1)]), [1])
  },

  'counts large numbers of hits exactly': async (store) => {
    const key = newKey()
    assert.deepEqual(await add(store, [increment(key, 4_294_967_295)]), [4_294_967_295])
    assert.deepEqual(await add(store, [increment(key, 4_294_967_295)]), [8_589_934_590])
    const [huge, most] = [newKey(), Number.MAX_SAFE_INTEGER]
    assert.deepEqual(await add(store, [increment(huge, most - 1)]), [most - 1])
    assert.deepEqual(await add(store, [increment(huge, 1)]), [most])
    assert.deepEqual(await read(store, huge), [most])
  },

  'refunds never go below 0': async (store) => {
    const key = newKey()
    await add(store, [increment(key, 5)])
    assert.deepEqual(await add(store, [increment(key, -2)]), [3])
    assert.deepEqual(await add(store, [increment(key, -4)]), [0])
    assert.deepEqual(await read(store, key), [0])
    assert.deepEqual(await add(store, [increment(key, 1)]), [1])
  },

  'a refund of an unknown counter leaves no trace': async (store) => {
    const key = newKey()
    assert.deepEqual(await add(store, [increment(key, -3)]), [0])
    assert.deepEqual(await add(store, [increment(key, 2)]), [2])
  },

  'refunds and adds in one call, in order': async (store) => {
    const key = newKey()
    const changes = [2, -5, 4, -1, 0].map((hits) => increment(key, hits))
    assert.deepEqual(await add(store, changes), [2, 0, 4, 3, 3])
  },

  'keeps unusual keys separate': (store) => countsSeparately(store, strangeNames),

  'keeps keys with control characters separate': (store) => countsSeparately(store, controlNames),

  'keeps keys of 10 kB separate': async (store) => {
    const long = 'x'.repeat(10_000)
    await countsSeparately(store, [long, `${long}y`, `y${long}`, 'ü'.repeat(5_000)])
  },

  'keeps windows of one key separate': async (store) => {
    const key = newKey()
    const windows = [window, window + unitSeconds, window + 1]
    for (const [i, startsAt] of windows.entries()) {
      assert.deepEqual(await add(store, [increment(key, i + 1, { startsAt })]), [i + 1])
    }
    const all = windows.map((startsAt) => increment(key, 10, { startsAt }))
    assert.deepEqual(await add(store, all), [11, 12, 13])
  },

  'identifies a counter by key and window, not by unit': async (store) => {
    const key = newKey()
    await add(store, [increment(key, 2)])
    const day = { ...increment(key, 3), unitSeconds: 86_400 * 14 }
    assert.deepEqual(await add(store, [day]), [5])
    assert.deepEqual(await read(store, key), [5])
  },

  'keeps prefixes separate': async (store) => {
    const key = newKey()
    await add(store, [increment(key, 1), increment(`p:${key}`, 2), increment(`q:${key}`, 3)])
    assert.deepEqual(await read(store, key, `p:${key}`, `q:${key}`), [1, 2, 3])
  },

  'returns the counts 1 to 1,000 to 1,000 concurrent calls': async (store) => {
    const [key, other] = [newKey(), newKey()]
    const counts = await Promise.all(
      Array.from({ length: 1000 }, () => add(store, [increment(key, 1), increment(other, 2)])),
    )
    const sorted = (column: number) => counts.map((row) => row[column] ?? 0).sort((a, b) => a - b)
    assert.deepEqual(
      sorted(0),
      Array.from({ length: 1000 }, (_, i) => i + 1),
    )
    assert.deepEqual(
      sorted(1),
      Array.from({ length: 1000 }, (_, i) => 2 * i + 2),
    )
  },

  'loses nothing between concurrent hits and refunds': async (store) => {
    const key = newKey()
    await add(store, [increment(key, 1000)])
    const changes = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? -2 : 3))
    await Promise.all(changes.map((hits) => add(store, [increment(key, hits)])))
    assert.deepEqual(await read(store, key), [1000 + 200 * 3 - 100 * 2])
  },

  'never returns less than 0 with concurrent refunds': async (store) => {
    const key = newKey()
    const changes = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? 1 : -2))
    const counts = await Promise.all(changes.map((hits) => add(store, [increment(key, hits)])))
    for (const [after = Number.NaN] of counts) assert.ok(after >= 0, `${after}`)
    await add(store, [increment(key, -300)])
    assert.deepEqual(await add(store, [increment(key, 1)]), [1])
  },

  'answers before a future deadline': async (store) => {
    const key = newKey()
    assert.deepEqual(await add(store, [increment(key, 1)], performance.now() + 60_000), [1])
  },

  'calls back once after the deadline has passed, with an error or the correct count': async (
    store,
  ) => {
    const key = newKey()
    const [late, lateRead] = [increment(key, 1), increment(key, 0)]
    const error = await call(store, 'add', [late], performance.now() - 1000)
    if (error) assertStoreError(error)
    else assert.equal(late.after, 1)
    for (const method of methods) {
      const lateError = await call(store, method, [lateRead], performance.now() - 1000)
      if (lateError) assertStoreError(lateError)
    }
    // A failed change may or may not have been made, but the store keeps counting.
    const [before = Number.NaN] = await read(store, key)
    assert.deepEqual(await add(store, [increment(key, 1)]), [before + 1])
  },

  'sets every count before it calls back': async (store) => {
    const key = newKey()
    const increments = [increment(key, 1), increment(newKey(), 2)]
    const seen = await new Promise<number[]>((resolve, reject) => {
      store.add(increments, Number.POSITIVE_INFINITY, (error) => {
        if (error) reject(error)
        else resolve(increments.map(({ after }) => after))
      })
    })
    assert.deepEqual(seen, [1, 2])
  },
} satisfies Points

const closingPoints = {
  'calls back exactly once for every call': async () => {
    while (callbacks.pending > 0) await sleep(10)
    await sleep(50)
    assert.deepEqual(callbacks, { pending: 0, repeated: 0 })
  },

  'ends every outstanding call once when it is closed': async (store) => {
    const [key, unheard] = [newKey(), new Set<number>()]
    let repeated = 0
    for (let i = 0; i < 100; i++) {
      unheard.add(i)
      store.add([increment(key, 1)], Number.POSITIVE_INFINITY, (error) => {
        if (error) assertStoreError(error)
        if (!unheard.delete(i)) repeated++
      })
    }
    await store[Symbol.asyncDispose]()
    assert.equal(unheard.size, 0)
    assert.equal(repeated, 0)
  },

  'fails calls after it was closed, and can be closed twice': async (store) => {
    await store[Symbol.asyncDispose]()
    for (const method of methods) {
      assertStoreError(await call(store, method, [increment(newKey(), 1)]))
      assertStoreError(await call(store, method, [sliding(newKey(), 1)]))
    }
    assert.deepEqual(callbacks, { pending: 0, repeated: 0 })
  },
} satisfies Points

/** Requirements that a store cannot meet if it counts only after it has answered. */
const promptPoints = { ...atomicSlidingPoints, ...realSparingPoints, ...atomicSparingPoints }
const points = {
  ...fixedPoints,
  ...slidingPoints,
  ...sparingPoints,
  ...promptPoints,
  ...closingPoints,
}

export type ContractPoint = keyof typeof points

export interface StoreExceptions {
  /**
   * Why the store counts only after it has answered, so that it neither supports `addSparing` nor is exact
   * under concurrency.
   */
  readonly countsAfterAnswer?: string
}

/**
 * Checks the requirements for every counter store with a real one. Call it at the top of a test file:
 *
 *     testCounterStore('redis', async (t) => {
 *       const redis = await open(t, 'redis')
 *       return redis && openRedisStore({ url: redis.url })
 *     })
 *
 * The opener returns undefined if its server is not available: the suite is then skipped. The suite closes
 * the store.
 * @param except - the requirements that this kind of store cannot meet, each with its documented reason
 */
export function testCounterStore(
  name: string,
  open: (t: TestContext) => Promise<CounterStore | undefined>,
  except: { readonly [Point in ContractPoint]?: string } = {},
  { countsAfterAnswer }: StoreExceptions = {},
): void {
  const reasons = new Map<string, string>(Object.entries(except))
  if (countsAfterAnswer !== undefined) {
    for (const point of Object.keys(promptPoints)) reasons.set(point, countsAfterAnswer)
  }
  test(`the ${name} store`, async (t) => {
    const store = await open(t)
    if (!store) {
      t.skip('its server is missing')
      return
    }
    for (const [point, check] of Object.entries(points)) {
      const skip = reasons.get(point) ?? false
      await t.test(point, { skip }, () => check(store))
    }
    await store[Symbol.asyncDispose]()
  })
}

/** Counts every name differently and then reads all of them, in fixed and sliding windows. */
async function countsSeparately(store: CounterStore, names: readonly string[]): Promise<void> {
  const shared = newKey()
  const apart = names.map((name) => `${shared}${name}_`)
  const counts = names.map((_, i) => i + 1)
  const first = apart.map((key, i) => increment(key, i + 1))
  assert.deepEqual(await add(store, first), counts)
  assert.deepEqual(await read(store, ...apart), counts)
  const slidingFirst = apart.map((key, i) => sliding(key, i + 1, { most: 100 }))
  assert.deepEqual(await add(store, slidingFirst), counts)
  assert.deepEqual(await readThese(store, slidingFirst), counts)
}
