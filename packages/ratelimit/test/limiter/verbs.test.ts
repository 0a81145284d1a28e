/**
 * @servers redis, redis-cluster, redis-sentinel, memcached
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  createRateLimiter,
  type KeyedRateLimiter,
  type LimitResult,
  openMemoryStore,
  type SharedOptions,
} from '@portcullis/ratelimit'
import { open } from '@portcullis/test-servers'
import { until } from '../support/service-process.ts'

const limits = {
  user: '5/day',
  sliding: { limit: '5/day', algorithm: 'sliding_window' },
} as const
/** A timeout that is longer than a busy machine needs. */
const timeoutMs = 120_000
const noon = Date.UTC(2026, 0, 1, 12)

const stores = {
  memory: async () => 'memory:',
  redis: async (t: TestContext) => {
    const server = await open(t, 'redis')
    return server && `redis://127.0.0.1:${server.port}`
  },
  'redis-cluster': async (t: TestContext) => {
    const cluster = await open(t, 'redis-cluster')
    return cluster && `redis-cluster://127.0.0.1:${cluster.port}`
  },
  'redis-sentinel': async (t: TestContext) => {
    const sentinel = await open(t, 'redis-sentinel')
    const watchers = sentinel?.sentinels.map(({ port }) => `127.0.0.1:${port}`)
    return watchers && `redis-sentinel://${[sentinel?.masterName, ...watchers].join(',')}`
  },
  memcached: async (t: TestContext) => {
    const server = await open(t, 'memcached')
    return server && `memcached://127.0.0.1:${server.port}`
  },
}

function create(t: TestContext, options: SharedOptions) {
  const limiter = createRateLimiter({
    limits,
    logger: false,
    timeoutMs,
    now: () => noon,
    ...options,
  })
  t.after(() => limiter.close())
  return limiter
}

const remaining = ({ statuses }: LimitResult) => statuses[0]?.remaining

for (const [name, openStore] of Object.entries(stores)) {
  test(`${name}: peek, refund, penalty, reset and block work`, async (t) => {
    const store = await openStore(t)
    if (store === undefined) return
    let nowMs = noon
    const now = () => nowMs
    const limiter = create(t, { store, now, sharedBlocks: true })
    for (const values of [{ user: 'alice' }, { sliding: 'alice' }]) {
      assert.equal(remaining(await limiter.peek(values)), 5)
      assert.equal(remaining(await limiter.limit(values, { hits: 4 })), 1)
      assert.equal(remaining(await limiter.peek(values)), 1)
      const tooMany = await limiter.peek(values, { hits: 2 })
      assert.deepEqual([tooMany.isAllowed, remaining(tooMany)], [false, 1])
      assert.equal(remaining(await limiter.refund(values, { hits: 2 })), 3)
      assert.equal(remaining(await limiter.penalty(values)), 2)
      assert.equal((await limiter.penalty(values, { hits: 7 })).isAllowed, false)
      assert.equal((await limiter.peek(values)).isAllowed, false)
      await limiter.reward(values, { hits: 7 })
      assert.equal(remaining(await limiter.peek(values)), 2)
      await limiter.reset(values)
      assert.equal(remaining(await limiter.peek(values)), 5)

      await limiter.block(values, 60)
      const blocked = await limiter.limit(values)
      assert.deepEqual([blocked.isAllowed, blocked.retryAfterSeconds], [false, 60])
      assert.deepEqual(blocked.headers[2], ['RateLimit-Reset', '60'])
      assert.equal((await limiter.peek(values)).isAllowed, false)
      nowMs += 59_000
      assert.equal((await limiter.limit(values)).retryAfterSeconds, 1)
      nowMs += 1_000
      assert.equal(remaining(await limiter.limit(values)), 4)
      await limiter.block(values, 60)
      await limiter.reset(values)
      assert.equal(remaining(await limiter.limit(values)), 4)
    }
  })
}

