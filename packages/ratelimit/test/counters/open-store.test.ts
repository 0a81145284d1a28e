/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { parseConfig } from '../../src/config/config.ts'
import { openStore } from '../../src/counters/plugins.ts'
import { Statistics } from '../../src/stats/registry.ts'
import { collectLog } from '../support/collected-log.ts'

test('opened and closed connections to Redis are counters, and active connections are a gauge', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const url = `127.0.0.1:${redis.port}`
  const { config } = parseConfig({
    KVSTORE_URL: url,
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: url,
  })
  const statistics = new Statistics({ maxRequestKeys: 10 })
  const { store, ready } = await openStore(config.store, {
    log: collectLog().log,
    statistics,
    expirationJitterMaxSeconds: 300,
    isCompatible: false,
    onHealth: () => {},
  })
  t.after(() => store[Symbol.asyncDispose]())
  await ready
  for (const pool of ['redis_pool', 'redis_per_second_pool']) {
    assert.ok((statistics.counters.get(`ratelimit.${pool}.cx_total`)?.value ?? 0) > 0)
    assert.equal(statistics.counters.get(`ratelimit.${pool}.cx_local_close`)?.value, 0)
    assert.ok((statistics.gauges.get(`ratelimit.${pool}.cx_active`)?.() ?? 0) > 0)
    assert.ok(!statistics.gauges.has(`ratelimit.${pool}.cx_total`))
  }
})
