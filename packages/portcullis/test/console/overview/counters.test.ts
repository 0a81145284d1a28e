import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseStatistics } from '../../../src/console/limits/statistics.ts'
import {
  parseCounters,
  parseUptimeSeconds,
  toIncrease,
} from '../../../src/console/overview/counters.ts'

const toStats = (hits: number, over = 0, shadow = 0) => `ratelimit.memory_store.bytes: 2176
ratelimit.service.rate_limit.api.key: with.total_hits.over_limit_with_local_cache: 99
ratelimit.service.rate_limit.api.key.near_limit: 7
ratelimit.service.rate_limit.api.key.over_limit: ${over}
ratelimit.service.rate_limit.api.key.over_limit_with_local_cache: 50
ratelimit.service.rate_limit.api.key.shadow_mode: ${shadow}
ratelimit.service.rate_limit.api.key.total_hits: ${hits}
ratelimit_server.ShouldRateLimit.total_requests: 12
ratelimit.node.uptime_seconds: 3
`

test('only what rules decided is counted, once', () => {
  const increase = toIncrease(new Map(), parseCounters(toStats(10, 4, 1)))
  assert.deepEqual(increase, { hits: 10, over: 4, shadow: 1 })
})

test('EXTRA_TAGS of the service are no part of its names', () => {
  const tagged = toStats(10, 4, 1).replaceAll(': ', '.__env=live.__tier=edge: ')
  const increase = toIncrease(new Map(), parseCounters(tagged))
  assert.deepEqual(increase, { hits: 10, over: 4, shadow: 1 })
  assert.equal(parseUptimeSeconds(tagged), 3)
  const { rules } = parseStatistics(tagged)
  assert.deepEqual(rules.get('api.key'), { total: 10, within: 0, near: 7, over: 4, shadow: 1 })
})

test('the increase is that of each rule, and new rules count from nothing', () => {
  const before = parseCounters(toStats(10, 4))
  const after = parseCounters(`${toStats(15, 6)}a.b.total_hits: 3\na.b.over_limit: 1\n`)
  assert.deepEqual(toIncrease(before, after), { hits: 8, over: 3, shadow: 0 })
})

test('a service that was restarted counts what it has decided since, never less than nothing', () => {
  const before = parseCounters(toStats(1_000, 400, 3))
  assert.deepEqual(toIncrease(before, parseCounters(toStats(5, 2, 1))), {
    hits: 5,
    over: 2,
    shadow: 1,
  })
  assert.deepEqual(toIncrease(before, parseCounters(toStats(0))), { hits: 0, over: 0, shadow: 0 })
  assert.deepEqual(toIncrease(before, new Map()), { hits: 0, over: 0, shadow: 0 })
})

test('the time since the start is read where the service tells it', () => {
  assert.equal(parseUptimeSeconds(toStats(1)), 3)
  assert.equal(parseUptimeSeconds('a: 1\n'), undefined)
})
