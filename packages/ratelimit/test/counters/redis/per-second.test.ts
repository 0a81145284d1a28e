import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type CounterStore,
  type Increment,
  StoreError,
} from '../../../src/counters/counter-store.ts'
import { openMemoryStore } from '../../../src/counters/memory/memory-store.ts'
import { createPerSecondRouter } from '../../../src/counters/redis/per-second.ts'
import { testCounterStore } from '../contract.ts'
import { add, addSparing, call, increment, sliding } from '../contract-calls.ts'

function openRouter() {
  const [perSecond, others] = [openMemoryStore(), openMemoryStore()]
  const calls: string[] = []
  const router = createPerSecondRouter({
    perSecond: recordCalls('perSecond', perSecond, calls),
    others: recordCalls('others', others, calls),
  })
  return { router, calls, perSecond, others }
}

function recordCalls(name: string, store: CounterStore, calls: string[]): CounterStore {
  const record =
    (method: 'add' | 'addSparing' | 'read'): CounterStore['add'] =>
    (increments, deadlineMs, counted) => {
      calls.push(`${name} ${method} ${increments.length}`)
      store[method](increments, deadlineMs, counted)
    }
  return {
    add: record('add'),
    addSparing: record('addSparing'),
    read: record('read'),
    [Symbol.asyncDispose]: store[Symbol.asyncDispose].bind(store),
  }
}

function open(t: TestContext) {
  const opened = openRouter()
  t.after(() => opened.router[Symbol.asyncDispose]())
  return opened
}

const second = Math.floor(Date.now() / 1000)
function perSecond(key: string, hits: number, most = 10): Increment {
  return { ...increment(key, hits, { most, startsAt: second }), unitSeconds: 1 }
}

testCounterStore('per second router', async () => openRouter().router)

test('a call for one store uses only that store, with the same method', async (t) => {
  const { router, calls } = open(t)
  await add(router, [perSecond('a_', 1)])
  await add(router, [increment('a_', 1), increment('b_', 1)])
  await addSparing(router, [perSecond('a_', 1), perSecond('b_', 1)])
  await addSparing(router, [sliding('a_', 1)])
  await call(router, 'read', [increment('a_', 1)])
  assert.deepEqual(calls, [
    'perSecond add 1',
    'others add 2',
    'perSecond addSparing 2',
    'others addSparing 1',
    'others read 1',
  ])
})

test('windows of several seconds do not count as limits per second', async (t) => {
  const { router, calls } = open(t)
  await add(router, [{ ...perSecond('a_', 1), unitSeconds: 5 }])
  assert.deepEqual(calls, ['others add 1'])
})

test('a call for both stores checks both before it adds', async (t) => {
  const { router, calls } = open(t)
  const toIncrements = () => [perSecond('fast_', 1, 2), increment('slow_', 1), sliding('slow_', 1)]
  assert.deepEqual(await addSparing(router, toIncrements()), [1, 1, 1])
  assert.deepEqual(calls.splice(0), [
    'perSecond read 1',
    'others read 2',
    'perSecond add 1',
    'others add 2',
  ])
  assert.deepEqual(await addSparing(router, toIncrements()), [2, 2, 2])
  assert.deepEqual(await addSparing(router, toIncrements()), [3, 2, 2])
  assert.deepEqual(await add(router, [increment('slow_', 0), perSecond('fast_', 0)]), [2, 3])
})

test('a call for both stores fails if one of them fails', async (t) => {
  const { router, others } = open(t)
  await others[Symbol.asyncDispose]()
  for (const method of ['add', 'addSparing', 'read'] as const) {
    const error = await call(router, method, [perSecond('a_', 1), increment('b_', 1)])
    assert.ok(error instanceof StoreError)
    assert.equal(await call(router, method, [perSecond('a_', 1)]), undefined)
  }
})
