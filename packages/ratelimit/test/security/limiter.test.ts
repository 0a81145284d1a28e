/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRateLimiter, StoreError } from '@portcullis/ratelimit'
import { open } from '@portcullis/test-servers'
import { openReadyStore } from '../counters/redis/support/store.ts'

const limit = 100
const rules = `
domain: api
descriptors:
  - { key: user, rate_limit: { unit: day, requests_per_unit: ${limit} } }
  - { key: shared, rate_limit: { unit: day, requests_per_unit: 100000 } }
  - { key: sliding, rate_limit: { unit: day, requests_per_unit: ${limit}, algorithm: sliding_window } }
`
/** A timeout that is longer than a busy machine needs. */
const patient = { timeoutMs: 60_000 }
/** A constant time, so that there is only one window even at midnight. */
const now = () => Date.UTC(2026, 0, 1, 12)

function openLimiter(
  t: TestContext,
  options: Partial<Parameters<typeof createRateLimiter>[0]> = {},
) {
  const limiter = createRateLimiter({ rules, now, log: () => {}, ...options })
  t.after(() => limiter[Symbol.asyncDispose]())
  return limiter
}

type Limiter = ReturnType<typeof openLimiter>

/**
 * Makes four times the limit of concurrent calls, distributed over the limiters, and counts the allowed ones.
 */
async function countAllowed(limiters: readonly Limiter[], key: string): Promise<number> {
  const request = { domain: 'api', descriptors: [{ [key]: 'mallory' }] }
  const calls = Array.from({ length: 4 * limit }, (_, index) =>
    limiters[index % limiters.length]?.limit(request, patient),
  )
  const results = await Promise.all(calls)
  return results.filter((result) => result?.isAllowed).length
}

for (const key of ['user', 'sliding']) {
  test(`a limiter in memory allows exactly the limit to concurrent calls (${key})`, async (t) => {
    assert.equal(await countAllowed([openLimiter(t)], key), limit)
  })
}

test('limiters with one Redis together allow exactly the limit to concurrent calls', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const limiters: Limiter[] = []
  for (let opened = 0; opened < 3; opened += 1) {
    const url = `127.0.0.1:${redis.port}`
    // A call that timed out on a busy machine may have been counted, so the timeout is long.
    const store = await openReadyStore(t, { url, commandTimeoutMs: 60_000 })
    limiters.push(openLimiter(t, { store }))
  }
  assert.equal(await countAllowed(limiters, 'user'), limit)
  assert.equal(await countAllowed(limiters, 'sliding'), limit)
})

test('refused calls do not change the counters of other limits, if that is configured', async (t) => {
  const limiter = openLimiter(t, { stopsIncrementWhenOver: true })
  const both = { domain: 'api', descriptors: [{ user: 'mallory' }, { shared: 'all' }] }
  await Promise.all(Array.from({ length: 4 * limit }, () => limiter.limit(both, patient)))
  const read = { entries: [{ key: 'shared', value: 'all' }], hits: 0 }
  const { statuses } = await limiter.limit({ domain: 'api', descriptors: [read] }, patient)
  assert.equal(statuses[0]?.remaining, 100_000 - limit)
})

test('a limiter whose store is lost fails calls with an error that shows no password', async (t) => {
  const redis = await open(t, 'redis', { password: 'hunter2' })
  if (!redis) return
  const lines: string[] = []
  const store = `redis://:hunter2@127.0.0.1:${redis.port}`
  const limiter = openLimiter(t, { store, log: (line) => lines.push(line) })
  const request = { domain: 'api', descriptors: [{ user: 'mallory' }] }
  assert.equal((await limiter.limit(request, patient)).isAllowed, true)
  await redis.kill()
  await assert.rejects(limiter.limit(request, patient), (error) => {
    assert.ok(error instanceof StoreError)
    assert.doesNotMatch(error.message, /hunter2/)
    return true
  })
  assert.doesNotMatch(lines.join('\n'), /hunter2/)
})
