import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Counted, CounterStore, Increment } from '../../src/counters/counter-store.ts'
import { StoreError } from '../../src/counters/counter-store.ts'
import { openMemoryStore } from '../../src/counters/memory/memory-store.ts'
import { addInSlices } from '../../src/decide/count.ts'

function createIncrements(count: number): Increment[] {
  return Array.from({ length: count }, () => ({
    key: 'a',
    window: 100,
    unitSeconds: 1,
    hits: 1,
    most: 10,
    isStrict: true,
    overlapMs: 0,
    previous: 0,
    after: 0,
  }))
}

test('a store that counts at once gets all slices in one turn of the event loop', async (t) => {
  const seconds = { now: 100.9 }
  await using store = openMemoryStore({ now: () => seconds.now * 1_000 })
  const increments = createIncrements(150)
  // In the next turn the window has ended, and another request counts in the next one.
  const other = createIncrements(1).map((each) => ({ ...each, window: 101 }))
  setImmediate(() => {
    seconds.now = 101
    store.add(other, Number.POSITIVE_INFINITY, () => {})
  })
  const counted = t.mock.fn<Counted>()
  addInSlices(store, increments, 64, Number.POSITIVE_INFINITY, counted)
  await turn()
  await turn()
  assert.deepEqual(
    counted.mock.calls.map((call) => call.arguments),
    [[undefined]],
  )
  assert.deepEqual(
    increments.map(({ after }) => after),
    Array.from({ length: 150 }, (_, index) => index + 1),
  )
})

test('a store on the network gets a slice when it has counted the previous one', async (t) => {
  const calls: { readonly length: number; readonly counted: Counted }[] = []
  const store: Pick<CounterStore, 'add'> = {
    add: ({ length }, _deadlineMs, counted) => void calls.push({ length, counted }),
  }
  const counted = t.mock.fn<Counted>()
  addInSlices(store, createIncrements(150), 64, Number.POSITIVE_INFINITY, counted)
  for (const lengths of [[64], [64, 64], [64, 64, 22]]) {
    assert.deepEqual(
      calls.map(({ length }) => length),
      lengths,
    )
    assert.equal(counted.mock.callCount(), 0)
    calls.at(-1)?.counted(undefined)
    await turn()
  }
  assert.equal(counted.mock.callCount(), 1)
})

test('after a slice fails, the others are not counted', (t) => {
  const add = t.mock.fn<CounterStore['add']>((_increments, _deadlineMs, counted) =>
    counted(new StoreError('no connection')),
  )
  const counted = t.mock.fn<Counted>()
  addInSlices({ add }, createIncrements(150), 64, Number.POSITIVE_INFINITY, counted)
  assert.equal(add.mock.callCount(), 1)
  assert.match(`${counted.mock.calls[0]?.arguments[0]}`, /no connection/)
  assert.equal(counted.mock.callCount(), 1)
})
