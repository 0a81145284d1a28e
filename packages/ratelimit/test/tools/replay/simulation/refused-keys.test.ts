import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ReplayedRule } from '../../../../src/tools/replay/simulation/observed-rules.ts'
import { RefusedKeys } from '../../../../src/tools/replay/simulation/refused-keys.ts'

const rule = new ReplayedRule(
  'api.a',
  {
    requestsPerUnit: 1,
    unit: undefined,
    windowSeconds: 0,
    algorithm: 'fixed_window',
    unlimited: true,
    name: '',
    replaces: [],
    shadowMode: false,
    quotaMode: false,
    metadata: undefined,
    path: 'api.a',
  },
  undefined,
)

suite('the most refused keys', () => {
  test('come first, with their first and last refusal', () => {
    const keys = new RefusedKeys()
    for (const [key, time] of [
      ['a', 1],
      ['b', 2],
      ['b', 3],
      ['c', 4],
      ['b', 5],
    ] as const) {
      keys.add(key, rule, time)
    }
    assert.deepEqual(
      keys.top(2).map(({ key, refused, firstMs, lastMs }) => [key, refused, firstMs, lastMs]),
      [
        ['b', 3, 2, 5],
        ['a', 1, 1, 1],
      ],
    )
    assert.equal(keys.mostMissed, 0)
  })

  test('are known even if there are too many keys to count all', () => {
    const keys = new RefusedKeys(100)
    for (let i = 0; i < 10_000; i += 1) {
      keys.add(`rare-${i}`, rule, i)
      if (i % 2 === 0) keys.add('frequent', rule, i)
    }
    const [first] = keys.top(1)
    assert.equal(first?.key, 'frequent')
    assert.equal(first?.refused, 5000)
    assert(keys.mostMissed > 0)
  })
})
