import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OK, OVER_LIMIT } from '../../src/protocol/message.ts'
import { type Decider, descriptor, openDecider, requestFor } from '../support/decider.ts'

const sliding = (requests: number, { unit = 'minute', multiplier = 1, more = '' } = {}) => `
domain: d
descriptors:
  - key: k
    ${more}
    rate_limit:
      unit: ${unit}
      unit_multiplier: ${multiplier}
      requests_per_unit: ${requests}
      algorithm: sliding_window
`
const minuteStart = 1_700_000_040

/** Makes one request and returns the code, the remaining hits and the seconds until reset. */
async function hit(decider: Decider, hitsAddend = 1, isNegativeHits = false) {
  const asked = descriptor('k=v', { hitsAddend, isNegativeHits })
  const [status] = (await decider.decide(requestFor('d', asked))).statuses
  assert.ok(status)
  return [status.code, status.limitRemaining, status.resetSeconds]
}

async function hitAt(decider: Decider, seconds: number, hits = 1) {
  decider.now = minuteStart + seconds
  return hit(decider, hits)
}

test('the worked example of the manual', async (t) => {
  const decider = openDecider(t, sliding(10))
  assert.deepEqual(await hitAt(decider, 45, 8), [OK, 2, 15])
  assert.deepEqual(await hitAt(decider, 50, 3), [OVER_LIMIT, 0, 11])
  assert.deepEqual(await hitAt(decider, 60, 3), [OVER_LIMIT, 0, 1])
  assert.deepEqual(await hitAt(decider, 61, 3), [OK, 0, 59])
  assert.deepEqual(await hitAt(decider, 61), [OVER_LIMIT, 0, 7])
  assert.deepEqual(await hitAt(decider, 68), [OK, 0, 52])
})

test('around the start of a window one more than the limit is allowed, not twice as many', async (t) => {
  for (const [rules, most] of [
    [sliding(10), 11],
    [sliding(10).replace('sliding_window', 'fixed_window'), 20],
  ] as const) {
    const decider = openDecider(t, rules)
    let admitted = 0
    for (let second = 55; second < 65; second += 0.25) {
      if ((await hitAt(decider, second))[0] === OK) admitted += 1
    }
    assert.equal(admitted, most)
  }
})

test('a refused client is allowed after the reported time, and not one second earlier', async (t) => {
  const decider = openDecider(t, sliding(7))
  await hitAt(decider, 12, 7)
  for (const hits of [1, 4, 7]) {
    const [code, , wait = 0] = await hit(decider, hits)
    assert.equal(code, OVER_LIMIT)
    decider.now += wait - 1
    assert.equal((await hit(decider, hits))[0], OVER_LIMIT)
    decider.now += 1
    assert.equal((await hit(decider, hits))[0], OK)
    await hit(decider, 7 - hits)
  }
})

test('a client that never stops is allowed as often as the limit, evenly distributed', async (t) => {
  const [windows, everySeconds] = [5, 0.125]
  for (const limit of [1, 5, 10, 60]) {
    const decider = openDecider(t, sliding(limit))
    const admitted: number[] = []
    for (let at = 0; at < windows * 60; at += everySeconds) {
      if ((await hitAt(decider, at))[0] === OK) admitted.push(at)
    }
    const atOnce = Array.from({ length: limit }, (_, i) => i * everySeconds)
    const spread = Array.from(
      { length: (windows - 1) * limit },
      (_, i) => 60 + (i * 60) / limit + everySeconds,
    )
    assert.deepEqual(admitted, [...atOnce, ...spread])
  }
})

test('a limit of one per second allows one in every second', async (t) => {
  const decider = openDecider(t, sliding(1, { unit: 'second' }))
  const admitted: number[] = []
  for (let at = 0; at < 6; at += 0.125) {
    if ((await hitAt(decider, at))[0] === OK) admitted.push(Math.floor(at))
  }
  assert.deepEqual(admitted, [0, 1, 2, 3, 4, 5])
})

test('a full window allows nothing until it slides out in the next window', async (t) => {
  const decider = openDecider(t, sliding(10))
  await hitAt(decider, 0, 10)
  for (let at = 0; at <= 60; at += 0.5) assert.equal((await hitAt(decider, at))[0], OVER_LIMIT)
  assert.equal((await hitAt(decider, 60.5))[0], OK)
})

test('hits that are more than the limit are refused and leave room for others', async (t) => {
  const decider = openDecider(t, sliding(10))
  assert.deepEqual(await hitAt(decider, 10, 11), [OVER_LIMIT, 0, 50])
  assert.deepEqual(await hitAt(decider, 10, 10), [OK, 0, 50])
})

test('0 hits read and change nothing', async (t) => {
  const decider = openDecider(t, sliding(10))
  assert.deepEqual(await hitAt(decider, 10, 0), [OK, 10, 50])
  await hitAt(decider, 10, 10)
  assert.deepEqual(await hitAt(decider, 70.5, 0), [OK, 2, 50])
  assert.deepEqual(await hitAt(decider, 70.5, 0), [OK, 2, 50])
})

test('a refund makes room, but does not reduce the previous window', async (t) => {
  const decider = openDecider(t, sliding(10))
  await hitAt(decider, 10, 10)
  assert.deepEqual(await hit(decider, 4, true), [OK, 4, 50])
  assert.deepEqual(await hit(decider, 4), [OK, 0, 50])
  decider.now = minuteStart + 60
  assert.deepEqual(await hit(decider, 4, true), [OK, 0, 60])
  assert.deepEqual(await hit(decider), [OVER_LIMIT, 0, 1])
})

