/**
 * @isolated measures the heap of its process
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { TopKeys } from '../../../src/stats/top/top-keys.ts'
import { mergeTopLists, type TopList, truncateTopList } from '../../../src/stats/top/top-list.ts'
import { descriptor } from '../../support/decider.ts'

const start = 1_700_000_000_000

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

test('a million different keys take no more memory than the places, and frequent keys stay listed', () => {
  const keys = new TopKeys(1_000, start)
  const one = descriptor('user=x')
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 1_000_000; i += 1) {
    keys.record(`noise-${i}`, 'd', one, 1, 1, start)
    if (i % 50 === 0) keys.record('first', 'd', one, 2, 2, start)
    if (i % 100 === 0) keys.record('second', 'd', one, 2, 1, start)
  }
  collectGarbage()
  const grown = process.memoryUsage().heapUsed - before
  assert.ok(grown < 4_000_000, `the heap grew by ${grown} bytes`)
  for (const order of ['calls', 'limited'] as const) {
    const list = keys.list(order, start)
    assert.deepEqual(
      list.keys.slice(0, 2).map(({ key }) => key),
      ['first', 'second'],
    )
    assert.equal(list.keys.length, 1_000)
    const [first] = list.keys
    const column = order === 'calls' ? 'hits' : 'limited'
    assert.ok((first?.[column] ?? 0) <= 40_000 && (first?.most ?? 0) >= 40_000)
  }
})

test('long keys are truncated, so that their values cannot fill the memory', () => {
  const keys = new TopKeys(10, start)
  const value = 'v'.repeat(100_000)
  keys.record(`d_user_${value}_`, 'd', descriptor(`user=${value}`, 'other=1'), 1, 0, start)
  const [key] = keys.list('calls', start).keys
  assert.equal(key?.isCut, true)
  assert.equal(key?.key.length, 1_024)
  assert.ok(JSON.stringify(key).length < 3_000)
})

test('values of a rule with a shared counter are truncated too, because its key has only the pattern', () => {
  const keys = new TopKeys(10, start)
  const path = `/files/${'p'.repeat(100_000)}`
  keys.record('d_path_/files/*_', 'd', descriptor(`path=${path}`), 3, 0, start)
  const [key] = keys.list('calls', start).keys
  assert.deepEqual([key?.key, key?.hits, key?.isCut], ['d_path_/files/*_', 3, true])
  assert.ok(JSON.stringify(key).length < 3_000)
})

test('a list covers the last five to ten minutes', () => {
  const keys = new TopKeys(10, start)
  const one = descriptor('user=x')
  keys.record('a', 'd', one, 3, 0, start)
  const minutes = (count: number) => start + count * 60_000
  keys.record('a', 'd', one, 4, 1, minutes(6))
  const both = keys.list('calls', minutes(7))
  assert.deepEqual([both.sinceMs, both.keys[0]?.hits, both.keys[0]?.limited], [start, 7, 1])
  assert.equal(keys.list('calls', minutes(11)).keys[0]?.hits, 4)
  assert.deepEqual(keys.list('calls', minutes(30)).keys, [])
})

test('below 2,000 descriptors per second nothing is sampled; above, the sum of the weights is right', () => {
  const keys = new TopKeys(10, start)
  for (let i = 0; i < 1_900; i += 1) assert.equal(keys.next(start + i / 2, 1), 1)
  assert.equal(keys.list('calls', start + 1_000).isEstimate, false)

  const perSecond = 200_000
  let sum = 0
  let sampled = 0
  for (let i = 0; i < 5 * perSecond; i += 1) {
    const weight = keys.next(start + 2_000 + (i * 1_000) / perSecond, 1)
    sum += weight
    if (weight > 0) sampled += 1
  }
  assert.ok(sampled < 5 * 2_000 * 3, `${sampled} of a million were sampled`)
  assert.ok(Math.abs(sum / (5 * perSecond) - 1) < 0.1, `${sum} instead of ${5 * perSecond}`)
  assert.equal(keys.list('calls', start + 7_000).isEstimate, true)

  // When the load has been low for a while, everything is counted again.
  assert.equal(keys.next(start + 20_000, 1), 1)
  assert.equal(keys.next(start + 20_001, 1), 1)
})

test('lists of several processes are added up; a missing key may have had the floor of that list', () => {
  const note = { domain: 'd', entries: [], limit: undefined, isCut: false }
  const first: TopList = {
    sinceMs: 5,
    isEstimate: false,
    floor: 2,
    keys: [
      { ...note, key: 'a', hits: 10, limited: 4, most: 11 },
      { ...note, key: 'b', hits: 8, limited: 0, most: 8 },
    ],
  }
  const second: TopList = {
    ...first,
    sinceMs: 3,
    isEstimate: true,
    floor: 1,
    keys: [{ ...note, key: 'b', hits: 7, limited: 1, most: 7 }],
  }
  const merged = mergeTopLists([first, second], 'calls')
  assert.deepEqual([merged.sinceMs, merged.isEstimate, merged.floor], [3, true, 3])
  assert.deepEqual(
    merged.keys.map(({ key, hits, limited, most }) => [key, hits, limited, most]),
    [
      ['b', 15, 1, 15],
      ['a', 10, 4, 12],
    ],
  )
})

test('a list of 10,000 keys has the first 1,000, and the floor covers the others', () => {
  const keys = new TopKeys(10_000, start)
  const one = descriptor('user=x')
  for (let i = 0; i < 2_000; i += 1) keys.record(`key-${i}`, 'd', one, i + 1, 0, start)
  const list = keys.list('calls', start)
  assert.deepEqual([list.keys.length, list.keys[0]?.hits, list.floor], [1_000, 2_000, 1_000])
  assert.equal(truncateTopList(list, 1_000), list)
})
