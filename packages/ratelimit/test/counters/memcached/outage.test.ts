/**
 * @servers memcached
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort, open } from '@portcullis/test-servers'
import type { MemcachedStore } from '../../../src/counters/memcached/memcached-store.ts'
import { createMemcachedStatistics } from '../../../src/counters/memcached/statistics.ts'
import { openProxy } from '../redis/support/proxy.ts'
import { createLines } from '../redis/support/store.ts'
import { eventually, storedCount } from './support/memcached-client.ts'
import { count, countAll, openReadyStore, openStore, read, toIncrement } from './support/store.ts'

/** Several threads take a moment to stop. */
async function pause(memcached: { pause(): void }): Promise<void> {
  memcached.pause()
  await sleep(50)
}

/** Whether a call is answered before `read` returns. */
function isAnsweredAtOnce(store: MemcachedStore): boolean {
  let isAnswered = false
  store.read([toIncrement('a_')], Number.POSITIVE_INFINITY, () => {
    isAnswered = true
  })
  return isAnswered
}

test('without its node a call is answered immediately, as if nothing had been counted', async (t) => {
  const port = await findFreePort()
  const { lines, log } = createLines()
  const statistics = createMemcachedStatistics()
  const store = await openReadyStore(t, { ports: [port], statistics, log })
  assert.ok(lines.includes(`info Counting in memcached (127.0.0.1:${port})`), lines.join('\n'))
  const warning = `warning memcached cannot be reached at 127.0.0.1:${port}: limits that are counted there are not enforced until it can`
  assert.ok(lines.includes(warning), lines.join('\n'))
  const increment = toIncrement('a_', { hits: 3 })
  let isAnswered = false
  store.add([increment], Number.POSITIVE_INFINITY, (error) => {
    assert.equal(error, undefined)
    isAnswered = true
  })
  assert.ok(isAnswered)
  assert.equal(increment.after, 3)
  assert.equal(await count(store, 'a_', { hits: -3 }), 0)
  assert.equal(await read(store, 'a_'), 0)
  assert.equal(statistics.multiget.error.value, 3)
  assert.equal(statistics.increment.error.value, 2)
  assert.match(
    lines.join('\n'),
    /error Error multi-getting memcache keys \(a_\d+\): memcached at 127\.0\.0\.1:\d+: .*ECONNREFUSED/,
  )
  assert.match(lines.join('\n'), /error Failed to increment key a_\d+: .*ECONNREFUSED/)
})

test('an unavailable node does not fill the log', async (t) => {
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { ports: [await findFreePort()], log })
  await count(store, 'a_')
  lines.length = 0
  for (let i = 0; i < 10_000; i++) assert.equal(await count(store, `k${i}_`), 1)
  const seconds = () => Math.ceil(performance.now() / 1000) + 1
  assert.ok(lines.length <= 4 * seconds(), `${lines.length} lines`)
  await sleep(1_050)
  await count(store, 'last_')
  assert.match(
    lines.join('\n'),
    /Error multi-getting memcache keys \(last_\d+\): .* \(\d+ similar lines left out\)/,
  )
})

test('the counters of the other nodes work as usual', async (t) => {
  const [one, two] = [await open(t, 'memcached'), await open(t, 'memcached')]
  if (!one || !two) return
  const store = await openReadyStore(t, { ports: [one.port, two.port] })
  const keys = Array.from({ length: 20 }, (_, i) => `k${i}_`)
  const countThem = () =>
    countAll(
      store,
      keys.map((key) => toIncrement(key)),
    )
  await countThem()
  assert.deepEqual(new Set(await countThem()), new Set([2]))
  const onTwo = await Promise.all(keys.map((key) => storedCount(two.port, key)))
  await one.kill()
  for (let round = 3; round < 6; round++) {
    const expected = onTwo.map((stored) => (stored === undefined ? 1 : round))
    assert.deepEqual(await countThem(), expected)
  }
  assert.ok(onTwo.includes(undefined))
})

test('a node that returns is used again, and no call waited for it', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { ports: [memcached.port], log })
  assert.equal(await count(store, 'a_'), 1)
  assert.equal(await count(store, 'a_'), 2)
  await memcached.kill()
  for (let i = 0; i < 20; i++) {
    assert.equal(await count(store, 'a_'), 1)
    await sleep(20)
  }
  assert.ok(await eventually(() => isAnsweredAtOnce(store), Boolean))
  await memcached.restart()
  // Counting works again when a second count sees the first.
  assert.equal(
    await eventually(
      () => count(store, 'a_'),
      (after) => after > 1,
    ),
    2,
  )
  const back = `warning Connected again: memcached at 127.0.0.1:${memcached.port}`
  assert.deepEqual(
    lines.filter((line) => line.includes('again')),
    [back],
  )
})

