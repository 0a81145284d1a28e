/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from '@portcullis/test-servers'
import { StoreError } from '../../../src/counters/counter-store.ts'
import type { RedisStore } from '../../../src/counters/redis/redis-store.ts'
import { ConnectionCounters } from '../../../src/counters/redis/settings.ts'
import { openProxy } from './support/proxy.ts'
import { command, listEndless } from './support/redis-client.ts'
import {
  count,
  countUntilItWorks,
  createLines,
  openReadyStore,
  openStore,
  toIncrement,
} from './support/store.ts'

function fails(promise: Promise<number>, message: RegExp): Promise<void> {
  return assert.rejects(promise, (error) => {
    assert.ok(error instanceof StoreError, String(error))
    assert.match(error.message, message)
    return true
  })
}

test('calls to a paused Redis fail at their deadlines, and its late replies do no harm', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const store = await openReadyStore(t, { url: `127.0.0.1:${redis.port}` })
  assert.equal(await count(store, 'k_'), 1)
  redis.pause()
  // It has no deadline, so it would end at the command timeout, after the call above.
  let isPatientCounted = false
  const patient = count(store, 'patient_').finally(() => {
    isPatientCounted = true
  })
  const late = toIncrement('k_')
  const error = await new Promise<StoreError | undefined>((resolve) => {
    store.add([late], performance.now() + 1_000, resolve)
  })
  assert.match(error?.message ?? '', /did not answer in time/)
  await fails(
    count(store, 'other_', { deadlineMs: performance.now() + 1_000 }),
    /did not answer in time/,
  )
  assert.equal(isPatientCounted, false)
  redis.resume()
  assert.equal(await patient, 1)
  // The late replies (2 for k_, 1 for other_) are skipped, so the next ones match their calls.
  const counts = await Promise.all([
    count(store, 'k_'),
    count(store, 'other_', { hits: 10 }),
    count(store, 'third_', { hits: 100 }),
  ])
  assert.deepEqual(counts, [3, 11, 100])
  assert.ok(Number.isNaN(late.after), 'a failed call is not changed')
})

test('a clock that is set forward ends no call early', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const store = await openReadyStore(t, { url: `127.0.0.1:${redis.port}` })
  redis.pause()
  const counted = count(store, 'k_')
  const real = Date.now
  t.mock.method(Date, 'now', () => real() + 3_600_000)
  // Deadlines are checked every 5 ms.
  await sleep(50)
  redis.resume()
  assert.equal(await counted, 1)
})

test('a call without a deadline fails at the command timeout', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const url = `127.0.0.1:${redis.port}`
  const store = await openReadyStore(t, { url, commandTimeoutMs: 500 })
  redis.pause()
  await fails(count(store, 'k_'), /did not answer in time/)
  redis.resume()
  // The failed call was counted nevertheless, and on a busy machine another one may be late.
  assert.ok((await countUntilItWorks(store, 'k_')) >= 2)
})

test('a paused Redis does not fill the memory: above a bound, calls fail immediately', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const store = await openReadyStore(t, { url: `127.0.0.1:${redis.port}` })
  redis.pause()
  const errors: string[] = []
  let isSynchronous = true
  let failedAtOnce = 0
  for (let i = 0; i < 100_000; i++) {
    store.add([toIncrement('k_')], performance.now() + 30, (error) => {
      if (isSynchronous) failedAtOnce++
      errors.push(error?.message ?? 'counted')
    })
  }
  isSynchronous = false
  assert.ok(failedAtOnce > 30_000, `${failedAtOnce} failed at once`)
  await sleep(100)
  while (errors.length < 100_000) await sleep(10)
  assert.ok(!errors.includes('counted'))
  redis.resume()
  // Accepted calls are still counted, in any order.
  let after = 0
  while (after < 60_000) after = await countUntilItWorks(store, 'k_')
  assert.ok(after < 80_000, `${after}`)
})

/** The error of a call that fails synchronously. */
function failureAtOnce(store: RedisStore): string | undefined {
  let message: string | undefined
  let isSynchronous = true
  store.add([toIncrement('k_')], Number.POSITIVE_INFINITY, (error) => {
    if (isSynchronous) message = error?.message
  })
  isSynchronous = false
  return message
}

