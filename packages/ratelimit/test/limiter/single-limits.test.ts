import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimiter, StoreError } from '@portcullis/ratelimit'
import fc from 'fast-check'

/** Requests with one value are counted in one step unless a counter is blocked; then all of them are matched. */
async function createBoth(options: Omit<Parameters<typeof createRateLimiter>[0], 'rules'>) {
  const limits = {
    ip: '3/minute',
    apiKey: { limit: '2/hour', shadowMode: true },
    quota: { limit: '2/minute', quotaMode: true },
    sliding: { limit: '2/minute', algorithm: 'sliding_window' },
    plan: { limit: '2/minute', values: { free: '1/minute' }, per: { user: '1/minute' } },
    named_key: '1/second',
    free: 'unlimited',
  } as const
  const create = () => createRateLimiter({ ...options, limits, logger: false })
  const [single, matched] = [create(), create()]
  await matched.block({ ip: 'blocked' }, 1_000_000)
  return { single, matched }
}

const values = fc.constantFrom('10.0.0.1', '::1', '', 'a_b', 'é', 'x'.repeat(65), 'free', 7, null)
const keys = fc.constantFrom(
  'ip',
  'apiKey',
  'quota',
  'sliding',
  'plan',
  'user',
  'named_key',
  'free',
  'unknown',
)
const requests = fc.array(
  fc.record({ values: fc.dictionary(keys, values, { maxKeys: 2 }), laterMs: fc.nat(40_000) }),
  { maxLength: 40 },
)
const options = fc.constantFrom(
  {},
  { keyFormat: 'compatible', keyPrefix: 'prefix_' },
  { shadowMode: true },
  { stopsIncrementWhenOver: true },
  { domain: 'a_b' },
)

test('counting in one step returns the same results and statistics as matching', async () => {
  await fc.assert(
    fc.asyncProperty(requests, options, async (requests, options) => {
      let nowMs = 1_700_000_000_000
      const { single, matched } = await createBoth({ ...options, now: () => nowMs } as never)
      for (const { values, laterMs } of requests) {
        assert.deepEqual(single.limitSync(values as never), matched.limitSync(values as never))
        nowMs += laterMs
      }
      assert.deepEqual(await single.statistics(), await matched.statistics())
      await Promise.all([single.close(), matched.close()])
    }),
  )
})

test('both ways of counting use the same counters', async () => {
  await using limiter = createRateLimiter({ limits: { ip: '10/hour', user: '10/hour' } })
  const remaining = async (hits: number) =>
    (await limiter.limit({ ip: '192.0.2.1' }, { hits })).statuses[0]?.remaining
  assert.equal(await remaining(1), 9)
  assert.equal(await remaining(2), 7)
  const { statuses } = limiter.limitSync({ ip: '192.0.2.1', user: 'alice' })
  assert.deepEqual(
    statuses.map((status) => status.remaining),
    [6, 9],
  )
  assert.equal(await remaining(1), 5)
  await limiter.reset({ ip: '192.0.2.1' })
  assert.equal(await remaining(1), 9)
})

test('a failed call counts as an error of the store, and new limits apply to the next call', async () => {
  const limiter = createRateLimiter({ limits: { ip: '10/hour' } })
  limiter.limitSync({ ip: '192.0.2.1' })
  limiter.load({ ip: '5/hour' })
  assert.equal(limiter.limitSync({ ip: '192.0.2.1' }).statuses[0]?.limit?.requestsPerUnit, 5)
  await limiter.close()
  assert.throws(() => limiter.limitSync({ ip: '192.0.2.1' }), StoreError)
  await assert.rejects(limiter.limit({ ip: '192.0.2.1' }), StoreError)
  const statistics = new Map(await limiter.statistics())
  assert.equal([...statistics].find(([name]) => name.endsWith('redis_error'))?.[1], 2)
})
