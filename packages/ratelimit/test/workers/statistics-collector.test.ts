import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Statistics } from '../../src/stats/registry.ts'
import type { StatisticsMessage, ToWorker } from '../../src/workers/messages.ts'
import { StatisticsCollector } from '../../src/workers/statistics-collector.ts'
import { StatisticsSum } from '../../src/workers/statistics-sum.ts'

const loads = 'ratelimit.service.config_load_success'
const cacheHits = 'ratelimit.localcache.hitCount'
const connections = 'ratelimit.redis_pool.cx_active'

/** A collector, and workers that are simulated by the test. */
function openCollector() {
  const total = new Statistics({ maxRequestKeys: 5 })
  const collector = new StatisticsCollector(new StatisticsSum(total))
  let startedMs = 0
  const start = (number: number) => {
    startedMs += 1
    const sent: ToWorker[] = []
    const isLead = collector.startsAsLead(number)
    const worker = {
      number,
      startedMs,
      isReady: true,
      isResponsive: true,
      send: (message: ToWorker) => sent.push(message),
    }
    return { worker, sent, isLead }
  }
  return { total, collector, start }
}

/** A report with the same number of requests, loads of the rules, cache hits and connections. */
function toReport(count: number): StatisticsMessage {
  const counters = [
    ['requests', count],
    [loads, count],
  ] as const
  const gauges = [
    [cacheHits, count],
    [connections, count],
  ] as const
  return { kind: 'singles', counters, timers: [], gauges, processGauges: [] }
}

test('the counts of a worker are kept after it has ended, its connections are not', () => {
  const { total, collector, start } = openCollector()
  const [first, second] = [start(1), start(2)]
  collector.take(first.worker, toReport(3))
  collector.take(second.worker, toReport(4))
  collector.close(second.worker)
  const read = () => [
    total.counter('requests').value,
    total.gauges.get(cacheHits)?.(),
    total.gauges.get(connections)?.(),
  ]
  assert.deepEqual(read(), [7, 7, 3])
  collector.take(start(2).worker, toReport(5))
  assert.deepEqual(read(), [12, 12, 8])
})

test('the first worker is the lead, and the oldest replaces it when it is lost', () => {
  const { total, collector, start } = openCollector()
  const workers = [start(1), start(2), start(3)]
  assert.deepEqual(
    workers.map(({ isLead }) => isLead),
    [true, false, false],
  )
  const [first, second, third] = workers
  assert.ok(first && second && third)
  for (const { worker } of workers) collector.take(worker, toReport(1))
  collector.close(first.worker)
  collector.replaceLead(first.worker, [third.worker, second.worker])
  assert.deepEqual([second.sent, third.sent], [[{ kind: 'lead' }], []])
  assert.equal(start(1).isLead, false)
  for (const { worker } of [second, third]) collector.take(worker, toReport(1))
  // Common statistics of all workers are counted once.
  assert.deepEqual([total.counter('requests').value, total.counter(loads).value], [5, 2])

  collector.replaceLead(third.worker, [second.worker])
  assert.equal(second.sent.length, 1)
})

test('when no worker is left, the next one to start is the lead', () => {
  const { collector, start } = openCollector()
  const [first] = [start(1), start(2)]
  collector.replaceLead(first.worker, [])
  assert.equal(start(2).isLead, true)
  assert.equal(start(1).isLead, false)
})

test('a refresh requests reports from all ready workers, and resolves when each has reported or ended', async () => {
  const { collector, start } = openCollector()
  const [first, second, starting] = [start(1), start(2), start(3)]
  const running = [first.worker, second.worker, { ...starting.worker, isReady: false }]
  let isRefreshed = false
  const refreshed = collector.refresh(running).then(() => {
    isRefreshed = true
  })
  const [asked] = first.sent
  assert.ok(asked?.kind === 'report')
  assert.deepEqual([second.sent.length, starting.sent.length], [1, 0])
  collector.take(first.worker, { kind: 'reported', id: asked.id })
  await new Promise(setImmediate)
  assert.equal(isRefreshed, false)
  collector.close(second.worker)
  await refreshed
})

test('a refresh waits at most half a second, and does not send another request to a silent worker', async (t) => {
  const { collector, start } = openCollector()
  const { worker, sent } = start(1)
  const startedMs = performance.now()
  await collector.refresh([worker])
  assert.ok(performance.now() - startedMs >= 499)
  await collector.refresh([Object.assign(worker, { isResponsive: false })])
  assert.equal(sent.length, 1)
  t.after(() => collector.close(worker))
})
