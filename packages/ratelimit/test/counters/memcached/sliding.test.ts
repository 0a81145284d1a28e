/**
 * @servers memcached
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { CounterKeyError } from '../../../src/counters/counter-store.ts'
import { command, eventually } from './support/memcached-client.ts'
import { count, countAll, openReadyStore, toIncrement, window } from './support/store.ts'

const unitSeconds = 86_400
const unitMs = unitSeconds * 1000
/** The start of a day with ten allowed hits. */
const day = { unitSeconds, overlapMs: unitMs, most: 10 }

async function stored(port: number, name: string): Promise<number | undefined> {
  const value = (await command(port, `get ${name}`)).split('\r\n')[1]
  return value === undefined ? undefined : Number(value)
}

async function ttl(port: number, name: string): Promise<number> {
  return Number(/^HD t(-?\d+)/.exec(await command(port, `mg ${name} t`))?.[1])
}

test('each window of a sliding counter is a counter that lives for two windows', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const { port } = memcached
  const store = await openReadyStore(t, { ports: [port] })
  // Two months exceed the 30 days up to which memcached counts in seconds.
  for (const unitSeconds of [60, 86_400, 2_592_000]) {
    assert.equal(await count(store, 'k_', { ...day, unitSeconds }), 1)
    const name = `k_${unitSeconds}s@${window}`
    assert.equal(
      await eventually(
        () => stored(port, name),
        (value) => value === 1,
      ),
      1,
    )
    const seconds = await ttl(port, name)
    assert.ok(seconds > 2 * unitSeconds - 30 && seconds <= 2 * unitSeconds + 300, `${seconds}`)
  }
})

test('hits for which there is no room are not written', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const { port } = memcached
  const store = await openReadyStore(t, { ports: [port] })
  assert.equal(await count(store, 'k_', { ...day, hits: 8 }), 8)
  for (let i = 0; i < 5; i++) assert.equal(await count(store, 'k_', { ...day, hits: 3 }), 11)
  assert.equal(await count(store, 'k_', { ...day, hits: 0 }), 8)
  assert.equal(await stored(port, `k_${unitSeconds}s@${window}`), 8)
  assert.equal(await count(store, 'k_', { ...day, hits: 2 }), 10)
})

test('the previous window and the current one may be on different nodes', async (t) => {
  const nodes = [await open(t, 'memcached'), await open(t, 'memcached'), await open(t, 'memcached')]
  const ports = nodes.flatMap((node) => node?.port ?? [])
  if (ports.length < nodes.length) return
  const store = await openReadyStore(t, { ports })
  const keys = Array.from({ length: 30 }, (_, i) => `k${i}_`)
  const inWindow = (startsAt: number, hits: number, overlapMs = unitMs) =>
    keys.map((key) => toIncrement(key, { ...day, window: startsAt, hits, overlapMs }))
  await countAll(store, inWindow(window, 7))
  const next = inWindow(window + unitSeconds, 2, unitMs / 2)
  assert.deepEqual(
    await countAll(store, next),
    keys.map(() => 5),
  )
  assert.deepEqual(
    next.map(({ previous }) => previous),
    keys.map(() => 7),
  )
})

test('the sliding counters of a node that cannot be read are 0', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port] })
  assert.equal(await count(store, 'k_', { ...day, hits: 10 }), 10)
  await memcached.kill()
  assert.equal(await count(store, 'k_', { ...day, hits: 3 }), 3)
})

test('a name that is too long with its windows is an error of the request', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port], hashesLongNames: false })
  const room = 250 - `86400s@${window}`.length
  const fitting = `${'x'.repeat(room - 1)}_`
  assert.equal(await count(store, fitting, day), 1)
  await assert.rejects(count(store, `x${fitting}`, day), CounterKeyError)
  assert.equal(await count(store, `x${fitting}`), 1)
})

test('increments are not stopped: the other counters count even if one is full', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const store = await openReadyStore(t, { ports: [memcached.port] })
  const increments = [toIncrement('full_', { most: 0 }), toIncrement('other_')]
  await new Promise((resolve) => store.addSparing(increments, Number.POSITIVE_INFINITY, resolve))
  assert.deepEqual(
    increments.map(({ after }) => after),
    [1, 1],
  )
})
