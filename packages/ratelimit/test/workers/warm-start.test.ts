/**
 * @servers redis
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { command } from '../counters/redis/support/redis-client.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient, readStatistics } from '../support/service-client.ts'
import { startService, until } from '../support/service-process.ts'
import { readWorkers } from './support/workers.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: year, requests_per_unit: 1000 } }]\n'

test('workers are warm before they serve, without visible effects', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const countReads = async (): Promise<number> => {
    const info = String(await command(redis, 'INFO', 'commandstats'))
    return Number(/^cmdstat_get:calls=(\d+)/m.exec(info)?.[1] ?? 0)
  }
  const env = {
    KVSTORE_URL: `127.0.0.1:${redis.port}`,
    WORKERS: '2',
    WARM_UP: 'true',
    LOG_LEVEL: 'debug',
  }
  const service = await startService(t, { rules, env })

  // The listeners are open only now, so all reads were made by the warm-up.
  const reads = await countReads()
  assert.ok(reads > 0)
  const counted = [...(await readStatistics(service))].filter(
    ([name, value]) =>
      /^ratelimit(?:_server|\.service\.(?:call|rate_limit))/.test(name) && value > 0,
  )
  assert.deepEqual(counted, [])
  assert.equal(await countReads(), reads)

  const [victim] = await readWorkers(service)
  assert.ok(victim)
  process.kill(victim.pid, 'SIGKILL')
  await until(
    async () => {
      const workers = await readWorkers(service)
      return (
        workers.length === 2 &&
        workers.every(({ state, pid }) => state === 'serving' && pid !== victim.pid)
      )
    },
    () => `the worker was replaced; the log:\n${service.log}`,
  )
  const readsOfThree = await countReads()
  assert.ok(readsOfThree > reads, `${readsOfThree} reads after ${reads}`)

  assert.equal(await command(redis, 'DBSIZE'), 0)
  assert.doesNotMatch(service.log, /warm/)
  const { decide } = await openDecisionClient(t, service)
  await decide(requestFor('d', descriptor('k=v')))
  assert.equal(await command(redis, 'DBSIZE'), 1)
})
