/**
 * @legs safety
 * @servers redis
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OVER_LIMIT } from '../../src/protocol/message.ts'
import { openTcpStatsd } from '../stats/sinks/support/statsd-server.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient, readRule, readStatistics } from '../support/service-client.ts'
import { until } from '../support/service-process.ts'
import { readFreshStatistics, readWorkers, startWorkers } from './support/workers.ts'

const rules = `domain: a.b
descriptors:
  - { key: k, rate_limit: { unit: year, requests_per_unit: 15 } }
  - { key: unused, rate_limit: { unit: year, requests_per_unit: 15 } }
  - { key: own, detailed_metric: true, rate_limit: { unit: year, requests_per_unit: 15 } }
`
const path = 'ratelimit_server.ShouldRateLimit'
const totalHits = 'ratelimit.service.rate_limit.a.b.k.total_hits'

test('/stats shows the sum of all workers, and common statistics only once', async (t) => {
  const service = await startWorkers(t, 3, { rules })
  if (!service) return
  const clients = await Promise.all(Array.from({ length: 6 }, () => openDecisionClient(t, service)))
  const codes: number[] = []
  for (let round = 0; round < 3; round += 1) {
    for (const { decide } of clients) {
      const { overallCode } = await decide(
        requestFor('a.b', descriptor('k=v'), descriptor('own=x')),
      )
      codes.push(overallCode)
      await decide(requestFor('unknown', descriptor('k=v')))
    }
  }
  const statistics = await readFreshStatistics(service, `${path}.total_requests`, 36)
  assert.equal(codes.filter((code) => code === OVER_LIMIT).length, 3)
  assert.deepEqual(await readRule(service, 'a.b.k'), {
    near_limit: 3,
    over_limit: 3,
    total_hits: 18,
    within_limit: 15,
  })
  assert.equal(statistics.get('ratelimit.service.rate_limit.a.b.own_x.total_hits'), 18)
  assert.equal(statistics.get('ratelimit.service.rate_limit.a.b.unused.total_hits'), 0)
  assert.equal(statistics.get('ratelimit.service.rate_limit.unknown.domain_not_found'), 18)
  assert.equal(statistics.get(`${path}.response_time.count`), 36)
  assert.ok((statistics.get(`${path}.response_time.sum_ms`) ?? 0) > 0)
  assert.equal(statistics.get('ratelimit.service.config_load_success'), 1)
  assert.equal(statistics.get('runtime.num_values'), 1)
  assert.equal(statistics.get('ratelimit.redis_pool.cx_active'), 3)
  assert.ok((statistics.get('ratelimit.node.memory.rss') ?? 0) > 4 * 20_000_000)

  await service.rules.replace(rules.replaceAll('15', '16'))
  const loads = async () =>
    (await readStatistics(service)).get('ratelimit.service.config_load_success') ?? 0
  await until(
    async () => (await loads()) > 1,
    () => 'the rules were loaded again',
  )
  const pages = await Promise.all(
    [1, 2, 3].map(async (number) =>
      (await fetch(`${service.debugUrl}/rlconfig?worker=${number}`)).text(),
    ),
  )
  await until(
    async () => (await (await fetch(`${service.debugUrl}/rlconfig`)).text()).includes('=16'),
    () => 'the new rules were shown',
  )
  for (const page of pages) assert.match(page, /^a\.b\.k: unit=YEAR requests_per_unit=1[56],/)
  assert.equal(await loads(), 2)
})

test('a worker that hangs blocks neither the page nor connections to other workers', async (t) => {
  const service = await startWorkers(t, 2, { rules })
  if (!service) return
  const clients = await Promise.all([
    openDecisionClient(t, service),
    openDecisionClient(t, service),
  ])
  for (const { decide } of clients) await decide(requestFor('a.b', descriptor('k=v')))
  await readFreshStatistics(service, totalHits, 2)
  const [first, second] = await readWorkers(service)
  assert.ok(first && second)
  process.kill(first.pid, 'SIGSTOP')
  t.after(() => {
    try {
      process.kill(first.pid, 'SIGCONT')
    } catch {}
  })
  assert.equal((await readRule(service, 'a.b.k'))['total_hits'], 2)
  await until(
    async () => (await readWorkers(service))[0]?.state === 'silent',
    () => 'its silence was noticed',
  )
  for (let count = 0; count < 3; count += 1) {
    const client = await openDecisionClient(t, service)
    await client.decide(requestFor('a.b', descriptor('k=v')))
  }
  await readFreshStatistics(service, totalHits, 5)
  assert.match(await (await fetch(`${service.debugUrl}/rlconfig`)).text(), /^a\.b\.k: /)
  process.kill(first.pid, 'SIGCONT')
  await until(
    async () => (await readWorkers(service))[0]?.state === 'serving',
    () => 'it reported again',
  )
  assert.equal((await readRule(service, 'a.b.k'))['total_hits'], 5)
})

test('sinks send the sum once, single durations, and the rest at shutdown', async (t) => {
  const statsd = await openTcpStatsd(t)
  const service = await startWorkers(t, 2, {
    rules,
    env: {
      DISABLE_STATS: 'false',
      USE_STATSD: 'true',
      STATSD_HOST: '127.0.0.1',
      STATSD_PORT: `${statsd.port}`,
      STATS_FLUSH_INTERVAL: '1h',
    },
  })
  if (!service) return
  const clients = await Promise.all([
    openDecisionClient(t, service),
    openDecisionClient(t, service),
  ])
  for (const { decide } of clients) {
    for (let count = 0; count < 5; count += 1) await decide(requestFor('a.b', descriptor('k=v')))
  }
  const { received } = statsd
  const durations = () => received.lines.filter((line) => line.startsWith(`${path}.response_time:`))
  await until(
    () => durations().length >= 10,
    () => `all durations arrived; there were ${durations().length}`,
  )
  assert.equal(await service.stop(), 0)
  assert.equal(durations().length, 10)
  const total = 'ratelimit.service.rate_limit.a.b.k.total_hits:'
  await until(
    () => received.lines.some((line) => line.startsWith(total)),
    () => 'the counters arrived',
  )
  assert.deepEqual(
    received.lines.filter((line) => line.startsWith(total)),
    [`${total}10|c`],
  )
})

test('Prometheus fetches the sum from one listener', async (t) => {
  const service = await startWorkers(t, 2, {
    rules,
    env: {
      DISABLE_STATS: 'false',
      USE_STATSD: 'false',
      USE_PROMETHEUS: 'true',
      PROMETHEUS_ADDR: '127.0.0.1:0',
    },
  })
  if (!service) return
  const [, address] = /Listening for Prometheus on '([^']+)'/.exec(service.log) ?? []
  const clients = await Promise.all([
    openDecisionClient(t, service),
    openDecisionClient(t, service),
  ])
  for (const { decide } of clients) await decide(requestFor('a.b', descriptor('k=v')))
  // The Prometheus page also waits for the reports of the workers.
  await readFreshStatistics(service, totalHits, 2)
  const text = await (await fetch(`http://${address}`)).text()
  assert.match(text, /^ratelimit_service_rate_limit_total_hits\{domain="a\.b",key1="k"\} 2$/m)
  assert.match(text, /_response_time_seconds_count\{grpc_method="ShouldRateLimit"\} 2$/m)
  assert.match(text, /^ratelimit_service_config_load_success 1$/m)
})
