import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBuckets } from '../../src/limits/buckets.ts'
import {
  type LimiterName,
  type LimitTable,
  limiterNames,
  type RequestLimit,
} from '../../src/limits/request-limits.ts'

/** Buckets with the same limit for every limiter, and a clock that the test sets. */
function openBuckets(limit: RequestLimit | undefined) {
  const clock = { now: 1_000_000 }
  const limits = Object.fromEntries(limiterNames.map((name) => [name, limit]))
  const announced: string[] = []
  let hear: (limiter: LimiterName, key: string, count: number) => void = () => {}
  const buckets = createBuckets(limits as LimitTable, () => clock.now, {
    report: (limiter, key, count) => announced.push(`${limiter} ${key} ${count}`),
    onReport(taken) {
      hear = taken
    },
  })
  const take = (key = 'a', limiter: LimiterName = 'token') => buckets.take(limiter, key)
  const peek = () => buckets.peek('token', 'a')
  const clear = () => buckets.clear('token', 'a')
  return { clock, take, peek, clear, announced, hear: (count: number) => hear('token', 'a', count) }
}

/** Six requests per minute: one every ten seconds. */
const six = { most: 6, periodMs: 60_000, burst: 2 }

test('a burst is allowed at once, and then one request per refilled token', () => {
  const { clock, take } = openBuckets(six)
  assert.deepEqual([take(), take(), take()], [undefined, undefined, 10])
  clock.now += 9_000
  assert.equal(take(), 1)
  clock.now += 1_000
  assert.deepEqual([take(), take()], [undefined, 10])
})

test('a bucket never holds more than its burst', () => {
  const { clock, take } = openBuckets(six)
  take()
  clock.now += 3_600_000
  assert.deepEqual([take(), take(), take()], [undefined, undefined, 10])
})

test('the seconds to wait are rounded up and never 0', () => {
  const { clock, take } = openBuckets(six)
  take()
  take()
  clock.now += 100
  assert.equal(take(), 10)
  clock.now += 9_899
  assert.equal(take(), 1)
})

test('a clock that is set back neither adds nor removes tokens', () => {
  const { clock, take } = openBuckets(six)
  take()
  clock.now -= 60_000
  assert.deepEqual([take(), take()], [undefined, 10])
})

test('callers and limiters have separate buckets', () => {
  const { take } = openBuckets({ ...six, burst: 1 })
  assert.deepEqual([take('a'), take('b'), take('a', 'verify')], [undefined, undefined, undefined])
  assert.deepEqual([take('a'), take('b'), take('a', 'verify')], [10, 10, 10])
})

test('a disabled limit counts nothing', () => {
  const { take, announced, peek, hear } = openBuckets(undefined)
  hear(5)
  for (let taken = 0; taken < 100; taken += 1) assert.equal(take(), undefined)
  assert.deepEqual(peek(), { left: Number.POSITIVE_INFINITY, waitSeconds: 0 })
  assert.deepEqual(announced, [])
})

test('peeking takes no token, and a cleared bucket is full', () => {
  const { clock, take, peek, clear, announced, hear } = openBuckets(six)
  assert.deepEqual(peek(), { left: 2, waitSeconds: 0 })
  take()
  clock.now += 5_000
  assert.deepEqual(peek(), { left: 1, waitSeconds: 0 })
  take()
  assert.deepEqual(peek(), { left: 0, waitSeconds: 5 })
  assert.deepEqual(announced, ['token a 1', 'token a 1'])
  clear()
  assert.deepEqual(peek(), { left: 2, waitSeconds: 0 })
  assert.equal(announced.at(-1), 'token a -Infinity')
  // Peers clear the bucket as well; clearing a full bucket is not announced.
  clear()
  assert.equal(announced.length, 3)
  take()
  take()
  hear(Number.NEGATIVE_INFINITY)
  assert.deepEqual(peek(), { left: 2, waitSeconds: 0 })
})

test('only allowed requests are announced to peers', () => {
  const { take, announced } = openBuckets({ ...six, burst: 1 })
  take('a')
  take('a')
  take('b', 'verify')
  assert.deepEqual(announced, ['token a 1', 'verify b 1'])
})

test('requests allowed by peers are deducted, even below zero', () => {
  const { clock, take, hear } = openBuckets(six)
  hear(1)
  assert.deepEqual([take(), take()], [undefined, 10])
  hear(2)
  assert.equal(take(), 30)
  clock.now += 30_000
  assert.deepEqual([take(), take()], [undefined, 10])
})

test('with more than 100,000 callers, the least recently seen one is forgotten', () => {
  const { take } = openBuckets({ ...six, burst: 1 })
  take('first')
  take('second')
  for (let other = 0; other < 99_998; other += 1) take(`other ${other}`)
  assert.equal(take('first'), 10)
  take('one more')
  assert.equal(take('first'), 10)
  assert.equal(take('second'), undefined)
})
