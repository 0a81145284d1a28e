import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Tally } from '../../src/decide/tally.ts'
import { judge, nearLimitFrom } from '../../src/decide/verdict.ts'
import { RuleCounters } from '../../src/stats/rule-counters.ts'

function openTally(requestsPerUnit: number, charge: number, after: number): Tally {
  const tally = new Tally({
    key: 'd_k_v_',
    unitSeconds: 60,
    unit: 2,
    requestsPerUnit,
    name: '',
    charge,
    isRefund: false,
    isQuota: false,
    isShadowRule: false,
    isSliding: false,
    counters: new RuleCounters(),
    metadata: undefined,
  })
  tally.after = after
  return tally
}

const vectors = [
  { limit: 15, hits: 1, after: 11, near: 0, over: 0, within: 1 },
  { limit: 15, hits: 1, after: 13, near: 1, over: 0, within: 1 },
  { limit: 15, hits: 1, after: 16, near: 0, over: 1, within: 0 },
  { limit: 20, hits: 3, after: 5, near: 0, over: 0, within: 3 },
  { limit: 8, hits: 2, after: 7, near: 1, over: 0, within: 2 },
  { limit: 20, hits: 3, after: 19, near: 3, over: 0, within: 3 },
  { limit: 20, hits: 3, after: 22, near: 1, over: 2, within: 0 },
  { limit: 20, hits: 7, after: 22, near: 4, over: 2, within: 0 },
  { limit: 10, hits: 3, after: 30, near: 0, over: 3, within: 0 },
]

for (const { limit, hits, after, near, over, within } of vectors) {
  test(`${hits} hits that bring a limit of ${limit} to ${after}`, () => {
    const tally = openTally(limit, hits, after)
    assert.equal(judge(tally, 0.8, false), after > limit)
    const { nearLimit, overLimit, withinLimit, shadowMode } = tally.counters
    assert.deepEqual(
      { nearLimit, overLimit, withinLimit, shadowMode },
      { nearLimit: near, overLimit: over, withinLimit: within, shadowMode: 0 },
    )
  })
}

test('the threshold of "near" is computed in float32', () => {
  const near = [8, 10, 14, 15, 20, 4_294_967_295].map((limit) => nearLimitFrom(limit, 0.8))
  assert.deepEqual(near, [6, 8, 11, 12, 16, 3_435_973_888])
  assert.equal(nearLimitFrom(90, 0.7), 63)
})

test('in shadow mode the hits over the limit also count as shadow mode', () => {
  const straddling = openTally(20, 7, 22)
  assert.equal(judge(straddling, 0.8, true), true)
  assert.equal(straddling.counters.shadowMode, 2)
  const beyond = openTally(20, 7, 40)
  assert.equal(judge(beyond, 0.8, true), true)
  assert.equal(beyond.counters.shadowMode, 7)
})

test('every hit is classified as if it were a separate call', () => {
  fc.assert(
    fc.property(fc.nat(40), fc.nat(60), fc.integer({ min: 1, max: 60 }), (limit, before, hits) => {
      const near = nearLimitFrom(limit, 0.8)
      const expected = { near: 0, over: 0 }
      for (let at = before + 1; at <= before + hits; at += 1) {
        if (at > limit) expected.over += 1
        else if (at > near) expected.near += 1
      }
      const tally = openTally(limit, hits, before + hits)
      judge(tally, 0.8, false)
      const { nearLimit, overLimit, withinLimit } = tally.counters
      assert.deepEqual({ near: nearLimit, over: overLimit }, expected)
      assert.equal(withinLimit, before + hits > limit ? 0 : hits)
    }),
  )
})
