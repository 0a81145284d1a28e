import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Statistics } from '../../src/stats/registry.ts'
import type { StatisticsMessage } from '../../src/workers/messages.ts'
import { Reports } from '../../src/workers/reports.ts'
import { StatisticsSum } from '../../src/workers/statistics-sum.ts'
import { collectLog } from '../support/collected-log.ts'

/** The statistics of one worker, and the sum of its messages. */
function openReports(t: TestContext, maxRequestKeys: number) {
  const statistics = new Statistics({ maxRequestKeys })
  const total = new Statistics({ maxRequestKeys: 10_000 })
  const sum = new StatisticsSum(total)
  const part = sum.openPart(true)
  const sent: StatisticsMessage[] = []
  let onSent = () => {}
  const reports = new Reports({
    statistics,
    sendsDurations: false,
    processGauges: () => [],
    rules: () => undefined,
    log: collectLog().log,
    async send(message) {
      sent.push(message)
      sum.take(part, message)
      onSent()
    },
  })
  t.after(() => reports[Symbol.asyncDispose]())
  const nextMessage = () => new Promise<void>((resolve) => (onSent = resolve))
  return { statistics, total, sum, sent, reports, nextMessage }
}

test('a worker reports its counts without a request', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { statistics, total, nextMessage } = openReports(t, 5)
  for (const expected of [2, 4]) {
    statistics.counter('a').value += 2
    const next = nextMessage()
    // The next report is scheduled after the previous one.
    await new Promise(setImmediate)
    t.mock.timers.tick(251)
    await next
    assert.equal(total.counter('a').value, expected)
  }
})

test('domains and keys that the worker has dropped are in the sum', async (t) => {
  const { statistics, total, reports } = openReports(t, 3)
  for (let each = 0; each < 20; each += 1) {
    statistics.unknownDomain(`domain ${each}`).value += 2
    statistics.rules.forRequest(`d.key_${each}`).totalHits += 3
  }
  await reports.report()
  for (let each = 0; each < 20; each += 1) {
    assert.equal(total.unknownDomain(`domain ${each}`).value, 2)
    assert.equal(total.rules.forRequest(`d.key_${each}`).totalHits, 3)
  }
})

test('a message contains at most 1,000 unknown domains', async (t) => {
  const { statistics, total, sent, reports } = openReports(t, 10_000)
  for (let each = 0; each < 2_500; each += 1) statistics.unknownDomain(`${each}`).value += 1
  await reports.report()
  const sizes = sent.flatMap((each) =>
    each.kind === 'unknown domains' ? each.counters.length : [],
  )
  assert.deepEqual(sizes, [1_000, 1_000, 500])
  assert.equal(total.unknownDomain('2499').value, 1)
  sent.length = 0
  await reports.report()
  assert.deepEqual(
    sent.map(({ kind }) => kind),
    ['singles'],
  )
})

test('loads of the rules count once, however many workers load them', () => {
  const total = new Statistics({ maxRequestKeys: 5 })
  const sum = new StatisticsSum(total)
  const common = [
    'ratelimit.service.config_load_success',
    'ratelimit.service.config_load_error',
    'runtime.load_attempts',
    'runtime.load_failures',
  ]
  for (const part of [sum.openPart(true), sum.openPart(false), sum.openPart(false)]) {
    const counters = [...common, 'other'].map((name) => [name, 1] as const)
    sum.take(part, { kind: 'singles', counters, timers: [], gauges: [], processGauges: [] })
  }
  assert.deepEqual(
    common.map((name) => total.counter(name).value),
    [1, 1, 1, 1],
  )
  assert.equal(total.counter('other').value, 3)
})

test('memory is the sum of all processes, and other process gauges are those of the primary', () => {
  const sum = new StatisticsSum(new Statistics({ maxRequestKeys: 5 }))
  const toSingles = (rss: number) =>
    ({
      kind: 'singles',
      counters: [],
      timers: [],
      gauges: [],
      processGauges: [
        ['node.memory.rss', rss],
        ['node.uptime_seconds', 7],
      ],
    }) as const
  for (const rss of [20, 30]) sum.take(sum.openPart(false), toSingles(rss))
  sum.openPart(false)
  const own = [
    ['node.memory.rss', 100],
    ['node.uptime_seconds', 9],
  ] as const
  assert.deepEqual(sum.toProcessGauges(own), [
    ['node.memory.rss', 150],
    ['node.uptime_seconds', 9],
  ])
})

test('the average of a gauge that only one worker has is the value of that worker', () => {
  const total = new Statistics({ maxRequestKeys: 5 })
  const sum = new StatisticsSum(total)
  const name = 'ratelimit.localcache.averageAccessTime'
  const gauges = [[name, 40]] as const
  const part = sum.openPart(true)
  sum.take(part, { kind: 'singles', counters: [], timers: [], gauges, processGauges: [] })
  assert.equal(total.gauges.get(name)?.(), 40)
  sum.closePart(part)
  assert.equal(total.gauges.get(name)?.(), 0)
})