test('in a Redis Cluster each operation works for limits on different nodes', async (t) => {
  const store = await stores['redis-cluster'](t)
  if (store === undefined) return
  const limiter = create(t, { store, sharedBlocks: true })
  // A dozen users in both kinds of windows have counters and blocks on all three nodes.
  for (let number = 0; number < 12; number += 1) {
    const values = { user: `user-${number}`, sliding: `user-${number}` }
    const remainders = ({ statuses }: LimitResult) => statuses.map((status) => status.remaining)
    assert.deepEqual(remainders(await limiter.limit(values, { hits: 4 })), [1, 1])
    assert.deepEqual(remainders(await limiter.refund(values)), [2, 2])
    assert.deepEqual(remainders(await limiter.penalty(values, { hits: 2 })), [0, 0])
    await limiter.block(values, 60)
    assert.equal((await limiter.peek(values)).retryAfterSeconds, 60)
    await limiter.reset(values)
    assert.deepEqual(remainders(await limiter.peek(values)), [5, 5])
  }
})

test('reset sets a sliding window and the previous one to 0', async (t) => {
  let nowMs = noon
  const limiter = create(t, { now: () => nowMs })
  const alice = { sliding: 'alice' }
  await limiter.limit(alice, { hits: 5 })
  nowMs += 86_400_000 / 2
  assert.equal(remaining(await limiter.peek(alice)), 0)
  await limiter.reset(alice)
  assert.equal(remaining(await limiter.peek(alice)), 5)
})

for (const name of ['redis', 'redis-cluster', 'redis-sentinel', 'memcached'] as const) {
  test(`${name}: a block applies to every process with sharedBlocks`, async (t) => {
    const store = await stores[name](t)
    if (store === undefined) return
    const [one, other] = [
      create(t, { store, sharedBlocks: true }),
      create(t, { store, sharedBlocks: true }),
    ]
    await one.block({ user: 'mallory' }, 3_600)
    const isBlocked = async (limiter: KeyedRateLimiter<'user'>) =>
      (await limiter.limit({ user: 'mallory' })).isAllowed === false
    await until(
      () => isBlocked(other),
      () => 'the other process refuses because of the block',
    )
    await one.block({ user: 'mallory' }, 7_200)
    const third = create(t, { store, sharedBlocks: true })
    await until(
      async () => (await third.peek({ user: 'mallory' })).retryAfterSeconds === 7_200,
      () => 'a third process refuses because of the longer block',
    )
    await assert.rejects(
      create(t, { store }).block({ user: 'a' }, 1),
      /needs the option sharedBlocks/,
    )
  })
}

test('a counter that is over its limit is refused without the store, until its window ends', async (t) => {
  let calls = 0
  const inner = openMemoryStore()
  t.after(() => inner[Symbol.asyncDispose]())
  const store: typeof inner = Object.assign(Object.create(inner), {
    add(...call: Parameters<typeof inner.add>) {
      calls += 1
      inner.add(...call)
    },
  })
  let nowMs = noon
  const alice = { user: 'alice' }
  const limiter = create(t, { store, now: () => nowMs })
  for (let call = 0; call < 9; call += 1) await limiter.limit(alice)
  assert.equal(calls, 6)
  await limiter.refund(alice, { hits: 2 })
  assert.equal((await limiter.limit(alice)).isAllowed, true)
  assert.equal((await limiter.limit(alice)).isAllowed, false)
  nowMs += 86_400_000
  assert.equal((await limiter.limit(alice)).isAllowed, true)
  calls = 0
  const uncached = create(t, { store, localCache: false, now: () => nowMs })
  for (let call = 0; call < 9; call += 1) await uncached.limit(alice)
  assert.equal(calls, 9)
})

test('invalid arguments are refused', async (t) => {
  const limiter = create(t, {})
  await assert.rejects(limiter.refund({ user: 'a' }, { hits: 0 }), /hits must be at least 1/)
  await assert.rejects(
    limiter.block({ user: 'a' }, 0),
    /seconds of a block must be a number above 0/,
  )
  await assert.rejects(limiter.limit({ user: 'a' }, { hits: 1.5 }), /hits must be a whole number/)
})
