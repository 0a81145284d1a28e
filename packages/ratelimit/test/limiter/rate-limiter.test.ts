/**
 * @servers redis, memcached
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createRateLimiter, RulesError, ServiceError, StoreError } from '@portcullis/ratelimit'
import { open } from '@portcullis/test-servers'
import { fromNoon } from '../support/noon-clock.ts'
import { until } from '../support/service-process.ts'

const rules = `
domain: api
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: shadow
    shadow_mode: true
    rate_limit: { unit: day, requests_per_unit: 0 }
`
const alice = { domain: 'api', descriptors: [{ user: 'alice' }] }
/** A timeout for limiters that wait for files or other limiters, longer than a busy machine needs. */
const patient = { timeoutMs: 120_000 }

function create(t: TestContext, options: Partial<Parameters<typeof createRateLimiter>[0]> = {}) {
  const limiter = createRateLimiter({ rules, log: () => {}, now: fromNoon, ...options })
  t.after(() => limiter[Symbol.asyncDispose]())
  return limiter
}

test('requests are allowed until the limit is reached, and then refused with the time to wait', async (t) => {
  const now = () => Date.UTC(2026, 0, 1, 23, 0, 0)
  const limiter = create(t, { now })
  const first = await limiter.limit(alice)
  assert.deepEqual(first, {
    isAllowed: true,
    isMatched: true,
    isFallback: false,
    statuses: [
      {
        isOver: false,
        isMatched: true,
        keys: ['user'],
        limit: { requestsPerUnit: 2, unit: 'day', windowSeconds: 86_400 },
        remaining: 1,
        resetSeconds: 3_600,
      },
    ],
    headers: [
      ['RateLimit-Limit', '2'],
      ['RateLimit-Remaining', '1'],
      ['RateLimit-Reset', '3600'],
    ],
    retryAfterSeconds: undefined,
  })
  assert.equal((await limiter.limit(alice)).isAllowed, true)
  const third = await limiter.limit(alice)
  assert.equal(third.isAllowed, false)
  assert.equal(third.retryAfterSeconds, 3_600)
  const bob = { domain: 'api', descriptors: [{ user: 'bob' }] }
  assert.equal((await limiter.limit(bob)).isAllowed, true)
})

test('hits are counted, peeked at, or refunded', async (t) => {
  const limiter = create(t)
  const remaining = async (hits: number) => {
    const entries = [{ key: 'user', value: 'alice' }]
    const { statuses } = await limiter.limit({ domain: 'api', descriptors: [{ entries, hits }] })
    return statuses[0]?.remaining
  }
  assert.deepEqual([await remaining(2), await remaining(0), await remaining(-1)], [0, 0, 1])
  const all = await limiter.limit({ ...alice, hits: 2 })
  assert.equal(all.isAllowed, false)
})

test('a limit in the request overrides the rule', async (t) => {
  const limiter = create(t)
  const entries = [{ key: 'user', value: 'alice' }]
  const limit = { requestsPerUnit: 0, unit: 'minute' } as const
  const { isAllowed } = await limiter.limit({ domain: 'api', descriptors: [{ entries, limit }] })
  assert.equal(isAllowed, false)
})

test('a shadow rule refuses nothing', async (t) => {
  const limiter = create(t)
  const result = await limiter.limit({ domain: 'api', descriptors: [{ shadow: 'x' }] })
  assert.equal(result.isAllowed, true)
  const statistics = new Map(await limiter.statistics())
  assert.equal(statistics.get('ratelimit.service.rate_limit.api.shadow.shadow_mode'), 1)
})

test('all errors in the rules are reported together with their places', () => {
  const broken =
    'domain: api\ndescriptors:\n  - key: a\n    rate_limit: { unit: eon }\n  - value: b\n'
  assert.throws(
    () => createRateLimiter({ rules: broken }),
    (error) => {
      assert.ok(error instanceof RulesError)
      assert.match(error.message, /invalid rate limit unit 'eon' \(line 4, column 25\)/)
      assert.match(error.message, /descriptor has empty key \(line 5/)
      return true
    },
  )
})

test('an unknown store is refused with the list of known ones', () => {
  assert.throws(() => createRateLimiter({ rules, store: 'mongodb://x' }), {
    name: 'TypeError',
    message: /store must begin with one of memory:.*redis:\/\/.*memcached:\/\/, not 'mongodb:'/,
  })
})

test('an invalid request is refused before anything is counted', async (t) => {
  const limiter = create(t)
  await assert.rejects(limiter.limit({ domain: '', descriptors: [{ user: 'a' }] }), ServiceError)
  await assert.rejects(limiter.limit({ domain: 'api', descriptors: [] }), ServiceError)
  const broken: Record<string, string> = JSON.parse('{"user": {}}')
  await assert.rejects(limiter.limit({ domain: 'api', descriptors: [broken] }), {
    name: 'TypeError',
    message: "the value of the key 'user' must be a string or a number, not an object",
  })
  await assert.rejects(limiter.limit({ ...alice, hits: 0.5 }), TypeError)
})

test('other rules can be loaded, and invalid ones leave the previous ones in force', async (t) => {
  const limiter = create(t)
  assert.throws(() => limiter.load('domain: api\nfoo: 1'), RulesError)
  assert.equal((await limiter.limit(alice)).statuses[0]?.limit?.requestsPerUnit, 2)
  limiter.load(rules.replace('requests_per_unit: 2', 'requests_per_unit: 9'))
  const { statuses } = await limiter.limit(alice)
  assert.deepEqual([statuses[0]?.limit?.requestsPerUnit, statuses[0]?.remaining], [9, 7])
})

test('a folder of rules is loaded before the first decision, and watched', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'limiter-'))
  t.after(() => rm(directory, { recursive: true }))
  await writeFile(join(directory, 'api.yaml'), rules)
  const limiter = create(t, { rules: { directory } })
  assert.equal((await limiter.limit(alice, patient)).statuses[0]?.remaining, 1)
  assert.throws(() => limiter.load(rules), /come from the folder/)
  await writeFile(join(directory, 'api.yaml'), rules.replace('unit: 2', 'unit: 50'))
  await until(
    async () => (await limiter.limit(alice)).statuses[0]?.limit?.requestsPerUnit === 50,
    () => 'the second version is in force',
  )
})

test('two limiters with one Redis share counters', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const store = `redis://127.0.0.1:${redis.port}`
  const [one, other] = [create(t, { store }), create(t, { store })]
  const answers: boolean[] = []
  for (const each of [one, other, one]) {
    answers.push((await each.limit(alice, patient)).isAllowed)
  }
  assert.deepEqual(answers, [true, true, false])
})

test('limiters with one memcached share counters', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = `memcached://127.0.0.1:${memcached.port}`
  const [one, other] = [create(t, { store }), create(t, { store })]
  await one.limit(alice, patient)
  await until(
    async () => (await other.limit(alice, patient)).isAllowed === false,
    () => 'the hits of both reach the limit',
  )
})

test('a store that the caller supplies is used and not closed', async () => {
  let isClosed = false
  const store = {
    add: (_increments: unknown, _deadlineMs: number, counted: (error: StoreError) => void) =>
      counted(new StoreError('no')),
    addSparing() {},
    read() {},
    async [Symbol.asyncDispose]() {
      isClosed = true
    },
  }
  const limiter = createRateLimiter({ rules, store })
  await assert.rejects(limiter.limit(alice), StoreError)
  await limiter[Symbol.asyncDispose]()
  assert.equal(isClosed, false)
})
