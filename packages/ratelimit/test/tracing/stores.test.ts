/**
 * @servers redis, memcached
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { open } from '@portcullis/test-servers'
import { openDecisionClient, postJson, readStatistics } from '../support/service-client.ts'
import { until } from '../support/service-process.ts'
import { openHttpCollector } from './support/collector.ts'
import { openTraced } from './support/traced-app.ts'
import { createRequest, serverSpan } from './support/traced-service.ts'

const requestCount = 'ratelimit_server.ShouldRateLimit.total_requests'

test('calls of Redis have a span with the number of commands', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const collector = await openHttpCollector(t)
  const service = await openTraced(t, collector, {
    KVSTORE_URL: `127.0.0.1:${redis.port}`,
    // Long enough for a busy machine, but the test waits for it.
    KVSTORE_COMMAND_TIMEOUT: '5s',
  })
  const client = await openDecisionClient(t, service)
  await client.decide(createRequest('ann', 'user', 'burst', 'unlimited'))

  const name = 'Redis Pipeline Execution'
  const [store] = await collector.untilSpans(name)
  const [decision] = await collector.untilSpans('ShouldRateLimit Execution')
  assert.ok(store && decision)
  assert.deepEqual(store.attributes, { 'pipeline length': 4, 'perSecondPipeline length': 0 })
  assert.deepEqual([store.kind, store.statusCode], [1, 0])
  assert.deepEqual([store.traceId, store.parentSpanId], [decision.traceId, decision.spanId])
  assert.ok(decision.startNs <= store.startNs && store.endNs <= decision.endNs)

  await client.decide(createRequest('ann', 'unlimited'))
  await postJson(service, '{"domain":"shop","descriptors":[{"entries":[{"key":"user"}]}]}')
  const [json] = await collector.untilSpans('POST /json')
  const second = (await collector.untilSpans(name, 2))[1]
  assert.equal(
    second?.traceId,
    json?.traceId,
    'a request without a matching rule does not use the store',
  )

  redis.pause()
  const { code, message } = await client.tryDecide(createRequest('ann', 'user'))
  assert.equal(code, status.UNKNOWN)
  const failed = (await collector.untilSpans(name, 3))[2]
  assert.deepEqual([failed?.statusCode, failed?.statusMessage], [2, message])

  const caller = new AbortController()
  const call = client.tryDecide(createRequest('ann', 'user'), { signal: caller.signal })
  await until(
    async () => (await readStatistics(service)).get(requestCount) === 4,
    () => 'the call arrived',
  )
  caller.abort()
  await call
  const abandoned = (await collector.untilSpans(serverSpan, 4))[3]
  assert.equal(abandoned?.attributes['rpc.grpc.status_code'], status.CANCELLED)
  assert.equal(abandoned?.statusCode, 0, 'the client disconnected')
  redis.resume()
  assert.deepEqual(collector.faults, [])
})

test('commands for the Redis of limits per second are counted separately', async (t) => {
  const [others, perSecond] = await Promise.all([open(t, 'redis'), open(t, 'redis')])
  if (!others || !perSecond) return
  const collector = await openHttpCollector(t)
  const service = await openTraced(t, collector, {
    KVSTORE_URL: `127.0.0.1:${others.port}`,
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: `127.0.0.1:${perSecond.port}`,
  })
  const client = await openDecisionClient(t, service)
  await client.decide(createRequest('ann', 'user', 'burst', 'burst'))
  const [store] = await collector.untilSpans('Redis Pipeline Execution')
  assert.deepEqual(store?.attributes, { 'pipeline length': 2, 'perSecondPipeline length': 4 })
})

test('all calls of Redis for one decision are within its span', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const collector = await openHttpCollector(t)
  const service = await openTraced(t, collector, {
    KVSTORE_URL: `127.0.0.1:${redis.port}`,
    STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true',
  })
  const client = await openDecisionClient(t, service)
  await client.decide(createRequest('ann', 'user', 'burst'))
  const [decision] = await collector.untilSpans('ShouldRateLimit Execution')
  const stores = await collector.untilSpans('Redis Pipeline Execution')
  assert.ok(decision && stores.length > 0)
  for (const { parentSpanId, attributes } of stores) {
    assert.equal(parentSpanId, decision.spanId)
    assert.deepEqual(attributes, { 'pipeline length': 4, 'perSecondPipeline length': 0 })
  }
})

test('calls of memcached have a span with the number of keys', async (t) => {
  const memcached = await open(t, 'memcached')
  if (!memcached) return
  const collector = await openHttpCollector(t)
  const service = await openTraced(t, collector, {
    BACKEND_TYPE: 'memcache',
    MEMCACHE_HOST_PORT: `127.0.0.1:${memcached.port}`,
  })
  const client = await openDecisionClient(t, service)
  await client.decide(createRequest('ann', 'user', 'burst'))
  const [store] = await collector.untilSpans('Memcached Fetch Execution')
  const [decision] = await collector.untilSpans('ShouldRateLimit Execution')
  assert.ok(store && decision)
  assert.deepEqual(store.attributes, { 'keysToGet length': 2 })
  assert.deepEqual([store.traceId, store.parentSpanId], [decision.traceId, decision.spanId])
})
