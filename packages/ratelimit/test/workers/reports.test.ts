import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { deserialize, serialize } from 'node:v8'
import fc from 'fast-check'
import { Statistics } from '../../src/stats/registry.ts'
import { ruleStatistics } from '../../src/stats/rule-statistics.ts'
import type { StatisticsMessage } from '../../src/workers/messages.ts'
import { Reports } from '../../src/workers/reports.ts'
import { StatisticsSum } from '../../src/workers/statistics-sum.ts'
import { collectLog } from '../support/collected-log.ts'

const maxRequestKeys = 20

/** A primary with workers in this process; messages are copied like between processes. */
function openExample(t: Pick<TestContext, 'after'>, workerCount: number, sendsDurations = false) {
  const total = new Statistics({ maxRequestKeys: 1_000 })
  const sum = new StatisticsSum(total)
  const sent: StatisticsMessage[] = []
  const workers = Array.from({ length: workerCount }, (_, index) => {
    const statistics = new Statistics({ maxRequestKeys })
    const part = sum.openPart(index === 0)
    const reports = new Reports({
      statistics,
      sendsDurations,
      processGauges: () => [
        ['ratelimit.node.eventloop.utilization', 0.5],
        ['ratelimit.node.memory.rss', 100],
        ['ratelimit.node.uptime_seconds', 5],
      ],
      rules: () => undefined,
      log: collectLog().log,
      async send(message) {
        sent.push(message)
        sum.take(part, deserialize(serialize(message)))
      },
    })
    t.after(() => reports[Symbol.asyncDispose]())
    return { statistics, reports, part }
  })
  const reportAll = () => Promise.all(workers.map(({ reports }) => reports.report()))
  return { total, sum, workers, sent, reportAll }
}

async function toRecord(statistics: Statistics): Promise<Record<string, number>> {
  const record: Record<string, number> = {}
  for await (const [name, value] of statistics.lines()) record[name] = value
  return record
}

test('the sum always equals the counts of a single process', async (t) => {
  const step = fc.record({
    worker: fc.nat(2),
    rule: fc.constantFrom('d.a', 'd.b', 'd.c'),
    request: fc.integer({ min: 0, max: 99 }).map((value) => `d.value_${value}`),
    domain: fc.constantFrom('x', 'y'),
    by: fc.integer({ min: 1, max: 2 ** 40 }),
    isReported: fc.boolean(),
  })
  const property = fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
    const { total, workers, reportAll } = openExample(t, 3)
    const alone = new Statistics({ maxRequestKeys: 1_000 })
    for (const { worker, rule, request, domain, by, isReported } of steps) {
      const counting = workers[worker]
      assert.ok(counting)
      for (const { rules, counter, unknownDomain } of [counting.statistics, alone].map(bound)) {
        for (const counters of [rules.forRule(rule), rules.forRequest(request)]) {
          for (const [at, [, field]] of ruleStatistics.entries()) counters[field] += by + at
        }
        counter('ratelimit.service.global_shadow_mode').value += by
        unknownDomain(domain).value += by
      }
      if (isReported) await counting.reports.report()
    }
    await reportAll()
    assert.deepEqual(await toRecord(total), await toRecord(alone))
  })
  await fc.assert(property, { numRuns: 30 })
})

function bound(statistics: Statistics) {
  return {
    rules: statistics.rules,
    counter: (name: string) => statistics.counter(name),
    unknownDomain: (domain: string) => statistics.unknownDomain(domain),
  }
}

test('a rule is named once, and reported again only after a hit', async (t) => {
  const { workers, sent, reportAll, total } = openExample(t, 1)
  const [worker] = workers
  assert.ok(worker)
  const count = 20_000
  for (let rule = 0; rule < count; rule += 1) worker.statistics.rules.forRule(`d.rule_${rule}`)
  await reportAll()
  assert.equal([...total.rules.configured()].length, count)
  sent.length = 0
  await reportAll()
  // It also reports regularly, always including the few statistics without a rule.
  const ofRules = () => sent.filter(({ kind }) => kind !== 'singles')
  assert.deepEqual(ofRules(), [])
  worker.statistics.rules.forRule('d.rule_777').totalHits += 3
  worker.statistics.rules.forRule('d.new').overLimit += 1
  await reportAll()
  const [message, ...others] = ofRules()
  assert.deepEqual(others, [])
  assert.ok(message?.kind === 'rules')
  assert.deepEqual(message.added, ['d.new'])
  assert.deepEqual([...message.numbers], [777, count])
  assert.equal(total.rules.forRule('d.rule_777').totalHits, 3)
  assert.equal(total.rules.forRule('d.new').overLimit, 1)
})

