import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Batches } from '../../src/db/batches.ts'
import { batch, type Row, statement } from '../../src/db/statement.ts'

const findOne = statement('find_one', batch(['id']), 'select …')

function openBatches(answer: (values: readonly object[]) => readonly Row[]) {
  const sent: (readonly object[])[] = []
  const batches = new Batches(async (_statement, values) => {
    sent.push(values)
    return answer(values)
  })
  return { sent, find: (id: number) => batches.run(findOne, { id }) }
}

const toRows = (values: readonly object[]) =>
  values.map((value, index) => ({ ...value, position: index + 1 }))

test('requests that arrive together are answered by one execution, each with its own rows', async () => {
  // PostgreSQL may return the rows in any order, and none for a request.
  const { sent, find } = openBatches((values) => toRows(values).toReversed().slice(1))
  const [first, second, third] = await Promise.all([find(7), find(8), find(9)])
  assert.deepEqual(sent, [[{ id: 7 }, { id: 8 }, { id: 9 }]])
  assert.deepEqual(first, [{ id: 7, position: 1 }])
  assert.deepEqual(second, [{ id: 8, position: 2 }])
  assert.deepEqual(third, [])
})

test('a request that arrives after a batch was sent is in the next one', async () => {
  const { sent, find } = openBatches(toRows)
  await find(1)
  await find(2)
  assert.deepEqual(sent, [[{ id: 1 }], [{ id: 2 }]])
})

test('a batch has at most 16 requests', async () => {
  const { sent, find } = openBatches(toRows)
  const found = await Promise.all(Array.from({ length: 33 }, (_, id) => find(id)))
  assert.deepEqual(
    sent.map(({ length }) => length),
    [16, 16, 1],
  )
  assert.deepEqual(
    found.map(([row]) => row?.['id']),
    Array.from({ length: 33 }, (_, id) => id),
  )
})

test('a failure is the failure of every request of the batch, and only of those', async () => {
  const { find } = openBatches((values) => {
    if (values.length > 1) throw new Error('no connection')
    return toRows(values)
  })
  const both = await Promise.allSettled([find(1), find(2)])
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual(await find(3), [{ id: 3, position: 1 }])
})