test('without Redis calls fail immediately, and a restarted Redis is used again', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const changes: boolean[] = []
  const counters = new ConnectionCounters()
  const onActive = (isActive: boolean) => changes.push(isActive)
  const url = `127.0.0.1:${redis.port}`
  const store = await openReadyStore(t, { url, counters, onActive })
  assert.equal(await count(store, 'k_'), 1)
  assert.deepEqual({ ...counters }, { active: 1, total: { value: 1 }, localClose: { value: 0 } })
  await redis.kill()
  await fails(count(store, 'k_'), /ECONNREFUSED|closed the connection|ECONNRESET/)
  // Calls wait for the first attempt to reconnect, so they fail immediately only after it.
  while (failureAtOnce(store) === undefined) await sleep(10)
  assert.match(failureAtOnce(store) ?? '', /^Redis at 127\.0\.0\.1:\d+: (closed|.*ECONN)/)
  assert.equal(counters.active, 0)
  await redis.restart()
  assert.equal(await countUntilItWorks(store, 'k_'), 1)
  assert.deepEqual(changes, [true, false, true])
  assert.deepEqual({ ...counters }, { active: 1, total: { value: 2 }, localClose: { value: 0 } })
  await count(store, 'something-after-an-EXPIRE_')
  assert.deepEqual(await listEndless(redis), [])
})

test('a Redis that is killed and restarted under load causes errors, but no hanging calls', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const store = await openReadyStore(t, { url: `127.0.0.1:${redis.port}` })
  const outcomes = { counted: 0, failed: 0, open: 0 }
  let isOver = false
  const callAgain = () => {
    if (isOver) return
    outcomes.open++
    const increments = [toIncrement(`k${outcomes.counted % 100}_`)]
    store.add(increments, Number.POSITIVE_INFINITY, (error) => {
      outcomes.open--
      if (error) outcomes.failed++
      else outcomes.counted++
      setTimeout(callAgain, 1)
    })
  }
  for (let i = 0; i < 50; i++) callAgain()
  while (outcomes.counted < 200) await sleep(10)
  await redis.kill()
  while (outcomes.failed < 100) await sleep(10)
  await redis.restart()
  await countUntilItWorks(store, 'k_')
  const countedBefore = outcomes.counted
  while (outcomes.counted < countedBefore + 200) await sleep(10)
  isOver = true
  while (outcomes.open > 0) await sleep(10)
  await count(store, 'something-after-the-EXPIREs_')
  assert.deepEqual(await listEndless(redis), [])
})

test('a lost connection is replaced immediately, and calls wait for the new one', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const proxy = await openProxy(t, redis.port)
  const counters = new ConnectionCounters()
  const store = await openReadyStore(t, { url: proxy.url, counters })
  assert.equal(await count(store, 'k_'), 1)
  await sleep(200)
  proxy.cut()
  // The first call after the loss may still have used the old connection.
  while (counters.active > 0 && counters.total.value === 1) await sleep(1)
  assert.equal(await count(store, 'k_'), 2)
})

test('if a connection is cut in the middle of a reply, its calls fail and it is replaced', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const proxy = await openProxy(t, redis.port)
  const store = await openReadyStore(t, { url: proxy.url })
  await sleep(200)
  const answered = new Promise<void>((resolve) => {
    proxy.onAnswer = (bytes) => {
      proxy.onAnswer = () => undefined
      resolve()
      return bytes.subarray(0, 3)
    }
  })
  const calls = Promise.allSettled(Array.from({ length: 10 }, () => count(store, 'k_')))
  await answered
  proxy.cut()
  for (const { status } of await calls) assert.equal(status, 'rejected')
  proxy.onAnswer = (bytes) => bytes
  assert.equal(await countUntilItWorks(store, 'k_'), 11)
})

test('bytes that are not a reply end the connection, and the next one works', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const proxy = await openProxy(t, redis.port)
  const counters = new ConnectionCounters()
  const store = await openReadyStore(t, { url: proxy.url, counters })
  assert.equal(await count(store, 'k_'), 1)
  await sleep(200)
  proxy.onAnswer = () => {
    proxy.onAnswer = (bytes) => bytes
    return Buffer.from('HTTP/1.1 400 Bad Request\r\n')
  }
  await fails(count(store, 'k_'), /Redis sent an invalid reply: it starts with byte 72/)
  assert.equal(await count(store, 'k_'), 3)
  await sleep(200)
  proxy.onAnswer = (bytes) => {
    proxy.onAnswer = (next) => next
    return Buffer.concat([bytes, Buffer.from(':17\r\n')])
  }
  assert.equal(await count(store, 'k_'), 4)
  assert.equal(await countUntilItWorks(store, 'k_'), 5)
  assert.equal(counters.localClose.value, 2)
})