test('no message is large, however much has changed', async (t) => {
  const { workers, sent, reportAll } = openExample(t, 1)
  for (let rule = 0; rule < 10_000; rule += 1) {
    const counters = workers[0]?.statistics.rules.forRule(`d.a_rather_long_name_of_a_rule_${rule}`)
    if (counters) counters.totalHits = rule
  }
  await reportAll()
  const sizes = sent.map((message) => serialize(message).length)
  assert.ok(Math.max(...sizes) < 200_000, `${Math.max(...sizes)} bytes`)
})

test('a report contains everything that was counted before, even if another report is running', async (t) => {
  const { workers, total } = openExample(t, 1)
  const [worker] = workers
  assert.ok(worker)
  for (let rule = 0; rule < 5_000; rule += 1) worker.statistics.rules.forRule(`d.rule_${rule}`)
  const running = worker.reports.report()
  await new Promise((resolve) => setImmediate(resolve))
  worker.statistics.rules.forRule('d.rule_0').totalHits += 1
  worker.statistics.counter('late').value += 1
  await worker.reports.report()
  assert.equal(total.rules.forRule('d.rule_0').totalHits, 1)
  assert.equal(total.counter('late').value, 1)
  await running
})

test('gauges are added up, except for common gauges, averages, and totals of exited workers', async (t) => {
  const { workers, total, sum, reportAll } = openExample(t, 2)
  for (const [index, { statistics }] of workers.entries()) {
    statistics.gauge('ratelimit.redis_pool.cx_active', () => 3)
    statistics.gauge('ratelimit.localcache.hitCount', () => 10 + index)
    statistics.gauge('ratelimit.localcache.averageAccessTime', () => 100 * index)
    statistics.gauge('runtime.num_values', () => 4)
    statistics.counter('ratelimit.service.config_load_success').value = 2
  }
  await reportAll()
  const expected = {
    'ratelimit.localcache.averageAccessTime': 50,
    'ratelimit.redis_pool.cx_active': 6,
    'ratelimit.localcache.hitCount': 21,
    'ratelimit.service.config_load_success': 2,
    'runtime.num_values': 4,
  }
  assert.deepEqual(await toRecord(total), expected)
  const gone = workers[1]?.part
  assert.ok(gone)
  sum.closePart(gone)
  assert.deepEqual(await toRecord(total), {
    ...expected,
    'ratelimit.localcache.averageAccessTime': 0,
    'ratelimit.redis_pool.cx_active': 3,
  })
  assert.deepEqual(
    sum.toProcessGauges([
      ['ratelimit.node.eventloop.utilization', 0.2],
      ['ratelimit.node.memory.rss', 7],
      ['ratelimit.node.uptime_seconds', 9],
    ]),
    [
      ['ratelimit.node.eventloop.utilization', 0.5],
      ['ratelimit.node.memory.rss', 107],
      ['ratelimit.node.uptime_seconds', 9],
    ],
  )
})

test('timers are added up, and single durations are sent if requested', async (t) => {
  const { workers, total, reportAll } = openExample(t, 2, true)
  const observed: number[] = []
  total.timer('t').observer = (durationMs) => observed.push(durationMs)
  for (const [index, { statistics }] of workers.entries()) {
    statistics.timer('t').observe(index + 0.5)
    statistics.timer('t').observe(10)
  }
  await reportAll()
  await reportAll()
  assert.deepEqual(await toRecord(total), { 't.count': 4, 't.max_ms': 10, 't.sum_ms': 22 })
  assert.deepEqual(observed.toSorted(), [0.5, 1.5, 10, 10])
})
