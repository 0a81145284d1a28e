/**
 * @servers memcached
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { createMemcachedStatistics } from '../../../src/counters/memcached/statistics.ts'
import { openProxy } from '../redis/support/proxy.ts'
import { createLines } from '../redis/support/store.ts'
import { command, eventually, storedCount } from './support/memcached-client.ts'
import {
  count,
  countAll,
  openReadyStore,
  read,
  type StoreOptions,
  toIncrement,
  window,
} from './support/store.ts'

async function openBehindProxy(t: TestContext, settings: StoreOptions = {}) {
  const memcached = await open(t, 'memcached')
  if (!memcached) return undefined
  const proxy = await openProxy(t, memcached.port)
  const counters = new Map<string, { value: number }>()
  const statistics = createMemcachedStatistics((name) => {
    const counter = { value: 0 }
    counters.set(name, counter)
    return counter
  })
  const store = await openReadyStore(t, { ports: [proxy.port], statistics, ...settings })
  proxy.sent.length = 0
  /** The commands since the last call, without random parts. */
  const takeCommands = () => {
    const text = Buffer.concat(proxy.sent).toString().replaceAll(`${window}`, 'W')
    proxy.sent.length = 0
    return text.split('\r\n').slice(0, -1)
  }
  /** The statistics that are not 0. */
  const counted = () => {
    const named = [...counters].filter(([, { value }]) => value > 0)
    return Object.fromEntries(
      named.map(([name, { value }]) => [name.replace('ratelimit.memcache.', ''), value]),
    )
  }
  return { memcached, proxy, store, takeCommands, counted }
}

test('a counter is created with add and incremented with incr, each after a get', async (t) => {
  const setup = await openBehindProxy(t, { expirationJitterMaxSeconds: 0 })
  if (!setup) return
  const { memcached, store, takeCommands, counted } = setup
  assert.equal(await count(store, 'a_', { hits: 3 }), 3)
  assert.equal(await eventually(() => storedCount(memcached.port, 'a_'), Boolean), 3)
  assert.deepEqual(takeCommands(), ['get a_W', 'add a_W 0 86401 1', '3'])
  assert.equal(await count(store, 'a_', { hits: 2 }), 5)
  await eventually(
    () => storedCount(memcached.port, 'a_'),
    (value) => value === 5,
  )
  assert.deepEqual(takeCommands(), ['get a_W', 'incr a_W 2'])
  // The reply to a write arrives before that of a later read.
  assert.equal(await read(store, 'other_'), 0)
  assert.deepEqual(counted(), {
    'multiget.__code=success': 3,
    keys_requested: 3,
    keys_found: 1,
    'add.__code=success': 1,
    'increment.__code=success': 1,
  })
})

test('all counters of a call are read with one command, each once', async (t) => {
  const setup = await openBehindProxy(t, { expirationJitterMaxSeconds: 0 })
  if (!setup) return
  const { store, takeCommands, counted } = setup
  const increments = ['a_', 'b_', 'a_'].map((key) => toIncrement(key))
  assert.deepEqual(await countAll(store, increments), [1, 1, 2])
  assert.deepEqual(await read(store, 'a_'), 2)
  assert.deepEqual(takeCommands(), [
    'get a_W b_W',
    ...['add a_W 0 86401 1', '1', 'add b_W 0 86401 1', '1', 'incr a_W 1'],
    'get a_W',
  ])
  assert.equal(counted()['keys_requested'], 3)
})

test('hits of 0 and reads write nothing', async (t) => {
  const setup = await openBehindProxy(t)
  if (!setup) return
  const { memcached, store, takeCommands } = setup
  assert.equal(await count(store, 'a_', { hits: 0 }), 0)
  assert.equal(await read(store, 'a_'), 0)
  assert.equal(await count(store, 'a_', { hits: 0 }), 0)
  assert.deepEqual(takeCommands(), ['get a_W', 'get a_W', 'get a_W'])
  assert.equal(await storedCount(memcached.port, 'a_'), undefined)
})

test('a refund is a decr, which stops at 0 and creates no counter', async (t) => {
  const setup = await openBehindProxy(t)
  if (!setup) return
  const { memcached, store, takeCommands, counted } = setup
  assert.equal(await count(store, 'a_', { hits: -3 }), 0)
  assert.equal(await read(store, 'a_'), 0)
  assert.deepEqual(takeCommands(), ['get a_W', 'decr a_W 3', 'get a_W'])
  assert.equal(await storedCount(memcached.port, 'a_'), undefined)
  assert.equal(counted()['increment.__code=miss'], 1)
  await count(store, 'a_', { hits: 100 })
  // The value keeps its three bytes and is padded with spaces.
  assert.equal(await count(store, 'a_', { hits: -95 }), 5)
  assert.equal(await read(store, 'a_'), 5)
  assert.equal(await count(store, 'a_'), 6)
  assert.equal(await count(store, 'a_', { hits: -7 }), 0)
  assert.equal(await read(store, 'a_'), 0)
})

test('the calls of one turn share a write, and so do their writes after the responses', async (t) => {
  const setup = await openBehindProxy(t)
  if (!setup) return
  const { memcached, proxy, store } = setup
  await count(store, 'a_')
  await eventually(() => storedCount(memcached.port, 'a_'), Boolean)
  proxy.sent.length = 0
  // The node may answer in pieces, each of which would be a separate turn.
  let held = Buffer.alloc(0)
  proxy.onAnswer = (bytes) => {
    held = Buffer.concat([held, bytes])
    if (held.toString().split('END\r\n').length <= 50) return Buffer.alloc(0)
    proxy.onAnswer = (next) => next
    return held
  }
  await Promise.all(Array.from({ length: 50 }, () => count(store, 'a_')))
  await eventually(
    () => storedCount(memcached.port, 'a_'),
    (value) => value === 51,
  )
  const commandsIn = (bytes: Buffer) => bytes.toString().split('\r\n').length - 1
  assert.deepEqual(proxy.sent.map(commandsIn), [50, 50])
})

