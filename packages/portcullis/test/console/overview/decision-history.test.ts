import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseStatistics } from '../../../src/console/limits/statistics.ts'
import {
  createDecisionHistory,
  parseCounters,
  parseUptimeSeconds,
  toIncrease,
} from '../../../src/console/overview/decision-history.ts'

const now = 1_800_000_000_000
const hits = (count: number) => ({ hits: count, over: 0, shadow: 0 })

test('minutes without a measurement stay empty in every range', () => {
  const history = createDecisionHistory()
  history.add(now - 600_000, now - 540_000, hits(600))
  history.add(now - 5_000, now, { hits: 50, over: 10, shadow: 5 })
  const { points, sums } = history.read('15m', now - 1)
  assert.equal(points.length, 180)
  assert.deepEqual(points.at(-1), { total: 10, over: 2, shadow: 1 })
  assert.deepEqual(points.at(-2), null)
  assert.equal(points.filter((point) => point !== null).length, 13)
  assert.deepEqual(sums, { hits: 650, over: 10, shadow: 5 })
  for (const range of ['1h', '24h'] as const) {
    const { points: others, sums: all } = history.read(range, now - 1)
    assert.ok(others.some((point) => point === null))
    assert.equal(all.hits, 650)
  }
})

test('a long history takes a bounded number of steps', () => {
  const history = createDecisionHistory()
  for (let at = now - 2 * 86_400_000; at < now; at += 60_000) history.add(at, at + 60_000, hits(60))
  assert.equal(history.read('15m', now - 1).sums.hits, 900)
  assert.equal(history.read('1h', now - 1).sums.hits, 3_600)
  const day = history.read('24h', now - 1)
  assert.deepEqual([day.sums.hits, day.points.length], [86_400, 288])
  assert.deepEqual(day.points[0], { total: 1, over: 0, shadow: 0 })
  assert.equal(day.current, 1)
})

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

test('only decisions of rules are counted, and only once', () => {
  const increase = toIncrease(new Map(), parseCounters(toStats(10, 4, 1)))
  assert.deepEqual(increase, { hits: 10, over: 4, shadow: 1 })
})

test('tags from EXTRA_TAGS are not part of the names', () => {
  const tagged = toStats(10, 4, 1).replaceAll(': ', '.__env=live.__tier=edge: ')
  const increase = toIncrease(new Map(), parseCounters(tagged))
  assert.deepEqual(increase, { hits: 10, over: 4, shadow: 1 })
  assert.equal(parseUptimeSeconds(tagged), 3)
  const { rules } = parseStatistics(tagged)
  assert.deepEqual(rules.get('api.key'), { total: 10, within: 0, near: 7, over: 4, shadow: 1 })
})

test('the increase is computed per rule, and new rules count from zero', () => {
  const before = parseCounters(toStats(10, 4))
  const after = parseCounters(`${toStats(15, 6)}a.b.total_hits: 3\na.b.over_limit: 1\n`)
  assert.deepEqual(toIncrease(before, after), { hits: 8, over: 3, shadow: 0 })
})

test('after a restart the increase is the count since then, and never negative', () => {
  const before = parseCounters(toStats(1_000, 400, 3))
  assert.deepEqual(toIncrease(before, parseCounters(toStats(5, 2, 1))), {
    hits: 5,
    over: 2,
    shadow: 1,
  })
  assert.deepEqual(toIncrease(before, parseCounters(toStats(0))), { hits: 0, over: 0, shadow: 0 })
  assert.deepEqual(toIncrease(before, new Map()), { hits: 0, over: 0, shadow: 0 })
})

test('the uptime is read if the service reports it', () => {
  assert.equal(parseUptimeSeconds(toStats(1)), 3)
  assert.equal(parseUptimeSeconds('a: 1\n'), undefined)
})
