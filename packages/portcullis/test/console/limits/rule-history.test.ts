import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { HistoryRecorder } from '../../../src/console/limits/record-history.ts'
import { RuleHistory } from '../../../src/console/limits/rule-history.ts'

const minute = 60_000
const hour = 60 * minute
/** The start of an hour. */
const start = 1_700_000_000_000 - (1_700_000_000_000 % hour)
const hits = (total: number, over = 0) => ({ total, over, shadow: 0 })

test('hits are averaged over steps, and times without a measurement stay gaps', () => {
  const history = new RuleHistory()
  history.add(start, start + minute, new Map([['d.user', hits(120, 60)]]))
  history.add(start + 3 * minute, start + 4 * minute, new Map([['d.other', hits(5)]]))
  const { points, sums, stepSeconds } = history.read('d.user', '1h', start + 4 * minute - 1)
  assert.deepEqual([points.length, stepSeconds], [60, 60])
  assert.deepEqual(points.slice(-4), [
    { total: 2, over: 1, shadow: 0 },
    null,
    null,
    // Measured, and the rule had no hits.
    { total: 0, over: 0, shadow: 0 },
  ])
  assert.ok(points.slice(0, -4).every((point) => point === null))
  assert.deepEqual(sums, hits(120, 60))
  // The steps of the longer ranges are only partly measured.
  const [last] = history.read('d.user', '24h', start + 4 * minute - 1).points.slice(-1)
  assert.deepEqual(last, { total: 1, over: 0.5, shadow: 0 })
})

test('values that are older than a range are dropped', () => {
  const history = new RuleHistory()
  const add = (at: number) => history.add(at, at + minute, new Map([['d.user', hits(60)]]))
  const totalOf = (range: '1h' | '24h' | '7d', now: number) =>
    history.read('d.user', range, now).sums.total
  add(start)
  add(start + 2 * hour)
  const later = start + 2 * hour + minute
  assert.deepEqual(
    [totalOf('1h', later), totalOf('24h', later), totalOf('7d', later)],
    [60, 120, 120],
  )
  add(start + 8 * 24 * hour)
  const muchLater = start + 8 * 24 * hour + minute
  assert.deepEqual([totalOf('1h', muchLater), totalOf('7d', muchLater)], [60, 60])
})

test('the number of recorded rules is limited, and a dropped rule has a gap, not zeros', () => {
  const history = new RuleHistory()
  history.add(start, start + minute, new Map([['d.old', hits(60)]]))
  const many = new Map(Array.from({ length: 600 }, (_, i) => [`d.rule-${i}`, hits(60)]))
  history.add(start + minute, start + 2 * minute, many)
  assert.equal(history.toData().rules.length, 500)
  const now = start + 2 * minute
  assert.ok(history.read('d.old', '1h', now).points.every((point) => point === null))
})

interface Service {
  total: number
  isDown: boolean
}

function openRecorder(
  service: Service,
  clock: { nowMs: number },
  file?: string,
  onReading?: () => Promise<void>,
) {
  return new HistoryRecorder({
    async readStatistics() {
      await onReading?.()
      if (service.isDown) throw new Error('The service does not respond')
      const counts = { total: service.total, within: service.total, near: 0, over: 0, shadow: 0 }
      return { loads: 1, refusals: 0, rules: new Map([['d.user', counts]]) }
    },
    readRuleBook: async () => ({
      source: 'files',
      notice: undefined,
      domains: [{ domain: 'd', rules: [userRule] }],
    }),
    now: () => clock.nowMs,
    file,
  })
}

const userRule = {
  key: 'user',
  value: '',
  path: 'd.user',
  statisticsKey: 'd.user',
  limit: {
    requestsPerUnit: 5,
    unit: 'MINUTE',
    windowSeconds: 60,
    algorithm: 'fixed_window',
    unlimited: false,
    name: '',
    replaces: [],
  },
  limitText: '5 per minute',
  shadowMode: false,
  quotaMode: false,
  detailedMetric: false,
  valueToMetric: false,
  shareThreshold: false,
  place: undefined,
  rules: [],
} as const

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-history-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('an outage leaves a gap, and a restart of the service loses nothing', async () => {
  const clock = { nowMs: start }
  const service = { total: 100, isDown: false }
  const recorder = openRecorder(service, clock)
  const next = async (total: number, isDown = false) => {
    clock.nowMs += minute
    Object.assign(service, { total, isDown })
    await recorder.refresh()
  }
  await recorder.refresh()
  await next(160)
  // Restarted: its counters begin at 0.
  await next(30)
  await next(0, true)
  assert.match(recorder.read('d.user', '1h').fault ?? '', /does not respond/)
  await next(5_000)
  await next(5_060)
  clock.nowMs -= 1
  const { points, fault } = recorder.read('d.user', '1h')
  assert.equal(fault, undefined)
  assert.deepEqual(
    points.slice(-5).map((point) => point?.total ?? null),
    [1, 0.5, null, null, 1],
  )
})

test('readings never overlap, and a call during a reading gets a later one', async () => {
  const clock = { nowMs: start }
  const service = { total: 0, isDown: false }
  let open = 0
  let readings = 0
  const gate = Promise.withResolvers<void>()
  const recorder = openRecorder(service, clock, undefined, async () => {
    open += 1
    readings += 1
    assert.equal(open, 1)
    if (readings === 2) await gate.promise
    open -= 1
  })
  await recorder.refresh()
  clock.nowMs += minute
  const second = recorder.refresh()
  const waiting = [recorder.refresh(), recorder.refresh()]
  gate.resolve()
  await second
  service.total = 60
  clock.nowMs += minute
  await Promise.all(waiting)
  assert.equal(readings, 3)
  assert.equal(recorder.read('d.user', '1h').sums.total, 60)
})

test('the history is kept between starts of the console', async (t) => {
  const file = join(makeFolder(t), 'history.json')
  const clock = { nowMs: start }
  const service = { total: 0, isDown: false }
  {
    using first = openRecorder(service, clock, file)
    await first.refresh()
    clock.nowMs += minute
    service.total = 60
    await first.refresh()
  }
  assert.equal(statSync(file).mode & 0o777, 0o600)
  clock.nowMs += 10 * minute
  using second = openRecorder(service, clock, file)
  assert.equal(second.read('d.user', '1h').sums.total, 60)
  await second.refresh()
  clock.nowMs += minute
  service.total = 90
  await second.refresh()
  assert.equal(second.read('d.user', '1h').sums.total, 90)
})

test('a damaged file is reported, and the history starts again', async (t) => {
  const file = join(makeFolder(t), 'history.json')
  const report = t.mock.method(console, 'error', () => {})
  for (const text of [
    '{',
    '{"version":9}',
    '{"version":1,"covered":{"1h":[["x",1]]},"rules":[]}',
  ]) {
    writeFileSync(file, text)
    const recorder = openRecorder({ total: 0, isDown: false }, { nowMs: start }, file)
    assert.equal(recorder.read('d.user', '1h').sums.total, 0)
  }
  assert.equal(report.mock.callCount(), 3)
  assert.match(String(report.mock.calls[0]?.arguments[0]), /cannot be used, so the history starts/)
  assert.ok(existsSync(file) && readFileSync(file, 'utf8').length > 0)
})