test('concurrent calls may get the same counts, but every hit is counted', async (t) => {
  const setup = await openBehindProxy(t)
  if (!setup) return
  const { memcached, store, counted } = setup
  const calls = Array.from({ length: 1000 }, () => count(store, 'a_'))
  for (const after of await Promise.all(calls)) assert.ok(after >= 1 && after <= 1000, `${after}`)
  const value = await eventually(
    () => storedCount(memcached.port, 'a_'),
    (value) => value === 1000,
  )
  assert.equal(value, 1000)
  // All found no counter, one created it, and the others incremented it.
  const increments = () => counted()['increment.__code=success']
  assert.equal(await eventually(increments, (value) => value === 999), 999)
  assert.equal(counted()['add.__code=success'], 1)
  assert.ok((counted()['add.__code=not_stored'] ?? 0) > 0)
})

test('no hit is lost when two processes create the same counter', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const ports = [memcached.port]
  const stores = [await openReadyStore(t, { ports }), await openReadyStore(t, { ports })]
  for (let round = 0; round < 50; round++) {
    await Promise.all(stores.map((store) => count(store, `k${round}_`, { hits: 2 })))
  }
  await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))
  for (let round = 0; round < 50; round++) {
    assert.equal(await storedCount(memcached.port, `k${round}_`), 4)
  }
})

test('a counter that disappears between read and write is created again', async (t) => {
  const setup = await openBehindProxy(t)
  if (!setup) return
  const { memcached, proxy, store, counted } = setup
  await command(memcached.port, `set a_${window} 0 0 1\r\n7`)
  let isFirst = true
  proxy.onAnswer = (bytes) => {
    if (!isFirst) return bytes
    isFirst = false
    // The reply is delayed until the counter is deleted.
    void command(memcached.port, `delete a_${window}`).then(() => release(bytes))
    return Buffer.alloc(0)
  }
  const { promise, resolve: release } = Promise.withResolvers<Buffer>()
  const after = count(store, 'a_')
  const held = await promise
  proxy.onAnswer = (bytes) => Buffer.concat([held, bytes])
  // Another reply releases the delayed one.
  const other = count(store, 'b_')
  assert.equal(await after, 8)
  proxy.onAnswer = (bytes) => bytes
  assert.equal(await other, 1)
  assert.equal(await eventually(() => storedCount(memcached.port, 'a_'), Boolean), 1)
  const additions = () => counted()['add.__code=success']
  assert.equal(await eventually(additions, (value) => value === 2), 2)
  assert.equal(counted()['increment.__code=miss'], 1)
})

test('a value that is not a number counts as 0 and is logged', async (t) => {
  const { lines, log } = createLines()
  const setup = await openBehindProxy(t, { log })
  if (!setup) return
  const { memcached, store, counted } = setup
  await command(memcached.port, `set a_${window} 0 0 3\r\nabc`)
  assert.equal(await count(store, 'a_', { hits: 2 }), 2)
  assert.equal(await read(store, 'a_'), 0)
  assert.equal(counted()['increment.__code=error'], 1)
  const expected = `error Failed to increment key a_${window}: CLIENT_ERROR cannot increment`
  assert.ok(
    lines.some((line) => line.startsWith(expected)),
    lines.join('\n'),
  )
})

test('counts above 32 bits are read exactly', async (t) => {
  const setup = await openBehindProxy(t)
  if (!setup) return
  const { memcached, store } = setup
  await command(memcached.port, `set a_${window} 0 0 13\r\n1234567890123`)
  assert.equal(await count(store, 'a_'), 1_234_567_890_124)
})

test('several hundred names in one call are read with one command', async (t) => {
  const setup = await openBehindProxy(t)
  if (!setup) return
  const names = Array.from({ length: 700 }, (_, i) => `${'x'.repeat(200)}${i}_`)
  const increments = () => names.map((key) => toIncrement(key))
  assert.deepEqual(new Set(await countAll(setup.store, increments())), new Set([1]))
  assert.deepEqual(new Set(await countAll(setup.store, increments())), new Set([2]))
})

test('further connections are opened only when many replies are outstanding', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const proxy = await openProxy(t, memcached.port)
  const store = await openReadyStore(t, {
    ports: [proxy.port],
    maxIdleConnections: 2,
  })
  const countOften = (times: number) => Array.from({ length: times }, () => count(store, 'k_'))
  await Promise.all(countOften(1000))
  assert.equal(proxy.clients, 1)
  for (let round = 0; round < 3; round++) {
    memcached.pause()
    const calls: Promise<number>[] = []
    for (let turn = 0; turn < 3; turn++) {
      calls.push(...countOften(3000))
      await new Promise((resolve) => setImmediate(resolve))
    }
    memcached.resume()
    await Promise.all(calls)
    assert.equal(
      await eventually(
        () => proxy.clients,
        (clients) => clients === 2,
      ),
      2,
    )
  }
  const value = await eventually(
    () => read(store, 'k_'),
    (value) => value === 28_000,
  )
  assert.equal(value, 28_000)
})
