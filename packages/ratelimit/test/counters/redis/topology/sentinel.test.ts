/**
 * @servers redis-sentinel
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from '@portcullis/test-servers'
import { command, listEndless } from '../support/redis-client.ts'
import {
  count,
  countUntilItWorks,
  createLines,
  openReadyStore,
  openStore,
} from '../support/store.ts'

async function openSentinel(t: TestContext) {
  const redis = await open(t, 'redis-sentinel')
  if (!redis) return undefined
  const sentinels = redis.sentinels.map(({ port }) => `127.0.0.1:${port}`)
  return { redis, url: [redis.masterName, ...sentinels].join(',') }
}

test('the replica that the sentinels promote is used', async (t) => {
  const both = await openSentinel(t)
  if (!both) return
  const { redis, url } = both
  const store = await openReadyStore(t, { type: 'sentinel', url })
  const sliding = { overlapMs: 1, most: 10 }
  assert.equal(await count(store, 'k_'), 1)
  assert.equal(await count(store, 'k_', sliding), 1)
  while (Number(await command(redis.replica, 'DBSIZE')) < 2) await sleep(10)
  await redis.master.kill()
  const after = await countUntilItWorks(store, 'k_')
  assert.equal(after, 2)
  // The script was never sent to this server.
  assert.equal(await count(store, 'k_', sliding), 2)
  assert.match(String(await command(redis.replica, 'ROLE')), /^master/)
  assert.deepEqual(await listEndless(redis.replica), [])
})

test('a manual failover is followed although the old master is still running', async (t) => {
  const both = await openSentinel(t)
  if (!both) return
  const { redis, url } = both
  const { lines, log } = createLines()
  const store = await openReadyStore(t, { type: 'sentinel', url, log })
  assert.equal(await count(store, 'k_'), 1)
  while (Number(await command(redis.replica, 'DBSIZE')) < 1) await sleep(10)
  await command(redis.sentinels[0] ?? redis.master, 'SENTINEL', 'FAILOVER', redis.masterName)
  // Hits may still go to the old master for a while, and finally go to the new one.
  for (;;) {
    await countUntilItWorks(store, 'k_')
    if (lines.some((line) => /switched the master|Lost a connection/.test(line))) break
    await sleep(20)
  }
  const isMaster = async () => /^master/.test(String(await command(redis.replica, 'ROLE')))
  while (!(await isMaster())) await sleep(20)
  let keys = ''
  while (keys === '') {
    await countUntilItWorks(store, 'after_')
    keys = String(await command(redis.replica, 'KEYS', 'after_*'))
    await sleep(20)
  }
  assert.match(keys, /after_/)
})

test('a dead sentinel is skipped', async (t) => {
  const both = await openSentinel(t)
  if (!both) return
  await both.redis.sentinels[0]?.kill()
  const store = await openReadyStore(t, { type: 'sentinel', url: both.url })
  assert.equal(await count(store, 'k_'), 1)
})

test('an unknown master name is reported at startup', async (t) => {
  const both = await openSentinel(t)
  if (!both) return
  const url = both.url.replace(both.redis.masterName, 'unknown')
  const startup = { initialIntervalMs: 10, maxIntervalMs: 10, maxElapsedMs: 1 }
  const store = openStore(t, { type: 'sentinel', url, startup })
  await assert.rejects(store.ready, /does not know the master "unknown"/)
})

test('sentinels have separate credentials', async (t) => {
  const both = await openSentinel(t)
  if (!both) return
  const { redis, url } = both
  for (const sentinel of redis.sentinels) {
    await command(sentinel, 'ACL', 'SETUSER', 'watcher', 'on', '>open', '~*', '&*', '+@all')
    await command(sentinel, 'ACL', 'SETUSER', 'default', 'off')
  }
  await command(redis.master, 'ACL', 'SETUSER', 'counter', 'on', '>sesame', '~*', '+@all')
  const auth = 'counter:sesame'
  const store = await openReadyStore(t, {
    type: 'sentinel',
    url,
    auth,
    sentinelAuth: 'watcher:open',
  })
  assert.equal(await count(store, 'k_'), 1)
  const startup = { initialIntervalMs: 10, maxIntervalMs: 10, maxElapsedMs: 1 }
  const locked = openStore(t, { type: 'sentinel', url, auth, startup })
  await assert.rejects(locked.ready, /NOAUTH/)
})