test('when a master becomes a replica, the store reconnects to the new master at the address', async (t) => {
  const [first, second] = [await open(t, 'redis'), await open(t, 'redis')]
  if (!first || !second) return
  const proxy = await openProxy(t, first.port)
  const counters = new ConnectionCounters()
  const store = await openReadyStore(t, { url: proxy.url, counters })
  assert.equal(await count(store, 'k_'), 1)
  await command(first, 'REPLICAOF', '127.0.0.1', second.port)
  await fails(count(store, 'k_'), /READONLY/)
  proxy.target = second.port
  assert.equal(await countUntilItWorks(store, 'k_'), 1)
  assert.equal(await command(second, 'DBSIZE'), 1)
  assert.ok(counters.localClose.value >= 1)
})

test('a server that stays a replica does not cause a reconnect loop', async (t) => {
  const [first, second] = [await open(t, 'redis'), await open(t, 'redis')]
  if (!first || !second) return
  await command(first, 'REPLICAOF', '127.0.0.1', second.port)
  const counters = new ConnectionCounters()
  const store = await openReadyStore(t, { url: `127.0.0.1:${first.port}`, counters })
  const startedAtMs = performance.now()
  const passedMs = () => performance.now() - startedAtMs
  // Enough calls to cause many connections, however busy the machine is.
  for (let failed = 0; failed < 100 || passedMs() < 1000; failed++) {
    await assert.rejects(count(store, 'k_'), StoreError)
    await sleep(1)
  }
  const most = 12 * Math.ceil(passedMs() / 1000)
  assert.ok(counters.total.value <= most, `${counters.total.value} connections, not ${most}`)
})

test('the connection to a server that is silent for long is replaced', async (t) => {
  const [redis, other] = [await open(t, 'redis'), await open(t, 'redis')]
  if (!redis || !other) return
  const proxy = await openProxy(t, redis.port)
  const store = await openReadyStore(t, { url: proxy.url, commandTimeoutMs: 1_000 })
  await countUntilItWorks(store, 'k_')
  // The connection is not closed: packets are just lost.
  redis.pause()
  proxy.target = other.port
  await fails(count(store, 'k_'), /did not answer in time/)
  // On a busy machine the first calls may be late there too, and are counted nevertheless.
  assert.ok((await countUntilItWorks(store, 'k_')) >= 1)
  assert.equal(await command(other, 'DBSIZE'), 1)
  redis.resume()
})

test('startup waits for Redis, and the log does not contain the password', async (t) => {
  const redis = await open(t, 'redis', { password: 'sesame' })
  if (!redis) return
  await redis.kill()
  const { lines, log } = createLines()
  const startup = { initialIntervalMs: 50, maxIntervalMs: 100, maxElapsedMs: 0 }
  const url = `redis://:sesame@127.0.0.1:${redis.port}`
  const store = openStore(t, { url, log, startup })
  await fails(count(store, 'k_'), /not connected yet/)
  while (lines.length < 3) await sleep(10)
  await redis.restart()
  await store.ready
  assert.equal(await count(store, 'k_'), 1)
  const text = lines.join('\n')
  assert.match(
    text,
    /warning Waiting for Redis \(redis:\/\/\*{5}@127\.0\.0\.1:\d+\), next attempt in/,
  )
  assert.match(text, /info Counting in Redis/)
  assert.ok(!text.includes('sesame'))
})

test('startup ends with an error after its time limit, and when the store is closed', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  await redis.kill()
  const url = `127.0.0.1:${redis.port}`
  const startup = { initialIntervalMs: 20, maxIntervalMs: 40, maxElapsedMs: 200 }
  const tired = openStore(t, { url, startup })
  await assert.rejects(tired.ready, /ECONNREFUSED/)
  const closed = openStore(t, { url })
  await sleep(50)
  await closed[Symbol.asyncDispose]()
  await assert.rejects(closed.ready)
  await fails(count(closed, 'k_'), /closed/)
})

test('a wrong password is reported as such', async (t) => {
  const redis = await open(t, 'redis', { password: 'right' })
  if (!redis) return
  const startup = { initialIntervalMs: 10, maxIntervalMs: 10, maxElapsedMs: 1 }
  const url = `127.0.0.1:${redis.port}`
  const wrong = openStore(t, { url, startup, auth: 'wrong' })
  await assert.rejects(wrong.ready, /Redis at 127\.0\.0\.1:\d+: WRONGPASS/)
  const missing = openStore(t, { url, startup })
  await assert.rejects(missing.ready, /NOAUTH/)
})

test('hits that Redis cannot add fail only that call', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const store = await openReadyStore(t, { url: `127.0.0.1:${redis.port}` })
  const calls = await Promise.allSettled([
    count(store, 'k_', { hits: 2 ** 64 }),
    count(store, 'other_', { hits: 3 }),
  ])
  assert.deepEqual(
    calls.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
  assert.equal(await count(store, 'other_'), 4)
})
