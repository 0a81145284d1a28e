/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { open } from '@portcullis/test-servers'
import fc from 'fast-check'
import { ConnectionCounters, type RedisSettings } from '../../../src/counters/redis/settings.ts'
import { openProxy } from './support/proxy.ts'
import { command, listEndless, listTtls } from './support/redis-client.ts'
import {
  callAll,
  count,
  countUntilItWorks,
  openReadyStore,
  toIncrement,
  windowOf,
} from './support/store.ts'

const unitSeconds = 60
const now = windowOf(unitSeconds)
/** The start of a window of a minute with ten allowed hits. */
const minute = { unitSeconds, window: now, overlapMs: unitSeconds * 1000, most: 10 }
const windowAfter = (windows: number) => ({ ...minute, window: now + windows * unitSeconds })

async function openBoth(t: TestContext, settings: Partial<RedisSettings> = {}) {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const url = `127.0.0.1:${redis.port}`
  return { redis, url, store: await openReadyStore(t, { url, ...settings }) }
}

test('a sliding counter is one hash whose TTL is two windows and a random part', async (t) => {
  const both = await openBoth(t, { expirationJitterMaxSeconds: 50 })
  if (!both) return
  const { redis, store } = both
  await Promise.all(Array.from({ length: 100 }, (_, i) => count(store, `k${i}_`, minute)))
  const ttls = await listTtls(redis)
  assert.equal(ttls.size, 100)
  // A few seconds may have passed.
  for (const ttl of ttls.values()) assert.ok(ttl > 120 - 10 && ttl < 170, `${ttl}`)
  assert.ok(new Set(ttls.values()).size > 10, 'the random parts differ')
  assert.deepEqual(await command(redis, 'HGETALL', 'k7_60s'), [`${now}`, '1'])
})

test('without jitter the TTL of a sliding counter is two windows', async (t) => {
  const both = await openBoth(t, { expirationJitterMaxSeconds: 0 })
  if (!both) return
  await count(both.store, 'k_', { ...minute, unitSeconds: 3600 })
  const ttl = Number(await command(both.redis, 'TTL', 'k_3600s'))
  assert.ok(ttl > 7190 && ttl <= 7200, `${ttl}`)
})

test('a new window renews the TTL and drops windows that are no longer needed', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  for (const windows of [0, 1, 2]) await count(store, 'k_', windowAfter(windows))
  const fields = async () => [...Object(await command(redis, 'HKEYS', 'k_60s'))].map(Number)
  assert.deepEqual(await fields(), [now, now + 60, now + 120])
  await command(redis, 'EXPIRE', 'k_60s', 5)
  await count(store, 'k_', windowAfter(2))
  assert.ok(Number(await command(redis, 'TTL', 'k_60s')) <= 5)
  await count(store, 'k_', windowAfter(3))
  assert.ok(Number(await command(redis, 'TTL', 'k_60s')) > 100)
  assert.deepEqual(await fields(), [now + 60, now + 120, now + 180])
  // An instance whose clock is slightly behind still finds its previous window.
  assert.equal(await count(store, 'k_', windowAfter(2)), 4)
  await count(store, 'k_', windowAfter(20))
  assert.deepEqual(await fields(), [now + 20 * 60])
})

test('reads, 0 hits, refusals and refunds of missing counters leave nothing behind', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  for (const hits of [0, -3, 11]) await count(store, 'k_', { ...minute, hits })
  await callAll(store, 'read', [toIncrement('k_', minute)])
  assert.equal(await command(redis, 'DBSIZE'), 0)
})

test('a fixed and two sliding counters of one key have different names', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  const fixed = { ...minute, overlapMs: 0 }
  const hour = { ...minute, unitSeconds: 3600 }
  const counts = await callAll(store, 'add', [
    toIncrement('k_', fixed),
    toIncrement('k_', { ...minute, hits: 2 }),
    toIncrement('k_', { ...hour, hits: 3 }),
  ])
  assert.deepEqual(counts, [1, 2, 3])
  const names = [...(await listTtls(redis)).keys()].sort()
  assert.deepEqual(names, [`k_${now}`, 'k_3600s', 'k_60s'])
})

test('Redis computes like JavaScript', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  const count = fc.oneof(fc.nat(20), fc.nat(4_294_967_295), fc.maxSafeNat())
  const cases = fc.record({
    current: count,
    previous: count,
    overlap: fc.double({ min: 0, max: 1, noNaN: true }),
    unitSeconds: fc.constantFrom(1, 60, 86_400, 31_536_000),
    hits: fc.oneof(fc.nat(5), fc.integer({ min: -30, max: 4_294_967_295 })),
    most: fc.nat(4_294_967_295),
  })
  let made = 0
  const property = fc.asyncProperty(cases, async (one) => {
    const { current, previous, unitSeconds, hits, most } = one
    const [key, unitMs] = [`k${made++}_`, unitSeconds * 1000]
    const overlapMs = Math.max(1, Math.floor(one.overlap * unitMs))
    const window = windowOf(unitSeconds)
    const fields = [window, current, window - unitSeconds, previous]
    await command(redis, 'HSET', `${key}${unitSeconds}s`, ...fields)
    const share = Math.floor((previous * overlapMs) / unitMs)
    const isAdded = hits > 0 && current + share + hits <= most
    const after = hits < 0 ? Math.max(0, current + hits) + share : current + share + hits
    const increment = toIncrement(key, { window, unitSeconds, overlapMs, hits, most })
    assert.deepEqual(await callAll(store, 'add', [increment]), [Math.min(after, 2 ** 53)])
    assert.equal(increment.previous, previous)
    const stored = Number(await command(redis, 'HGET', `${key}${unitSeconds}s`, window))
    assert.equal(
      stored,
      hits < 0 ? Math.max(0, current + hits) : isAdded ? current + hits : current,
    )
    await callAll(store, 'read', [increment])
    assert.equal(increment.after, stored + share)
  })
  await fc.assert(property, { numRuns: 150 })
})

