import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BucketPeers, createBuckets } from '../../src/limits/buckets.ts'
import type { LimiterName } from '../../src/limits/request-limits.ts'
import { limiterNames, type RequestLimit } from '../../src/limits/request-limits.ts'

const limit = { most: 10, periodMs: 10_000, burst: 3 }
const limits = Object.fromEntries(limiterNames.map((name) => [name, limit])) as Record<
  LimiterName,
  RequestLimit
>

/** Processes that exchange their counts when `meet` is called. */
function openPeers(count: number, now: () => number) {
  let pending: { own: number; limiter: LimiterName; key: string; count: number }[] = []
  const receivers: Parameters<BucketPeers['onReport']>[0][] = []
  const peers = Array.from({ length: count }, (_, own) =>
    createBuckets(limits, now, {
      report: (limiter, key) => {
        const same = pending.find((one) => one.own === own && one.key === key)
        if (same) same.count += 1
        else pending.push({ own, limiter, key, count: 1 })
      },
      onReport: (taken) => receivers.push(taken),
    }),
  )
  const meet = () => {
    const announced = pending
    pending = []
    for (const { own, limiter, key, count } of announced) {
      for (const [place, receive] of receivers.entries())
        if (place !== own) receive(limiter, key, count)
    }
  }
  const take = (place: number, key = 'a') => peers[place]?.take('otp', key)
  return { take, meet }
}

test('requests allowed by one process count in the others', () => {
  const { take, meet } = openPeers(2, () => 0)
  assert.deepEqual([take(0), take(0)], [undefined, undefined])
  meet()
  assert.deepEqual([take(1), take(1)], [undefined, 1])
  meet()
  assert.equal(take(0), 1)
  assert.equal(take(0, 'b'), undefined)
})

test('excess requests allowed concurrently are paid back, so the average rate stays within the limit', () => {
  let nowMs = 0
  const { take, meet } = openPeers(3, () => nowMs)
  const takeAll = () => {
    let passed = 0
    for (const place of [0, 1, 2]) while (take(place) === undefined) passed += 1
    meet()
    return passed
  }
  assert.equal(takeAll(), 9)
  assert.equal(take(0), 7)
  nowMs = 6_000
  assert.equal(takeAll(), 0)
  let passed = 0
  for (; nowMs <= 60_000; nowMs += 1_000) {
    for (const place of [0, 1, 2]) if (take(place) === undefined) passed += 1
    meet()
  }
  assert.ok(passed >= 50 && passed <= 60, `${passed}`)
})
