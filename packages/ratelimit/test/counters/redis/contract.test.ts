/**
 * @servers redis, redis-cluster, redis-sentinel
 */
import { open } from '@portcullis/test-servers'
import { createPerSecondRouter } from '../../../src/counters/redis/per-second.ts'
import { testCounterStore } from '../contract.ts'
import { openReadyStore } from './support/store.ts'

testCounterStore('Redis', async (t) => {
  const redis = await open(t, 'redis')
  return redis && openReadyStore(t, { url: `${redis.host}:${redis.port}` })
})

testCounterStore('Redis without jitter', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const url = `${redis.host}:${redis.port}`
  return openReadyStore(t, { url, expirationJitterMaxSeconds: 0 })
})

testCounterStore('Redis with a pipeline window and limit', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const url = `${redis.host}:${redis.port}`
  return openReadyStore(t, { url, pipelineWindowMs: 2, pipelineLimit: 7 })
})

testCounterStore(
  'Redis Cluster',
  async (t) => {
    const cluster = await open(t, 'redis-cluster')
    if (!cluster) return undefined
    return openReadyStore(t, { type: 'cluster', url: `${cluster.host}:${cluster.port}` })
  },
  {
    'changes no other counter for refused calls among 300 concurrent ones':
      'counters in several slots are checked and changed in two steps (decision 011)',
  },
)

testCounterStore('Redis Sentinel', async (t) => {
  const redis = await open(t, 'redis-sentinel')
  if (!redis) return undefined
  const sentinels = redis.sentinels.map(({ host, port }) => `${host}:${port}`)
  return openReadyStore(t, { type: 'sentinel', url: [redis.masterName, ...sentinels].join(',') })
})

testCounterStore('Redis with a second instance for limits per second', async (t) => {
  const [redis, second] = [await open(t, 'redis'), await open(t, 'redis')]
  if (!redis || !second) return undefined
  const others = await openReadyStore(t, { url: `${redis.host}:${redis.port}` })
  const perSecond = await openReadyStore(t, { url: `${second.host}:${second.port}` })
  return createPerSecondRouter({ perSecond, others })
})