test('all sliding counts of one turn are sent in one write, with the script only once', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const proxy = await openProxy(t, both.redis.port)
  const store = await openReadyStore(t, { url: proxy.url })
  proxy.sent.length = 0
  const many = { ...minute, most: 1000 }
  await Promise.all(Array.from({ length: 50 }, () => count(store, 'k_', many)))
  await Promise.all(Array.from({ length: 50 }, () => count(store, 'k_', many)))
  const writes = proxy.sent.map((bytes) => bytes.toString().match(/EVALSHA|EVAL/g) ?? [])
  assert.deepEqual(
    writes.map(({ length }) => length),
    [50, 50],
  )
  assert.deepEqual(writes.flat().lastIndexOf('EVAL'), 0)
})

test('the script is sent again to a server that has lost it, and every hit counts once', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  const many = { ...minute, most: 1000 }
  const counts: number[] = []
  for (let round = 0; round < 5; round++) {
    const calls = Array.from({ length: 60 }, () => count(store, 'k_', many))
    await command(redis, 'SCRIPT', 'FLUSH')
    calls.push(...Array.from({ length: 60 }, () => count(store, 'k_', many)))
    counts.push(...(await Promise.all(calls)))
  }
  assert.deepEqual(
    counts.sort((a, b) => a - b),
    Array.from({ length: 600 }, (_, i) => i + 1),
  )
})

test('when a script fails because a master became a replica, the store reconnects to the new master', async (t) => {
  const [first, second] = [await open(t, 'redis'), await open(t, 'redis')]
  if (!first || !second) return
  const proxy = await openProxy(t, first.port)
  const store = await openReadyStore(t, { url: proxy.url })
  assert.equal(await count(store, 'k_', minute), 1)
  await command(first, 'REPLICAOF', '127.0.0.1', second.port)
  await assert.rejects(count(store, 'k_', minute), /READONLY/)
  proxy.target = second.port
  assert.equal(await countUntilItWorks(store, 'k_', minute), 1)
  assert.deepEqual(await listEndless(second), [])
})

test('the error format of servers before version 7 is understood', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const proxy = await openProxy(t, both.redis.port)
  const counters = new ConnectionCounters()
  const store = await openReadyStore(t, { url: proxy.url, counters })
  assert.equal(await count(store, 'k_', minute), 1)
  proxy.onAnswer = () =>
    Buffer.from(
      '-ERR Error running script (call to f_abc): @user_script:1: @user_script: 1: ' +
        "-READONLY You can't write against a read only replica. \r\n",
    )
  await assert.rejects(count(store, 'k_', minute), /READONLY/)
  proxy.onAnswer = (bytes) => bytes
  assert.ok((await countUntilItWorks(store, 'k_', minute)) >= 3)
  assert.ok(counters.total.value >= 2)
})

test('a paused Redis fails sliding counts at their deadline', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  assert.equal(await count(store, 'k_', minute), 1)
  redis.pause()
  const late = count(store, 'k_', { ...minute, deadlineMs: performance.now() + 1_000 })
  await assert.rejects(late, /did not answer in time/)
  redis.resume()
  assert.ok((await countUntilItWorks(store, 'k_', minute)) >= 3)
})

test('the error for a user without script permissions lists what to allow', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, url } = both
  const fixedOnly = ['+ping', '+set', '+incrby', '+expire', '+get']
  const rights = {
    'no scripts': fixedOnly,
    'no hashes': [...fixedOnly, '+eval', '+evalsha'],
    'no EXPIRE': ['+ping', '+set', '+incrby', '+eval', '+evalsha', '+@hash'],
    'no EVALSHA': [...fixedOnly, '+eval', '+@hash'],
  }
  for (const [user, allowed] of Object.entries(rights)) {
    await t.test(user, async (t) => {
      const name = user.replace(' ', '-')
      await command(redis, 'ACL', 'SETUSER', name, 'on', '>secret', '~*', ...allowed)
      const store = await openReadyStore(t, { url, auth: `${name}:secret` })
      assert.equal(await count(store, `${name}_`), 1)
      const wanted = /a sliding window needs EVALSHA and EVAL, and in them HMGET, HINCRBY/
      if (user === 'no EVALSHA') assert.equal(await count(store, `${name}_`, minute), 1)
      await assert.rejects(count(store, `${name}_`, minute), wanted)
      assert.equal(await count(store, `${name}_`), 2)
    })
  }
  assert.deepEqual(await command(redis, 'KEYS', 'no-EXPIRE_*s'), [])
  const enough = ['+eval', '+evalsha', '+hmget', '+hincrby', '+hkeys', '+hdel', '+expire', '+ping']
  await command(redis, 'ACL', 'SETUSER', 'enough', 'on', '>secret', '~*', ...enough)
  const store = await openReadyStore(t, { url, auth: 'enough:secret' })
  for (const windows of [0, 1, 2, 3]) assert.ok(await count(store, 'e_', windowAfter(windows)))
})

test('a key that is not a sliding counter fails only its call', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  await command(redis, 'SET', 'text_60s', 'x')
  await command(redis, 'HSET', 'words_60s', now, 'x')
  for (const key of ['text_', 'words_']) {
    await assert.rejects(count(store, key, minute), /Redis at /)
    await assert.rejects(callAll(store, 'read', [toIncrement(key, minute)]), /Redis at /)
  }
  assert.equal(await count(store, 'k_', minute), 1)
})
