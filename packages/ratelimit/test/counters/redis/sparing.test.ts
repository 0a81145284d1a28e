/**
 * @servers redis, redis-cluster, redis-sentinel
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from '@portcullis/test-servers'
import type { Increment } from '../../../src/counters/counter-store.ts'
import type { RedisStore } from '../../../src/counters/redis/redis-store.ts'
import { slotOf } from '../../../src/counters/redis/topology/slots.ts'
import { openProxy } from './support/proxy.ts'
import { command, listEndless, listTtls } from './support/redis-client.ts'
import {
  callAll,
  count,
  createLines,
  openReadyStore,
  toIncrement,
  windowOf,
} from './support/store.ts'

const day = 86_400
const sliding = { overlapMs: day * 500 }

/** The first call starts the check for a proxy; repeats calls until its result is known. */
async function warmUp(store: RedisStore, isKnown: () => Promise<boolean> | boolean): Promise<void> {
  for (let left = 6000; left > 0; left--) {
    await callAll(store, 'addSparing', [toIncrement('{warm}a_'), toIncrement('{warm}b_')])
    if (await isKnown()) return
    await sleep(20)
  }
  assert.fail('the result was not known within two minutes')
}

/** Scripts are sent only after the server is known not to be a proxy. */
async function hasSeenScript({ port }: { readonly port: number }): Promise<boolean> {
  return String(await command({ port }, 'INFO', 'commandstats')).includes('cmdstat_eval')
}

/**
 * Fifty clients repeatedly use two counters with low limits and two with high limits. Every hit in the
 * latter must belong to an allowed request.
 */
async function assertOnlyAllowedHitsCounted(store: RedisStore, tag: string): Promise<void> {
  const toIncrements = (): Increment[] => [
    toIncrement(`${tag}wide_`, { hits: 2 }),
    toIncrement(`${tag}tight_`, { most: 40 }),
    toIncrement(`${tag}wide-sliding_`, sliding),
    toIncrement(`${tag}tight-sliding_`, { ...sliding, most: 60 }),
  ]
  let admitted = 0
  const callers = Array.from({ length: 50 }, async () => {
    for (let i = 0; i < 6; i++) {
      const increments = toIncrements()
      await callAll(store, 'addSparing', increments)
      if (increments.every(({ after, most }) => after <= most)) admitted++
    }
  })
  await Promise.all(callers)
  assert.equal(admitted, 40)
  const [wide, tight, wideSliding, tightSliding] = await callAll(store, 'read', toIncrements())
  assert.deepEqual([wide, wideSliding, tightSliding], [80, 40, 40])
  // A fixed counter also counts the requests that it refuses.
  assert.equal(tight, 300)
}

async function openBoth(t: TestContext) {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const url = `127.0.0.1:${redis.port}`
  const store = await openReadyStore(t, { url })
  await warmUp(store, () => hasSeenScript(redis))
  return { redis, url, store }
}

test('with 50 concurrent clients, refused requests change no other counter', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  await assertOnlyAllowedHitsCounted(both.store, '')
  assert.deepEqual(await listEndless(both.redis), [])
})

test('the same behind sentinels', async (t) => {
  const redis = await open(t, 'redis-sentinel')
  if (!redis) return
  const sentinels = redis.sentinels.map(({ port }) => `127.0.0.1:${port}`)
  const url = [redis.masterName, ...sentinels].join(',')
  const store = await openReadyStore(t, { type: 'sentinel', url })
  await assertOnlyAllowedHitsCounted(store, '')
  assert.deepEqual(await listEndless(redis.master), [])
})

test('a request costs one command, and one with a single counter no script', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const proxy = await openProxy(t, both.redis.port)
  const store = await openReadyStore(t, { url: proxy.url })
  await warmUp(store, () => proxy.sent.some((bytes) => bytes.includes('EVAL')))
  proxy.sent.length = 0
  await callAll(store, 'addSparing', [toIncrement('a_'), toIncrement('b_', sliding)])
  await callAll(store, 'addSparing', [toIncrement('a_')])
  const words = Buffer.concat(proxy.sent)
    .toString()
    .match(/EVALSHA|EVAL|INCRBY|SET|GET/g)
  assert.deepEqual(words, ['EVALSHA', 'SET', 'INCRBY'])
})

