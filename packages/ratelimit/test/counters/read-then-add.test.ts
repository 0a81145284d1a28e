import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Counted, type Increment, StoreError } from '../../src/counters/counter-store.ts'
import { type MemoryStore, openMemoryStore } from '../../src/counters/memory/memory-store.ts'
import { readThenAdd } from '../../src/counters/read-then-add.ts'
import { testCounterStore } from './contract.ts'
import { add, increment, sliding } from './contract-calls.ts'

/** With several servers nothing is atomic: concurrent calls may come between the steps. */
const twoSteps = 'checking and adding are two steps here'

/** A store that responds in a later turn, like one behind a network, and checks before it adds. */
function openDistantStore(): MemoryStore {
  const store = openMemoryStore()
  const later =
    (method: 'add' | 'read') =>
    (increments: readonly Increment[], deadlineMs: number, counted: Counted) => {
      setImmediate(() => store[method](increments, deadlineMs, counted))
    }
  const steps = { add: later('add'), read: later('read') }
  return {
    get size() {
      return store.size
    },
    get bytes() {
      return store.bytes
    },
    get evicted() {
      return store.evicted
    },
    add: store.add.bind(store),
    read: store.read.bind(store),
    addSparing: (increments, deadlineMs, counted) => {
      readThenAdd(steps, increments, deadlineMs, counted)
    },
    close: store.close.bind(store),
    [Symbol.asyncDispose]: store[Symbol.asyncDispose].bind(store),
  }
}

testCounterStore('two step', async () => openDistantStore(), {
  'changes no other counter for refused calls among 300 concurrent ones': twoSteps,
})

function open(t: TestContext): MemoryStore {
  const store = openMemoryStore()
  t.after(() => store[Symbol.asyncDispose]())
  return store
}

function readAndAdd(
  store: Parameters<typeof readThenAdd>[0],
  increments: readonly Increment[],
): Promise<StoreError | undefined> {
  return new Promise((resolve) => {
    readThenAdd(store, increments, Number.POSITIVE_INFINITY, resolve)
  })
}

test('concurrent calls may count refused hits, but never allow more than the limit', async (t) => {
  const store = openDistantStore()
  t.after(() => store[Symbol.asyncDispose]())
  const calls = Array.from({ length: 50 }, () => [
    increment('tight_', 1, { most: 10 }),
    sliding('sliding_', 1),
    increment('free_', 1),
  ])
  await Promise.all(
    calls.map(
      (one) => new Promise((resolve) => store.addSparing(one, Number.POSITIVE_INFINITY, resolve)),
    ),
  )
  for (const at of [0, 1]) {
    const admitted = calls.filter((one) => (one[at]?.after ?? 0) <= 10)
    assert.equal(admitted.length, 10)
  }
  const [free = 0] = await add(store, [increment('free_', 0)])
  assert.ok(free >= 10, `${free}`)
})

test('a refund between the steps does not allow a call whose other counters were left unchanged', async (t) => {
  const store = open(t)
  await add(store, [increment('full_', 5)])
  const between = {
    read: store.read.bind(store),
    add: (increments: readonly Increment[], deadlineMs: number, counted: Counted) => {
      store.add([increment('full_', -3)], deadlineMs, () => {})
      store.add(increments, deadlineMs, counted)
    },
  }
  const increments = [increment('full_', 1, { most: 5 }), increment('free_', 1)]
  assert.equal(await readAndAdd(between, increments), undefined)
  assert.deepEqual(
    increments.map(({ after }) => after),
    [6, 0],
  )
})

test('a failure of either step is reported, and the second step does not follow a failed first one', async (t) => {
  const store = open(t)
  const broken = (_: unknown, __: unknown, counted: Counted) => counted(new StoreError('broken'))
  let additions = 0
  const add = (increments: readonly Increment[], deadlineMs: number, counted: Counted) => {
    additions += 1
    store.add(increments, deadlineMs, counted)
  }
  assert.equal((await readAndAdd({ read: broken, add }, [increment('a_', 1)]))?.message, 'broken')
  assert.equal(additions, 0)
  const read = store.read.bind(store)
  assert.equal((await readAndAdd({ read, add: broken }, [increment('a_', 1)]))?.message, 'broken')
  const over = [increment('a_', 9, { most: 1 }), increment('b_', 1)]
  assert.equal((await readAndAdd({ read, add: broken }, over))?.message, 'broken')
})
