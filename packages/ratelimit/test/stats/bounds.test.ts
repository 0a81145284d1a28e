import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DroppedCounters } from '../../src/stats/dropped-counters.ts'
import { Statistics } from '../../src/stats/registry.ts'
import { LineQueue, mostBytes } from '../../src/stats/sinks/lines/output.ts'
import { TimerBuffer } from '../../src/stats/timer-buffer.ts'

test('a bounded number of dropped counters waits for a lost sink, and the newest are kept', (t) => {
  const statistics = new Statistics({ maxRequestKeys: 200 })
  const dropped = new DroppedCounters(statistics, { delayMs: 1, most: 1_000, ready: () => {} })
  t.after(() => dropped[Symbol.dispose]())
  for (let i = 0; i < 50_000; i += 1) statistics.rules.forRequest(`k${i}`).totalHits += 1
  const keys: string[] = []
  for (let batch = dropped.take(); batch; batch = dropped.take())
    keys.push(...batch.counters.keys())
  assert.ok(keys.length <= 1_000 && keys.length >= 900, `${keys.length} are kept`)
  assert.equal(keys.at(-1), `k${50_000 - statistics.rules.size - 1}`)
})

test('up to 4 MiB of lines wait, and only complete lines are removed', () => {
  const queue = new LineQueue()
  const line = `${'é'.repeat(499)}\n`
  for (let i = 0; i < 10_000; i += 1) queue.add(line)
  assert.equal(queue.isFull, true)
  let bytes = 0
  for (let chunk = queue.take(); chunk; chunk = queue.take()) {
    assert.equal(chunk.toString().replaceAll(line, ''), '')
    bytes += chunk.length
  }
  assert.ok(bytes <= mostBytes && bytes > mostBytes - 1_000, `${bytes} bytes waited`)
  assert.equal(queue.isEmpty, true)
})

test('durations that are not collected are bounded, and the first ones are kept', () => {
  let calls = 0
  const buffer = new TimerBuffer('t', () => {
    calls += 1
  })
  for (let i = 0; i < 200_000; i += 1) buffer.add(i)
  const taken = buffer.take()
  assert.equal(taken.length, 65_536)
  assert.equal(taken[65_535], 65_535)
  buffer.add(7)
  assert.deepEqual([...buffer.take()], [7])
  assert.equal(calls, 2)
})