test('the script is sent again to a server that has lost it', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  for (let round = 1; round <= 3; round++) {
    await command(redis, 'SCRIPT', 'FLUSH')
    const increments = [toIncrement('a_'), toIncrement('b_', sliding)]
    assert.deepEqual(await callAll(store, 'addSparing', increments), [round, round])
  }
})

test('counters created by the script have the TTL of their kind, and existing ones without a TTL get one', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  const window = windowOf(day)
  await command(redis, 'SET', `old_${window}`, 4)
  await command(redis, 'SET', `long_${window}`, 4, 'EX', 9_000_000)
  const keys = ['new_', 'zero_', 'old_', 'long_']
  const fixed = keys.map((key) => toIncrement(key, { hits: key === 'zero_' ? 0 : 1 }))
  const gone = toIncrement('unheard-of_', { hits: -1, isStrict: false })
  const increments = [...fixed, toIncrement('slow_', sliding), gone]
  assert.deepEqual(await callAll(store, 'addSparing', increments), [1, 0, 5, 5, 1, 0])
  const ttls = await listTtls(redis)
  for (const key of ['new_', 'zero_', 'old_']) {
    const ttl = ttls.get(`${key}${window}`) ?? 0
    assert.ok(ttl > day - 10 && ttl < day + 300, `${key} ${ttl}`)
  }
  assert.ok((ttls.get(`long_${window}`) ?? 0) > 8_000_000)
  const slow = ttls.get(`slow_${day}s`) ?? 0
  assert.ok(slow > 2 * day - 10 && slow < 2 * day + 300, `${slow}`)
  assert.equal(ttls.has(`unheard-of_${window}`), false)
})

test('for a user without script permissions there are two steps, and one warning', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, url } = both
  const rights = ['+ping', '+set', '+incrby', '+expire', '+get']
  await command(redis, 'ACL', 'SETUSER', 'plain', 'on', '>secret', '~*', ...rights)
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { url, auth: 'plain:secret', log })
  await warmUp(store, () => lines.some((line) => line.startsWith('warning')))
  const toIncrements = () => [toIncrement('wide_'), toIncrement('tight_', { most: 2 })]
  for (const wanted of [1, 2]) {
    assert.deepEqual(await callAll(store, 'addSparing', toIncrements()), [wanted, wanted])
  }
  assert.deepEqual(await callAll(store, 'addSparing', toIncrements()), [2, 3])
  const warnings = lines.filter((line) => line.startsWith('warning'))
  assert.equal(warnings.length, 1)
  assert.match(
    warnings[0] ?? '',
    /NOPERM.*needs EVALSHA and EVAL, and in them GET, SET, INCRBY, TTL/,
  )
})

test('the permissions in the manual are sufficient', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, url } = both
  const fixed = ['+ping', '+set', '+incrby', '+expire', '+get']
  const scripts = ['+eval', '+evalsha', '+ttl', '+hmget', '+hincrby', '+hkeys', '+hdel']
  await command(redis, 'ACL', 'SETUSER', 'counter', 'on', '>secret', '~*', ...fixed, ...scripts)
  await command(redis, 'CONFIG', 'RESETSTAT')
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { url, auth: 'counter:secret', log })
  await warmUp(store, () => hasSeenScript(redis))
  await assertOnlyAllowedHitsCounted(store, '')
  assert.equal(await count(store, 'k_', { hits: -1 }), 0)
  assert.deepEqual(
    lines.filter((line) => line.startsWith('warning')),
    [],
  )
})

