import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OK, OVER_LIMIT, type RateLimitResponse } from '../../src/protocol/message.ts'
import { descriptor, openDecider, requestFor } from '../support/decider.ts'

const rules = (more = '') => `
domain: d
descriptors:
  - { key: a, rate_limit: { unit: hour, requests_per_unit: 15 } }
  - { key: b, ${more} rate_limit: { unit: hour, requests_per_unit: 14 } }
`
const settings = { stopsIncrementWhenOver: true }
const hits = (hitsAddend: number) =>
  requestFor('d', descriptor('a=1', { hitsAddend }), descriptor('b=1', { hitsAddend }))
const check = hits(0)
const remaining = ({ statuses }: RateLimitResponse) =>
  statuses.map(({ limitRemaining }) => limitRemaining)

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

test('a limit that is over according to the local cache stops the increments of the others', async (t) => {
  const decider = openDecider(t, rules(), { settings, localCacheBytes: 1_000_000 })
  await decider.decide(requestFor('d', descriptor('b=1', { hitsAddend: 15 })))
  await decider.decide(hits(3))
  const [a] = (await decider.decide(check)).statuses
  assert.equal(a?.limitRemaining, 15)
})

test('rules in shadow mode or quota mode stop nothing', async (t) => {
  for (const mode of ['shadow_mode: true,', 'quota_mode: true,']) {
    for (const localCacheBytes of [0, 1_000_000]) {
      const decider = openDecider(t, rules(mode), { settings, localCacheBytes })
      await decider.decide(requestFor('d', descriptor('b=1', { hitsAddend: 15 })))
      await decider.decide(hits(3))
      const [a] = (await decider.decide(check)).statuses
      assert.equal(a?.limitRemaining, 12, `${mode} local cache: ${localCacheBytes}`)
    }
  }
})

const slidingRules = (more = '') => `
domain: d
descriptors:
  - { key: a, rate_limit: { unit: hour, requests_per_unit: 15 } }
  - key: b
    ${more}
    rate_limit: { unit: hour, requests_per_unit: 14, algorithm: sliding_window }
`

test('a sliding limit that refuses stops the increments of the others, and counts no hits itself', async (t) => {
  const decider = openDecider(t, slidingRules(), { settings })
  await decider.decide(hits(13))
  const answer = await decider.decide(hits(2))
  assert.equal(answer.overallCode, OVER_LIMIT)
  assert.deepEqual(remaining(answer), [2, 0])
  assert.deepEqual(remaining(await decider.decide(check)), [2, 1])
  const { totalHits, withinLimit, overLimit } = decider.statistics.rules.forRequest('d.b')
  assert.deepEqual(
    { totalHits, withinLimit, overLimit },
    { totalHits: 15, withinLimit: 13, overLimit: 2 },
  )
})

test('a sliding limit is not incremented if another limit refuses', async (t) => {
  for (const localCacheBytes of [0, 1_000_000]) {
    const decider = openDecider(t, slidingRules(), { settings, localCacheBytes })
    await decider.decide(requestFor('d', descriptor('a=1', { hitsAddend: 16 })))
    const answer = await decider.decide(hits(3))
    assert.equal(answer.overallCode, OVER_LIMIT)
    assert.deepEqual(remaining(answer), [0, 14])
    assert.deepEqual(remaining(await decider.decide(check)), [0, 14])
  }
})

test('a sliding limit in shadow mode or quota mode stops nothing', async (t) => {
  for (const mode of ['shadow_mode: true', 'quota_mode: true']) {
    const decider = openDecider(t, slidingRules(mode), { settings })
    await decider.decide(hits(13))
    await decider.decide(hits(2))
    assert.deepEqual(remaining(await decider.decide(check)), [0, 1], mode)
  }
})

test('an exceeded limit in shadow mode keeps counting while another one refuses', async (t) => {
  const decider = openDecider(t, rules('shadow_mode: true,'), { settings })
  await decider.decide(hits(14))
  await decider.decide(hits(2))
  const { overLimit, shadowMode } = decider.statistics.rules.forRequest('d.b')
  assert.deepEqual({ overLimit, shadowMode }, { overLimit: 2, shadowMode: 2 })
  const higher = descriptor('b=1', { hitsAddend: 0, limit: { requestsPerUnit: 100, unit: 3 } })
  assert.deepEqual(remaining(await decider.decide(requestFor('d', higher))), [84])
})

test('concurrent requests that are refused do not change the other counters', async (t) => {
  const decider = openDecider(t, rules(), { settings })
  const answers = await Promise.all(Array.from({ length: 50 }, () => decider.decide(hits(1))))
  assert.equal(answers.filter(({ overallCode }) => overallCode === OK).length, 14)
  assert.deepEqual(remaining(await decider.decide(check)), [1, 0])
})