test('a stuck node costs the timeout once, and its late replies do no harm', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const statistics = createMemcachedStatistics()
  // Only one call waits for it, and even a busy machine is faster otherwise.
  const store = await openReadyStore(t, { ports: [memcached.port], timeoutMs: 5_000, statistics })
  assert.equal(await count(store, 'a_'), 1)
  assert.equal(await count(store, 'a_'), 2)
  await pause(memcached)
  const late = await Promise.all([count(store, 'a_'), count(store, 'b_', { hits: 5 })])
  assert.deepEqual(late, [1, 5])
  assert.ok(
    await eventually(() => isAnsweredAtOnce(store), Boolean),
    'answers immediately while the node is silent',
  )
  assert.equal(await count(store, 'a_', { hits: 10 }), 10)
  memcached.resume()
  // All hits while it was stuck are counted when it continues.
  assert.equal(
    await eventually(
      () => read(store, 'a_'),
      (value) => value === 13,
    ),
    13,
  )
  assert.equal(await read(store, 'b_'), 5)
  assert.equal(await count(store, 'a_'), 14)
  assert.ok(statistics.multiget.error.value >= 3)
})

test('the deadline of a call ends its wait before the timeout', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port], timeoutMs: 60_000 })
  await pause(memcached)
  // Without a deadline the timeout ends the wait.
  let isPatientAnswered = false
  const patient = read(store, 'patient_').finally(() => {
    isPatientAnswered = true
  })
  assert.equal(await count(store, 'a_', { deadlineMs: performance.now() + 20 }), 1)
  assert.equal(isPatientAnswered, false)
  memcached.resume()
  assert.equal(await patient, 0)
  assert.equal(
    await eventually(
      () => read(store, 'a_'),
      (value) => value === 1,
    ),
    1,
  )
})

test('the connection to a node that stays silent is replaced', async (t) => {
  const [memcached, other] = [await open(t, 'memcached'), await open(t, 'memcached')]
  if (!memcached || !other) return
  const proxy = await openProxy(t, memcached.port)
  const store = await openReadyStore(t, { ports: [proxy.port], timeoutMs: 300 })
  assert.equal(await count(store, 'a_'), 1)
  // The connection is not closed: packets are just lost.
  await pause(memcached)
  proxy.target = other.port
  assert.ok(
    (await eventually(
      () => count(store, 'a_'),
      (after) => after > 1,
    )) > 1,
  )
  assert.ok(((await storedCount(other.port, 'a_')) ?? 0) > 0)
  memcached.resume()
})

test('a paused node does not fill the memory: above a bound, calls are answered immediately', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port], timeoutMs: 60_000 })
  await pause(memcached)
  let [answeredAtOnce, answered] = [0, 0]
  let isSynchronous = true
  for (let i = 0; i < 100_000; i++) {
    store.read([toIncrement('a_')], performance.now() + 30, () => {
      if (isSynchronous) answeredAtOnce++
      answered++
    })
  }
  isSynchronous = false
  assert.ok(answeredAtOnce > 30_000, `${answeredAtOnce} at once`)
  assert.equal(
    await eventually(
      () => answered,
      (value) => value === 100_000,
    ),
    100_000,
  )
  memcached.resume()
  assert.equal(
    await eventually(
      () => count(store, 'a_'),
      (after) => after > 1,
    ),
    2,
  )
})

test('a connection that is cut in the middle of a reply is replaced immediately', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const proxy = await openProxy(t, memcached.port)
  const store = await openReadyStore(t, { ports: [proxy.port] })
  assert.equal(await count(store, 'a_', { hits: 7 }), 7)
  assert.equal(await count(store, 'a_'), 8)
  await sleep(200)
  // Replies arrive in order: after this one, those to the writes have arrived too.
  assert.equal(await read(store, 'a_'), 8)
  const answered = new Promise<void>((resolve) => {
    proxy.onAnswer = (bytes) => {
      proxy.onAnswer = () => undefined
      resolve()
      return bytes.subarray(0, 9)
    }
  })
  const cut = Promise.all(Array.from({ length: 10 }, () => count(store, 'a_', { hits: 0 })))
  await answered
  proxy.cut()
  assert.deepEqual(new Set(await cut), new Set([0]))
  proxy.onAnswer = (bytes) => bytes
  assert.equal(
    await eventually(
      () => read(store, 'a_'),
      (value) => value > 0,
    ),
    8,
  )
})