test('with a proxy that may shard keys there are two steps', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const proxy = await openProxy(t, both.redis.port)
  const isRole = (bytes: Buffer) => bytes.includes('master')
  proxy.onAnswer = (bytes) => (isRole(bytes) ? undefined : bytes)
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { url: proxy.url, log })
  await warmUp(store, () => lines.some((line) => line.includes('seems to be a proxy')))
  const increments = [toIncrement('wide_'), toIncrement('tight_', { most: 0 })]
  assert.deepEqual(await callAll(store, 'addSparing', increments), [0, 1])
  assert.equal(Buffer.concat(proxy.sent).includes('EVAL'), false)
  assert.equal(lines.filter((line) => /seems to be a proxy/.test(line)).length, 1)
})

test('a key that cannot be counted fails the call with an error', async (t) => {
  const both = await openBoth(t)
  if (!both) return
  const { redis, store } = both
  await command(redis, 'SET', `text_${windowOf(day)}`, 'x')
  const increments = [toIncrement('text_'), toIncrement('other_')]
  await assert.rejects(callAll(store, 'addSparing', increments), /Redis at .*not an integer/)
  assert.equal(await count(store, 'fine_'), 1)
})

test('in a cluster', async (t) => {
  const cluster = await open(t, 'redis-cluster')
  if (!cluster) return
  const [first, second, third] = cluster.nodes
  if (!first || !second || !third) assert.fail('a cluster has three nodes')
  const url = `127.0.0.1:${cluster.port}`
  const store = await openReadyStore(t, { type: 'cluster', url })

  await t.test('counters in one slot are changed in one step', async () => {
    await assertOnlyAllowedHitsCounted(store, '{tenant}')
  })

  await t.test('counters in several slots are changed in two steps', async () => {
    const toIncrements = () => [
      ...Array.from({ length: 20 }, (_, i) => toIncrement(`wide${i}_`)),
      toIncrement('tight_', { most: 1 }),
      toIncrement('sliding_', sliding),
    ]
    assert.deepEqual(await callAll(store, 'addSparing', toIncrements()), Array(22).fill(1))
    const refused = await callAll(store, 'addSparing', toIncrements())
    assert.deepEqual(refused, [...Array(20).fill(1), 2, 1])
  })

  await t.test('a slot is followed during its migration', async () => {
    const slot = slotOf('{tag}', '')
    const owners = [first, second, third]
    const at = slot <= 5460 ? 0 : slot <= 10_922 ? 1 : 2
    const [from = first, to = second] = [owners[at], owners[(at + 1) % 3]]
    const idOf = async (node: typeof first) => String(await command(node, 'CLUSTER', 'MYID'))
    const toIncrements = () => [toIncrement('{tag}a_'), toIncrement('{tag}b_', sliding)]
    assert.deepEqual(await callAll(store, 'addSparing', toIncrements()), [1, 1])
    await command(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from))
    await command(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to))
    // New counters are created on the importing node; partly migrated ones are changed one by one.
    const fresh = [toIncrement('{tag}c_'), toIncrement('{tag}d_', sliding)]
    assert.deepEqual(await callAll(store, 'addSparing', fresh), [1, 1])
    assert.deepEqual(await callAll(store, 'addSparing', toIncrements()), [2, 2])
    await command(from, 'MIGRATE', '127.0.0.1', to.port, `{tag}a_${windowOf(day)}`, 0, 1000)
    assert.deepEqual(await callAll(store, 'addSparing', toIncrements()), [3, 3])
    await command(from, 'MIGRATE', '127.0.0.1', to.port, `{tag}b_${day}s`, 0, 1000)
    assert.deepEqual(await callAll(store, 'addSparing', toIncrements()), [4, 4])
    assert.equal(await count(store, '{tag}b_', sliding), 5)
    for (const node of cluster.nodes) {
      await command(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', await idOf(to))
    }
    assert.deepEqual(await callAll(store, 'addSparing', toIncrements()), [5, 6])
    assert.equal(await count(store, '{tag}b_', { ...sliding, hits: -1 }), 5)
    assert.deepEqual(await listEndless(to), [])
  })
})
