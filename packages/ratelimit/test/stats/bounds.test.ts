import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DroppedCounters } from '../../src/stats/dropped-counters.ts'
import { Statistics } from '../../src/stats/registry.ts'

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
