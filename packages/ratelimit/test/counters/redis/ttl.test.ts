/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from '@portcullis/test-servers'
import type { EncodedIncrement } from '../../../src/counters/counter-store.ts'
import { KeyBytes } from '../../../src/structures/key-bytes.ts'
import { command, listEndless, listTtls } from './support/redis-client.ts'
import { callAll, count, openReadyStore, toIncrement, windowOf } from './support/store.ts'

async function openBoth(t: TestContext, settings: { expirationJitterMaxSeconds?: number } = {}) {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const url = `127.0.0.1:${redis.port}`
  return { redis, store: await openReadyStore(t, { url, ...settings }) }
}

test('the TTL of a counter is its unit plus a random part below the jitter', async (t) => {
  const both = await openBoth(t, { expirationJitterMaxSeconds: 50 })
  if (!both) return
  const { redis, store } = both
  await Promise.all(Array.from({ length: 200 }, (_, i) => count(store, `k${i}_`)))
  const ttls = [...(await listTtls(redis)).values()]
  assert.equal(ttls.length, 200)
  // A few seconds may have passed.
  for (const ttl of ttls) assert.ok(ttl > 86_400 - 60 && ttl < 86_450, `${ttl}`)
  assert.ok(new Set(ttls).size > 20, 'the random parts differ')
})

test('without jitter the TTL of a counter is its unit, and every increment renews it', async (t) => {
  for (const expirationJitterMaxSeconds of [0, -5]) {
    const both = await openBoth(t, { expirationJitterMaxSeconds })
    if (!both) return
    const { redis, store } = both
    const key = `k_${windowOf(86_400)}`
    await count(store, 'k_')
    assert.ok(Number(await command(redis, 'TTL', key)) > 86_390)
    await command(redis, 'EXPIRE', key, 1000)
    await count(store, 'k_')
    assert.ok(Number(await command(redis, 'TTL', key)) > 86_390)
    assert.ok(Number(await command(redis, 'TTL', key)) <= 86_400)
  }
})

test('a counter with 0 hits is created with a TTL, as in envoyproxy/ratelimit', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  assert.equal(await count(both.store, 'zero_', { hits: 0 }), 0)
  assert.equal(await command(both.redis, 'GET', `zero_${windowOf(86_400)}`), '0')
  assert.deepEqual(await listEndless(both.redis), [])
})

test('a counter that was created elsewhere without a TTL gets one', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  await command(redis, 'INCRBY', `k_${windowOf(86_400)}`, 5)
  assert.equal(await count(store, 'k_'), 6)
  await count(store, 'something-after-the-EXPIRE_')
  assert.deepEqual(await listEndless(redis), [])
})

test('a known counter that has disappeared gets a TTL again', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  for (let i = 0; i < 20; i++) await count(store, `k${i}_`)
  await command(redis, 'FLUSHALL')
  for (let i = 0; i < 20; i++) assert.equal(await count(store, `k${i}_`, { hits: 3 }), 3)
  await count(store, 'something-after-the-EXPIREs_')
  assert.equal(await command(redis, 'DBSIZE'), 21)
  assert.deepEqual(await listEndless(redis), [])
})

test('a known counter that has disappeared gets its TTL without its text, if its key is encoded', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  const encodedKey = new KeyBytes().set('encoded_')
  const toEncoded = (): EncodedIncrement => ({
    ...toIncrement(''),
    encodedKey,
    get key(): string {
      throw new Error('the text of the key was created')
    },
  })
  await callAll(store, 'add', [toEncoded()])
  await command(redis, 'FLUSHALL')
  const vanished = toEncoded()
  await callAll(store, 'add', [vanished])
  assert.equal(vanished.after, 1)
  await callAll(store, 'add', [toEncoded()])
  const ttls = await listTtls(redis)
  assert.deepEqual([...ttls.keys()], [`encoded_${windowOf(86_400)}`])
  assert.deepEqual(await listEndless(redis), [])
})

test('the TTL of a counter that two units share is that of the longer one', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  // A reload changed the unit from minute to hour: at the start of an hour both windows have the same name.
  await count(store, 'k_', { unitSeconds: 60, window: 3600 })
  await count(store, 'k_', { unitSeconds: 3600, window: 3600 })
  await count(store, 'something-after-the-EXPIRE_')
  assert.ok(Number(await command(redis, 'TTL', 'k_3600')) > 3590)
})

test('a refund does not change the TTL', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  await count(both.store, 'k_', { hits: 5 })
  assert.equal(await count(both.store, 'k_', { hits: -2 }), 3)
  await count(both.store, 'unheard-of_', { hits: -2 })
  assert.equal(await command(both.redis, 'DBSIZE'), 1)
  assert.deepEqual(await listEndless(both.redis), [])
})

test('the counters of a user with only INCRBY and EXPIRE still get a TTL', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const rights = ['on', '>secret', '~*', '+incrby', '+expire', '+ping']
  await command(redis, 'ACL', 'SETUSER', 'old', ...rights)
  const url = `127.0.0.1:${redis.port}`
  const store = await openReadyStore(t, { url, auth: 'old:secret' })
  assert.equal(await count(store, 'k_'), 1)
  assert.equal(await count(store, 'k_'), 2)
  await count(store, 'something-after-the-EXPIRE_')
  await count(store, 'something-after-the-EXPIRE_')
  assert.deepEqual(await listEndless(redis), [])
})

test('counters of a process that is killed at any moment all have a TTL', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  let counted = 0
  for (let round = 0; round < 6; round++) {
    const child = spawn(process.execPath, [
      new URL('./support/count-forever.ts', import.meta.url).pathname,
      `127.0.0.1:${redis.port}`,
    ])
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    while (Number(await command(redis, 'DBSIZE')) < counted + 20) await sleep(1)
    await sleep(round * 17)
    child.kill('SIGKILL')
    await once(child, 'exit')
    counted = Number(await command(redis, 'DBSIZE'))
    assert.deepEqual(await listEndless(redis), [])
  }
})

test('this store shares counters with one that uses the commands of envoyproxy/ratelimit', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  const key = 'prefix:domain_key_välue_'
  const name = `${key}${windowOf(86_400)}`
  assert.equal(await count(store, key), 1)
  for (let i = 1; i <= 10; i++) {
    assert.equal(await command(redis, 'INCRBY', name, 1), 2 * i)
    assert.equal(await command(redis, 'EXPIRE', name, 86_400 + i), 1)
    assert.equal(await count(store, key), 2 * i + 1)
  }
  assert.deepEqual([...(await listTtls(redis)).keys()], [name])
})
