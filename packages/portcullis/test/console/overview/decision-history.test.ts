import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDecisionHistory } from '../../../src/console/overview/decision-history.ts'

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

test('what is measured all day takes a bounded number of steps', () => {
  const history = createDecisionHistory()
  for (let at = now - 2 * 86_400_000; at < now; at += 60_000) history.add(at, at + 60_000, hits(60))
  assert.equal(history.read('15m', now - 1).sums.hits, 900)
  assert.equal(history.read('1h', now - 1).sums.hits, 3_600)
  const day = history.read('24h', now - 1)
  assert.deepEqual([day.sums.hits, day.points.length], [86_400, 288])
  assert.deepEqual(day.points[0], { total: 1, over: 0, shadow: 0 })
  assert.equal(day.current, 1)
})
