/**
 * @servers memcached
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { createToExpiry } from '../../../src/counters/memcached/expiry.ts'
import { eventually, ttlOf } from './support/memcached-client.ts'
import { count, openReadyStore, read } from './support/store.ts'

const units = {
  second: 1,
  minute: 60,
  hour: 3_600,
  day: 86_400,
  week: 604_800,
  month: 2_592_000,
  year: 31_536_000,
}

/** A busy machine may need this long between two commands. */
const slackSeconds = 30

test('a counter of every unit expires after its unit plus at most the jitter', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port] })
  for (const [unit, unitSeconds] of Object.entries(units)) {
    await t.test(unit, async () => {
      for (let i = 0; i < 5; i++) {
        const key = `${unit}${i}_`
        await count(store, key, { unitSeconds })
        await read(store, key)
        const ttl = (await ttlOf(memcached.port, key)) ?? 0
        assert.ok(ttl > unitSeconds - slackSeconds, `${ttl}`)
        assert.ok(ttl <= unitSeconds + 300, `${ttl}`)
      }
    })
  }
})

test('incrementing does not renew the TTL, and the counter of a year is kept', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port] })
  const unitSeconds = units.year
  assert.equal(await count(store, 'year_', { unitSeconds }), 1)
  assert.equal(await count(store, 'year_', { unitSeconds }), 2)
  assert.equal(await count(store, 'year_', { unitSeconds: units.minute }), 3)
  await read(store, 'year_')
  assert.ok(((await ttlOf(memcached.port, 'year_')) ?? 0) > unitSeconds - slackSeconds)
})

test('a counter without jitter expires soon after its window', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port], expirationJitterMaxSeconds: 0 })
  await count(store, 'a_', { unitSeconds: 1 })
  await read(store, 'a_')
  assert.ok(((await ttlOf(memcached.port, 'a_')) ?? 0) <= 2)
  assert.equal(
    await eventually(
      () => read(store, 'a_'),
      (value) => value === 0,
    ),
    0,
  )
})

test('up to 30 days the expiration is sent in seconds, above that as a Unix time', () => {
  const [nowSeconds, jitter] = [1_700_000_000, 2]
  const toExpiry = createToExpiry({
    expirationJitterMaxSeconds: jitter,
    now: () => nowSeconds * 1000 + 999,
  })
  assert.equal(toExpiry(60), 61)
  assert.equal(toExpiry(2_591_999), 2_592_000)
  assert.equal(toExpiry(2_592_000), nowSeconds + 2_592_001)
})

test('the jitter is distributed over all its seconds', () => {
  const toExpiry = createToExpiry({ expirationJitterMaxSeconds: 5, now: Date.now })
  const seen = new Set(Array.from({ length: 1000 }, () => toExpiry(60)))
  assert.deepEqual([...seen].sort(), [61, 62, 63, 64])
  for (const none of [1, 0, -5]) {
    const fixed = createToExpiry({ expirationJitterMaxSeconds: none, now: Date.now })
    assert.equal(fixed(60), 61)
  }
})
