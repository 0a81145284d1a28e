/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { type Increment, StoreError } from '../../../src/counters/counter-store.ts'
import { createPerSecondRouter } from '../../../src/counters/redis/per-second.ts'
import { command } from './support/redis-client.ts'
import { openReadyStore, toIncrement } from './support/store.ts'

test('limits per second are counted in the second Redis, all others in the first', async (t) => {
  const [first, second] = [await open(t, 'redis'), await open(t, 'redis')]
  if (!first || !second) return
  const router = createPerSecondRouter({
    others: await openReadyStore(t, { url: `127.0.0.1:${first.port}` }),
    perSecond: await openReadyStore(t, { url: `127.0.0.1:${second.port}` }),
  })
  const add = (increments: readonly Increment[]) =>
    new Promise<StoreError | undefined>((resolve) => {
      router.add(increments, Number.POSITIVE_INFINITY, resolve)
    })
  const perSecond = (hits: number) => toIncrement('fast_', { unitSeconds: 1, window: 1234, hits })

  await t.test('together in one call', async () => {
    const increments = [toIncrement('slow_', { hits: 2 }), perSecond(3), toIncrement('slow_')]
    assert.equal(await add(increments), undefined)
    assert.deepEqual(
      increments.map(({ after }) => after),
      [2, 3, 3],
    )
    assert.equal(await command(second, 'GET', 'fast_1234'), '3')
    assert.equal(await command(first, 'DBSIZE'), 1)
    assert.equal(await command(second, 'DBSIZE'), 1)
  })

  await t.test('and both are read together', async () => {
    const increments = [perSecond(0), toIncrement('slow_')]
    const error = await new Promise((resolve) => {
      router.read(increments, Number.POSITIVE_INFINITY, resolve)
    })
    assert.equal(error, undefined)
    assert.deepEqual(
      increments.map(({ after }) => after),
      [3, 3],
    )
  })

  await t.test('an outage of one instance affects only the calls that need it', async () => {
    await second.kill()
    assert.ok((await add([perSecond(1)])) instanceof StoreError)
    assert.ok((await add([perSecond(1), toIncrement('slow_')])) instanceof StoreError)
    const slow = toIncrement('only-slow_')
    assert.equal(await add([slow]), undefined)
    assert.equal(slow.after, 1)
    await first.kill()
    await second.restart()
    assert.ok((await add([toIncrement('slow_')])) instanceof StoreError)
    const fast = perSecond(1)
    while (await add([fast])) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(fast.after, 1)
  })
})
