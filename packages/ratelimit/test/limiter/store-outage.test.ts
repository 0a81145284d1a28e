/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { type CounterStore, createRateLimiter, StoreError } from '@portcullis/ratelimit'
import { open } from '@portcullis/test-servers'
import { Breaker } from '../../src/limiter/store/breaker.ts'
import { GuardedStore } from '../../src/limiter/store/guarded-store.ts'
import { Readiness } from '../../src/limiter/waiting.ts'
import { fromNoon } from '../support/noon-clock.ts'

const limits = { user: '2/day' } as const
const alice = { user: 'alice' }
/** An address without a server. */
const absent = 'redis://127.0.0.1:1'
/** A timeout so long that a call that waits for it never ends. */
const endless = { timeoutMs: 2 ** 30 }

type Options = Omit<Parameters<typeof createRateLimiter>[0], 'rules' | 'limits'>

function create(t: TestContext, options: Options) {
  const limiter = createRateLimiter({ limits, logger: false, now: fromNoon, ...options })
  t.after(() => limiter.close())
  return limiter
}

/** A store whose results are chosen by the test. */
function createFake() {
  const fake = {
    calls: 0,
    error: undefined as StoreError | undefined,
    add(_increments: unknown, _deadlineMs: number, counted: (error?: StoreError) => void) {
      fake.calls += 1
      counted(fake.error)
    },
  }
  const store: CounterStore = {
    add: (...call) => fake.add(...call),
    addSparing: (...call) => fake.add(...call),
    read: (...call) => fake.add(...call),
    async [Symbol.asyncDispose]() {},
  }
  return { fake, store }
}

test('calls fail immediately while the store is known to be unavailable', async (t) => {
  const limiter = create(t, { store: absent })
  const failure = {
    name: 'StoreError',
    message: /^the store cannot be reached: Redis at 127\.0\.0\.1:1: connect ECONNREFUSED/,
  }
  await assert.rejects(limiter.limit(alice, endless), failure)
  await assert.rejects(limiter.limit(alice, endless), failure)
})

test('a store that accepts connections and never answers fails the call at its timeout', async (t) => {
  const server = createServer(() => {})
  t.after(() => server.close())
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const limiter = create(t, { store: `redis://127.0.0.1:${port}`, readyTimeoutMs: 10 })
  await assert.rejects(limiter.limit(alice, { timeoutMs: 10 }), {
    name: 'StoreError',
    message: 'the rate limiter was not ready within 10 ms',
  })
  await assert.rejects(limiter.ready, /did not answer within 10 ms/)
})

test('a call that timed out leaves nothing behind', async () => {
  const readiness = new Readiness()
  await Promise.allSettled([readiness.wait(1), readiness.wait(1)])
  assert.equal(readiness.waiting, 0)
  const waiting = readiness.wait(2 ** 30)
  readiness.markReady()
  await waiting
  assert.equal(readiness.waiting, 0)
})

test('with a fallback, this process counts while the store is unavailable', async (t) => {
  const outages: string[] = []
  const limiter = create(t, {
    store: absent,
    fallback: 'memory',
    onOutage: ({ message }) => outages.push(message),
  })
  await limiter.ready
  const results = [
    await limiter.limit(alice, endless),
    await limiter.limit(alice, endless),
    await limiter.limit(alice, endless),
  ]
  assert.deepEqual(
    results.map(({ isAllowed, isFallback }) => [isAllowed, isFallback]),
    [
      [true, true],
      [true, true],
      [false, true],
    ],
  )
  assert.equal(outages.length, 1)
})

test('a penalty during an outage does not refuse requests after it', async (t) => {
  const { fake, store } = createFake()
  const limiter = create(t, { store, fallback: 'memory', breaker: false })
  fake.error = new StoreError('gone')
  const { isAllowed, isFallback } = await limiter.penalty(alice, { hits: 3 })
  assert.deepEqual([isAllowed, isFallback], [false, true])
  fake.error = undefined
  assert.equal((await limiter.limit(alice)).isAllowed, true)
})

test('an outage is logged once, and so is its end', async (t) => {
  const { fake, store } = createFake()
  const lines: string[] = []
  const logger = { warn: (line: string) => lines.push(line) }
  const limiter = create(t, { store, logger, breaker: false })
  fake.error = new StoreError('gone')
  for (let call = 0; call < 3; call += 1) await assert.rejects(limiter.limit(alice), /gone/)
  fake.error = undefined
  await limiter.limit(alice)
  assert.match(
    lines[0] ?? '',
    /^The rate limit store failed: gone; decisions fail until it answers$/,
  )
  assert.deepEqual(lines.slice(1), ['The rate limit store answers again'])
})

test('after several consecutive failures calls are suspended, and then one call tries the store', () => {
  const { fake, store } = createFake()
  let nowMs = 0
  const events: string[] = []
  const guard = new GuardedStore(store, {
    fallback: undefined,
    breaker: new Breaker({
      name: 'store',
      settings: { failures: 2, pauseMs: 100 },
      elapsed: () => nowMs,
      onOutage: ({ message }) => events.push(message),
      onRecovery: () => events.push('back'),
    }),
  })
  const attempt = () => {
    let answer: string | undefined
    guard.add([], 0, (error) => {
      answer = error?.message ?? 'counted'
    })
    return answer
  }
  fake.error = new StoreError('late')
  assert.deepEqual([attempt(), attempt()], ['late', 'late'])
  assert.match(attempt() ?? '', /was not called: the last 2 calls failed.* made in 100 ms/)
  nowMs = 100
  assert.equal(attempt(), 'late')
  assert.match(attempt() ?? '', /was not called/)
  assert.equal(fake.calls, 3)
  nowMs = 200
  fake.error = undefined
  assert.deepEqual([attempt(), attempt()], ['counted', 'counted'])
  assert.deepEqual(events, ['late', 'back'])
})

test('a script exits when it is done, even if Redis and a folder of rules are still open', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const directory = await mkdtemp(join(tmpdir(), 'limiter-'))
  t.after(() => rm(directory, { recursive: true }))
  const rules =
    'domain: api\ndescriptors: [{ key: a, rate_limit: { unit: day, requests_per_unit: 1 } }]'
  await writeFile(join(directory, 'api.yaml'), rules)
  const limiterModule = JSON.stringify(import.meta.resolve('@portcullis/ratelimit'))
  const script = `
    import { createRateLimiter } from ${limiterModule}
    const open = (options) => createRateLimiter({ rules: { directory: ${JSON.stringify(directory)} }, ...options })
    const attempt = (limiter) => limiter.limit({ descriptors: [{ a: 'x' }] }, { timeoutMs: 60_000 })
    const limiter = open({ store: 'redis://127.0.0.1:${redis.port}' })
    await limiter.ready
    await attempt(limiter)
    const without = open({ store: '${absent}', logger: false })
    await attempt(without).catch((error) => console.log(error.name))
    console.log('done')`
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  assert.equal(stdout, 'StoreError\ndone\n')
})