test('bytes that are not a reply end the connection, and the next one works', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const proxy = await openProxy(t, memcached.port)
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { ports: [proxy.port], log })
  const foreign = [
    'VALUE other_1 0 1\r\n1\r\nEND\r\n',
    '17\r\n',
    'VALUE a_ 0\r\n',
    'END\r\nEND\r\n',
  ]
  for (const answer of foreign) {
    await eventually(
      () => count(store, 'a_'),
      (after) => after > 1,
    )
    await sleep(200)
    // Replies arrive in order: after this one, those to the writes have arrived too.
    await read(store, 'a_')
    proxy.onAnswer = () => {
      proxy.onAnswer = (bytes) => bytes
      return Buffer.from(answer)
    }
    assert.equal(await read(store, 'a_'), 0)
  }
  assert.ok(
    (await eventually(
      () => count(store, 'a_'),
      (after) => after > 4,
    )) > 4,
  )
  assert.match(lines.join('\n'), /No connection: memcached at .* memcached sent a/)
})

test('an error of the server is logged, and the call is answered', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const proxy = await openProxy(t, memcached.port)
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { ports: [proxy.port], log })
  proxy.onAnswer = () => {
    proxy.onAnswer = (bytes) => bytes
    return Buffer.from('SERVER_ERROR out of memory writing get response\r\n')
  }
  assert.equal(await count(store, 'a_'), 1)
  assert.match(
    lines.join('\n'),
    /multi-getting memcache keys \(a_\d+\): SERVER_ERROR out of memory/,
  )
  // The hit is counted nevertheless, and the connection is still the same.
  await eventually(() => storedCount(memcached.port, 'a_'), Boolean)
  assert.equal(await count(store, 'a_'), 2)
})

test('a server that is not memcached is not used', async (t) => {
  const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { ports: [port], log })
  assert.equal(await count(store, 'a_'), 1)
  assert.match(lines.join('\n'), /warning No connection: memcached at .*: SSH-2\.0/)
})

test('under load a killed and restarted node leaves no call hanging', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port] })
  const calls = { answered: 0, open: 0 }
  let isOver = false
  const callAgain = () => {
    if (isOver) return
    calls.open++
    store.add([toIncrement(`k${calls.answered % 100}_`)], performance.now() + 50, (error) => {
      assert.equal(error, undefined)
      calls.open--
      calls.answered++
      setTimeout(callAgain, 1)
    })
  }
  for (let i = 0; i < 50; i++) callAgain()
  const untilMoreAnswered = async () => {
    const enough = calls.answered + 200
    await eventually(
      () => calls.answered,
      (answered) => answered >= enough,
    )
  }
  for (let round = 0; round < 3; round++) {
    await untilMoreAnswered()
    await memcached.kill()
    await untilMoreAnswered()
    await memcached.restart()
    await eventually(
      () => count(store, 'a_'),
      (after) => after > 1,
    )
  }
  isOver = true
  assert.equal(
    await eventually(
      () => calls.open,
      (value) => value === 0,
    ),
    0,
  )
})

test('closing completes the writes of calls that were answered', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port] })
  const calls = Array.from({ length: 500 }, () => count(store, 'a_', { hits: 2 }))
  await store[Symbol.asyncDispose]()
  await Promise.all(calls)
  assert.equal(await storedCount(memcached.port, 'a_'), 1000)
})

test('closing does not wait forever for a stuck node', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { ports: [memcached.port], timeoutMs: 100, log })
  await pause(memcached)
  const call = count(store, 'a_')
  await store[Symbol.asyncDispose]()
  assert.equal(await call, 1)
  assert.match(lines.join('\n'), /Failed to increment key a_\d+: memcached: the store is closed/)
  memcached.resume()
})

test('a store can be closed while it starts', async (t) => {
  const store = openStore(t, { ports: [await findFreePort()] })
  await store[Symbol.asyncDispose]()
  await store.ready
  await assert.rejects(count(store, 'a_'), /the store is closed/)
})