test('a rule with a limit of 0 refuses every hit', async (t) => {
  const decider = openDecider(t, sliding(0))
  assert.deepEqual(await hitAt(decider, 10), [OVER_LIMIT, 0, 50])
  assert.deepEqual(await hitAt(decider, 200, 0), [OK, 0, 40])
})

test('a refused call counts all its hits as over, none as near or within', async (t) => {
  const decider = openDecider(t, sliding(10))
  await hitAt(decider, 10, 7)
  await hit(decider, 5)
  assert.deepEqual(decider.counters('d.k'), { totalHits: 12, withinLimit: 7, overLimit: 5 })
  await hit(decider, 3)
  const counters = { totalHits: 15, withinLimit: 10, overLimit: 5, nearLimit: 2 }
  assert.deepEqual(decider.counters('d.k'), counters)
})

test('in shadow mode the same is counted, and all requests are allowed', async (t) => {
  const rule = openDecider(t, sliding(10, { more: 'shadow_mode: true' }))
  const service = openDecider(t, sliding(10), { settings: { isShadowMode: true } })
  for (const decider of [rule, service]) {
    await hitAt(decider, 10, 7)
    assert.deepEqual(await hit(decider, 5), [OK, 0, 59])
    assert.deepEqual(await hit(decider, 3), [OK, 0, 50])
    const { shadowMode, overLimit } = decider.statistics.rules.forRequest('d.k')
    assert.deepEqual({ shadowMode, overLimit }, { shadowMode: 5, overLimit: 5 })
  }
})

test('the local cache is not used, because there may be room again at any moment', async (t) => {
  const decider = openDecider(t, sliding(10), { localCacheBytes: 1_000_000 })
  await hitAt(decider, 0, 10)
  assert.deepEqual(await hitAt(decider, 60), [OVER_LIMIT, 0, 1])
  assert.deepEqual(await hitAt(decider, 61), [OK, 0, 59])
  assert.equal(decider.counters('d.k')['overLimitWithLocalCache'], undefined)
})

test('the response and the headers contain the configured limit', async (t) => {
  const decider = openDecider(t, sliding(10, { multiplier: 5 }), {
    settings: { headerNames: { limit: 'L', remaining: 'R', reset: 'T' } },
  })
  decider.now = 1_700_000_100
  await hit(decider, 10)
  const answer = await decider.decide(requestFor('d', descriptor('k=v')))
  assert.deepEqual(answer.statuses[0]?.currentLimit, { requestsPerUnit: 10, unit: 2, name: '' })
  assert.deepEqual(
    answer.responseHeadersToAdd.map(({ value }) => value),
    ['10', '0', '301'],
  )
})

test('windows of several units start at multiples of their length', async (t) => {
  for (const algorithm of ['fixed_window', 'sliding_window']) {
    const rules = sliding(10, { multiplier: 5 }).replace('sliding_window', algorithm)
    const decider = openDecider(t, rules)
    decider.now = 1_700_000_100
    assert.equal(decider.now % 300, 0)
    assert.deepEqual(await hit(decider), [OK, 9, 300])
    decider.now += 299
    assert.deepEqual(await hit(decider, 9), [OK, 0, 1])
    decider.now += 1
    assert.equal((await hit(decider, 0))[2], 300)
    assert.deepEqual(
      await hit(decider),
      algorithm === 'fixed_window' ? [OK, 9, 300] : [OVER_LIMIT, 0, 1],
    )
  }
})

test('a rule that becomes a sliding one starts at 0', async (t) => {
  const decider = openDecider(t, sliding(10).replace('sliding_window', 'fixed_window'))
  await hitAt(decider, 10, 500)
  decider.load(sliding(10))
  assert.deepEqual(await hit(decider, 10), [OK, 0, 50])
})

test('a clock that jumps back breaks nothing', async (t) => {
  const decider = openDecider(t, sliding(10))
  for (const second of [130, 70, 125.5, 10, 59.999, -3600, 60, 0, 0.001, 86_400, 130]) {
    const [, remaining = -1, reset = -1] = await hitAt(decider, second, 3)
    assert.ok(remaining >= 0 && remaining <= 10, `${remaining} remain`)
    assert.ok(reset >= 1 && reset <= 120, `${reset} seconds`)
  }
})

test('an overlap is never longer than the window, whatever the clock', async (t) => {
  const overlaps: number[] = []
  const decider = openDecider(t, sliding(10), {
    store: {
      add(increments, _deadlineMs, counted) {
        for (const { overlapMs } of increments) overlaps.push(overlapMs)
        counted(undefined)
      },
      addSparing: () => assert.fail('addSparing was called'),
      read: () => assert.fail('nothing is to be read'),
      async [Symbol.asyncDispose]() {},
    },
  })
  for (const second of [0, 0.0004, 0.001, 30, 59.999, 59.9999, -0.0001]) {
    await hitAt(decider, second)
  }
  assert.deepEqual(overlaps, [60_000, 60_000, 59_999, 30_000, 1, 1, 1])
})

test('fifty concurrent clients are allowed as often as one', async (t) => {
  const decider = openDecider(t, sliding(100))
  const admitted: number[] = []
  for (const second of [5, 60, 90, 119, 121]) {
    decider.now = minuteStart + second
    const calls = Array.from({ length: 250 }, () => hit(decider))
    admitted.push((await Promise.all(calls)).filter(([code]) => code === OK).length)
  }
  assert.deepEqual(admitted, [100, 0, 50, 49, 3])
})
