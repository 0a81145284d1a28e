import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseError } from 'pg'
import type { AuditNotice } from '../../src/db/audit-notices.ts'
import { Batches } from '../../src/db/batches.ts'
import { batch, findShared, type Row, type Statement, statement } from '../../src/db/statement.ts'

const findOne = statement('find_one', batch(['id']), 'select …')
const writeAll = statement('write_all', batch(['id', 'auditId']), 'update …')
const writeOne = statement('write_one', ['id', 'auditId'], 'update …').sharing(writeAll)

interface Sent {
  readonly name: string
  readonly values: readonly object[]
}

function openBatches(
  answer: (values: readonly object[], name: string) => readonly Row[],
  toAudited: (values: readonly object[]) => readonly AuditNotice[] = () => [],
) {
  const sent: Sent[] = []
  const batches = new Batches(async ({ name }, given) => {
    const values: readonly object[] = Array.isArray(given) ? given : [given]
    sent.push({ name, values })
    return { rows: answer(values, name), audited: toAudited(values) }
  })
  const run = async (one: Statement, values: object) =>
    batches.run(one, findShared(one) ?? assert.fail('not a batch'), values)
  return {
    sent,
    find: async (id: number) => (await run(findOne, { id })).rows,
    write: async (id: number) => run(writeOne, { id, auditId: `audit-${id}` }),
  }
}

const toRows = (values: readonly object[]) =>
  values.map((value, index) => ({ ...value, position: index + 1 }))
const sizes = (sent: readonly Sent[]) => sent.map(({ name, values }) => [name, values.length])

test('requests that arrive together are answered by one execution, each with its own rows', async () => {
  // PostgreSQL may return the rows in any order, and none for a request.
  const { sent, find } = openBatches((values) => toRows(values).toReversed().slice(1))
  const [first, second, third] = await Promise.all([find(7), find(8), find(9)])
  assert.deepEqual(sent, [{ name: 'find_one', values: [{ id: 7 }, { id: 8 }, { id: 9 }] }])
  assert.deepEqual(first, [{ id: 7, position: 1 }])
  assert.deepEqual(second, [{ id: 8, position: 2 }])
  assert.deepEqual(third, [])
})

test('a request that arrives after a batch was sent is in the next one', async () => {
  const { sent, find } = openBatches(toRows)
  await find(1)
  await find(2)
  assert.deepEqual(sizes(sent), [
    ['find_one', 1],
    ['find_one', 1],
  ])
})

test('a batch has at most 16 requests', async () => {
  const { sent, find } = openBatches(toRows)
  const found = await Promise.all(Array.from({ length: 33 }, (_, id) => find(id)))
  assert.deepEqual(
    sent.map(({ values }) => values.length),
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

test('a single request uses the statement for one', async () => {
  const { sent, write } = openBatches(toRows)
  await write(1)
  await Promise.all([write(2), write(3)])
  assert.deepEqual(sizes(sent), [
    ['write_one', 1],
    ['write_all', 2],
  ])
})

test('a request that a batch could not handle is executed alone, and the others do not wait for it', async () => {
  const alone = Promise.withResolvers<void>()
  const batches = new Batches(async ({ name }, values) => {
    if (name === 'write_one') await alone.promise
    const all = Array.isArray(values) ? values : [values]
    const rows = toRows(all).map((row, index) => ({
      ...row,
      is_busy: all.length > 1 && index === 0,
    }))
    return { rows, audited: [] }
  })
  const write = (id: number) => batches.run(writeOne, writeAll, { id })
  const first = write(1)
  const { rows } = await write(2)
  assert.deepEqual(rows, [{ id: 2, position: 2, is_busy: false }])
  alone.resolve()
  assert.deepEqual((await first).rows, [{ id: 1, position: 1, is_busy: false }])
})

test('if a batch fails, the request that caused it fails alone', async () => {
  const { sent, write } = openBatches((values) => {
    if (values.some((value) => Reflect.get(value, 'id') === 2)) {
      throw new DatabaseError('raised by a trigger', 0, 'error')
    }
    return toRows(values)
  })
  const all = await Promise.allSettled([write(1), write(2), write(3)])
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(sizes(sent), [
    ['write_all', 3],
    ['write_one', 1],
    ['write_one', 1],
    ['write_one', 1],
  ])
})

test('a batch whose connection is lost is not repeated, because it may have been executed', async () => {
  const { sent, write } = openBatches(() => {
    throw new Error('Connection terminated unexpectedly')
  })
  const all = await Promise.allSettled([write(1), write(2)])
  assert.deepEqual(
    all.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual(sizes(sent), [['write_all', 2]])
})

test('every request gets its own audit entries', async () => {
  const { write } = openBatches(toRows, (values) =>
    values
      .map((value) => ({ id: Reflect.get(value, 'auditId'), payload: {}, ip: '' }))
      .toReversed(),
  )
  const all = await Promise.all([write(1), write(2)])
  assert.deepEqual(
    all.map(({ audited }) => audited.map(({ id }) => id)),
    [['audit-1'], ['audit-2']],
  )
})
