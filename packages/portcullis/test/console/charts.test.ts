import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ChartData,
  findIndex,
  toCeiling,
  toHighest,
  toIndexes,
  toTime,
  zoomBy,
  zoomTo,
} from '../../src/web/components/chart/chart-data.ts'
import { formatAgo, toAges, toTicks } from '../../src/web/components/chart/chart-times.ts'

const until = Date.parse('2026-11-15T12:00:00Z')
const data: ChartData = {
  lines: [{ label: 'all', values: [1, null, 3, 40, 5, 6, 7, 8, 9, 10] }],
  count: 10,
  until,
  stepMs: 1_000,
  coveredMs: 1_000,
}
const whole = { from: until - 9_000, to: until }

test('points are found by their time, and not outside the data', () => {
  assert.equal(toTime(data, 0), whole.from)
  for (const index of [0, 4, 9]) assert.equal(findIndex(data, toTime(data, index)), index)
  assert.equal(findIndex(data, whole.from + 400), 0)
  assert.equal(findIndex(data, whole.from - 600), undefined)
  assert.equal(findIndex(data, until + 600), undefined)
})

test('a time span contains the points that end in it', () => {
  assert.deepEqual(toIndexes(data, whole), { first: 0, end: 10 })
  assert.deepEqual(toIndexes(data, { from: until - 3_500, to: until - 1_000 }), {
    first: 6,
    end: 9,
  })
  const { first, end } = toIndexes(data, { from: until - 60_000, to: until - 50_000 })
  assert.equal(first, end)
  const later = toIndexes(data, { from: until + 1_000, to: until + 9_000 })
  assert.equal(later.first, later.end)
})

test('the scale depends on the visible points', () => {
  assert.equal(toHighest(data, 0, 10), 40)
  assert.equal(toHighest(data, 4, 10), 10)
  assert.equal(toCeiling(0), 4)
  assert.equal(toCeiling(11), 20)
  assert.equal(toCeiling(1_000), 1_000)
})

test('a zoom stays inside the data and keeps at least four steps', () => {
  const near = zoomBy(whole, whole, 0.5, until, 1_000)
  assert.deepEqual(near, { from: until - 4_500, to: until })
  const nearest = zoomBy(near ?? whole, whole, 0.5, until, 1_000)
  assert.deepEqual(nearest, { from: until - 4_000, to: until })
  assert.equal(zoomBy(near ?? whole, whole, 2, until, 1_000), undefined)
  const dragged = zoomTo({ from: whole.from - 5_000, to: whole.from + 100 }, whole, 1_000)
  assert.equal(dragged?.from, whole.from)
  const point = zoomTo({ from: until - 5_000, to: until - 5_000 }, whole, 1_000)
  assert.equal(point && point.to - point.from, 4_000)
})

test('the time axis has round times, and no more than fit', () => {
  const hour = { from: until - 3_600_000, to: until }
  for (const most of [1, 3, 5, 9]) {
    const ticks = toTicks(hour, most)
    assert.ok(ticks.length <= most + 1, `${ticks.length} ticks`)
    for (const { at } of ticks) assert.equal(at % 300_000, 0)
  }
  assert.match(toTicks({ from: until - 20_000, to: until }, 4)[0]?.text ?? '', /^\d\d:\d\d:\d\d$/)
  const toTexts = (minutes: number) => toAges(minutes * 60_000, 5).map(formatAgo)
  assert.deepEqual(toTexts(59), ['45 min ago', '30 min ago', '15 min ago'])
  assert.deepEqual(toTexts(7 * 24 * 60), ['6 d ago', '4 d ago', '2 d ago'])
  assert.equal(formatAgo(16 * 3_600_000), '16 h ago')
  assert.equal(formatAgo(600_000), '10 min ago')
})
