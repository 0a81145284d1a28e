import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OK, OVER_LIMIT } from '../../src/protocol/message.ts'
import { ask, descriptor, openDecider } from '../support/decider.ts'

const rules = (more = '') => `
domain: d
descriptors:
  - { key: a, rate_limit: { unit: hour, requests_per_unit: 15 } }
  - { key: b, ${more} rate_limit: { unit: hour, requests_per_unit: 14 } }
`
const settings = { stopsIncrementWhenOver: true }
const hits = (hitsAddend: number) =>
  ask('d', descriptor('a=1', { hitsAddend }), descriptor('b=1', { hitsAddend }))
const check = hits(0)

test('only the limit that refuses is counted', async (t) => {
  const decider = openDecider(t, rules(), { settings })
  await decider.decide(hits(13))
  const answer = await decider.decide(hits(2))
  assert.equal(answer.overallCode, OVER_LIMIT)
  assert.deepEqual(
    answer.statuses.map(({ code, limitRemaining }) => [code, limitRemaining]),
    [
      [OK, 2],
      [OVER_LIMIT, 0],
    ],
  )
  const after = await decider.decide(check)
  assert.deepEqual(
    after.statuses.map(({ limitRemaining }) => limitRemaining),
    [2, 0],
  )
  assert.equal(decider.counters('d.a')['totalHits'], 15)
  assert.equal(decider.counters('d.a')['withinLimit'], 15)
})

test('a limit that the local cache knows to be over spares the others', async (t) => {
  const decider = openDecider(t, rules(), { settings, localCacheBytes: 1_000_000 })
  await decider.decide(ask('d', descriptor('b=1', { hitsAddend: 15 })))
  await decider.decide(hits(3))
  const [a] = (await decider.decide(check)).statuses
  assert.equal(a?.limitRemaining, 15)
})

test('rules in shadow mode or quota mode stop nothing', async (t) => {
  for (const mode of ['shadow_mode: true,', 'quota_mode: true,']) {
    for (const localCacheBytes of [0, 1_000_000]) {
      const decider = openDecider(t, rules(mode), { settings, localCacheBytes })
      await decider.decide(ask('d', descriptor('b=1', { hitsAddend: 15 })))
      await decider.decide(hits(3))
      const [a] = (await decider.decide(check)).statuses
      assert.equal(a?.limitRemaining, 12, `${mode} local cache: ${localCacheBytes}`)
    }
  }
})
