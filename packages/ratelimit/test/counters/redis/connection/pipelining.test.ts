/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from '@portcullis/test-servers'
import type { RedisSettings } from '../../../../src/counters/redis/settings.ts'
import { openProxy } from '../support/proxy.ts'
import { callAll, count, openReadyStore, toIncrement } from '../support/store.ts'

async function openBehindProxy(t: TestContext, settings: Partial<RedisSettings> = {}) {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const proxy = await openProxy(t, redis.port)
  const store = await openReadyStore(t, { url: proxy.url, ...settings })
  await count(store, 'k_')
  proxy.sent.length = 0
  return { proxy, store }
}

const commandsIn = (bytes: Buffer) => bytes.toString().split('INCRBY').length - 1

test('all commands of one turn are sent in one write', async (t) => {
  const both = await openBehindProxy(t)
  if (!both) return
  const { proxy, store } = both
  await Promise.all(Array.from({ length: 50 }, () => count(store, 'k_')))
  assert.deepEqual(proxy.sent.map(commandsIn), [50])
})

test('the pipeline limit ends a window early', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const settings = { pipelineWindowMs: 3_600_000, pipelineLimit: 10 }
  const store = await openReadyStore(t, { url: `127.0.0.1:${redis.port}`, ...settings })
  // The first count of a counter is two commands, so nine calls are ten commands.
  const calls = Array.from({ length: 9 }, () => count(store, 'k_'))
  assert.deepEqual(await Promise.all(calls), [1, 2, 3, 4, 5, 6, 7, 8, 9])
  await assert.rejects(count(store, 'k_', { deadlineMs: performance.now() + 1_000 }), /in time/)
})

test('the pipeline window combines the commands of several turns', async (t) => {
  const both = await openBehindProxy(t, { pipelineWindowMs: 100 })
  if (!both) return
  const { proxy, store } = both
  // On a busy machine the window may end between two turns, so there are several attempts.
  for (let left = 10; left > 0 && proxy.sent.length !== 1; left--) {
    proxy.sent.length = 0
    const calls = []
    for (let turn = 0; turn < 5; turn++) {
      calls.push(count(store, 'k_'))
      await new Promise((resolve) => setImmediate(resolve))
    }
    const [first = 0, ...rest] = await Promise.all(calls)
    assert.deepEqual(rest, [first + 1, first + 2, first + 3, first + 4])
  }
  assert.deepEqual(proxy.sent.map(commandsIn), [5])
})

test('a counter that is known costs one command', async (t) => {
  const both = await openBehindProxy(t)
  if (!both) return
  const { proxy, store } = both
  await count(store, 'k_')
  await count(store, 'k_', { hits: 20 })
  const commands = Buffer.concat(proxy.sent)
    .toString()
    .match(/SET|INCRBY|EXPIRE/g)
  assert.deepEqual(commands, ['INCRBY', 'INCRBY'])
})

test('further connections are opened only when many replies are outstanding', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const proxy = await openProxy(t, redis.port)
  const store = await openReadyStore(t, { url: proxy.url, poolSize: 3 })
  /** Each call has 10 counters. */
  const countOften = (calls: number) =>
    Array.from({ length: calls }, () => {
      const increments = Array.from({ length: 10 }, (_, i) => toIncrement(`k${i}_`))
      return callAll(store, 'add', increments)
    })
  await Promise.all(countOften(1000))
  assert.equal(proxy.clients, 1)
  for (let round = 0; round < 4; round++) {
    redis.pause()
    const calls: Promise<number[]>[] = []
    for (let turn = 0; turn < 3; turn++) {
      calls.push(...countOften(1700))
      await new Promise((resolve) => setImmediate(resolve))
    }
    redis.resume()
    await Promise.all(calls)
    const expected = Math.min(3, round + 2)
    for (let left = 6000; left > 0 && proxy.clients < expected; left--) await sleep(20)
    assert.equal(proxy.clients, expected)
  }
})
