import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CounterKeyError, StoreError } from '../../src/counters/counter-store.ts'
import { ServiceError } from '../../src/decide/decision.ts'
import { OK, OVER_LIMIT, type RateLimitResponse } from '../../src/protocol/message.ts'
import { descriptor, openDecider, requestFor } from '../support/decider.ts'

const codes = ({ statuses }: RateLimitResponse) => statuses.map(({ code }) => code)
const remaining = ({ statuses }: RateLimitResponse) =>
  statuses.map(({ limitRemaining }) => limitRemaining)

const perMinute = (requests: number, more = '') => `
domain: d
descriptors:
  - key: k
    ${more}
    rate_limit: { unit: minute, requests_per_unit: ${requests} }
`

test('the worked example of nested and flat limits', async (t) => {
  const decider = openDecider(
    t,
    `
domain: messaging
descriptors:
  - key: message_type
    value: marketing
    descriptors:
      - key: to_number
        rate_limit: { unit: day, requests_per_unit: 5 }
  - key: to_number
    rate_limit: { unit: day, requests_per_unit: 100 }
`,
    { settings: { headerNames: { limit: 'L', remaining: 'R', reset: 'T' } } },
  )
  const request = requestFor(
    'messaging',
    descriptor('message_type=marketing', 'to_number=206'),
    descriptor('to_number=206'),
  )
  const first = await decider.decide(request)
  assert.equal(first.overallCode, OK)
  assert.deepEqual(remaining(first), [4, 99])
  assert.deepEqual(
    first.statuses.map(({ resetSeconds }) => resetSeconds),
    [6400, 6400],
  )
  for (let i = 0; i < 4; i += 1) await decider.decide(request)
  const sixth = await decider.decide(request)
  assert.equal(sixth.overallCode, OVER_LIMIT)
  assert.deepEqual(codes(sixth), [OVER_LIMIT, OK])
  assert.deepEqual(remaining(sixth), [0, 94])
  assert.deepEqual(sixth.responseHeadersToAdd, [
    { key: 'L', value: '5' },
    { key: 'R', value: '0' },
    { key: 'T', value: '6400' },
  ])
})

test('exactly the limit is allowed in a window, and the next window starts at 0', async (t) => {
  const decider = openDecider(t, perMinute(3))
  const request = requestFor('d', descriptor('k=v'))
  const answers = []
  for (let i = 0; i < 5; i += 1) answers.push((await decider.decide(request)).overallCode)
  assert.deepEqual(answers, [OK, OK, OK, OVER_LIMIT, OVER_LIMIT])
  decider.now += 60
  assert.deepEqual(remaining(await decider.decide(request)), [2])
})

test('the time until reset is the full window at its start, and 1 in its last second', async (t) => {
  const decider = openDecider(t, perMinute(10))
  const request = requestFor('d', descriptor('k=v'))
  decider.now = 1_699_999_980
  assert.equal((await decider.decide(request)).statuses[0]?.resetSeconds, 60)
  decider.now += 59
  assert.equal((await decider.decide(request)).statuses[0]?.resetSeconds, 1)
  decider.now = 2222
  assert.equal((await decider.decide(request)).statuses[0]?.resetSeconds, 58)
})

test('a descriptor without a rule, an unknown domain and a whitelist return only OK', async (t) => {
  const decider = openDecider(
    t,
    'domain: d\ndescriptors: [{ key: white, value: list }, { key: k, descriptors: [{ key: l }] }]',
  )
  const nothing = {
    code: OK,
    currentLimit: undefined,
    limitRemaining: 0,
    resetSeconds: undefined,
  }
  const { overallCode, statuses } = await decider.decide(
    requestFor('d', descriptor('white=list'), descriptor('k=v'), descriptor('x=y'), descriptor()),
  )
  assert.equal(overallCode, OK)
  assert.deepEqual(statuses, [nothing, nothing, nothing, nothing])
  const unknown = await decider.decide(requestFor('other', descriptor('k=v'), descriptor('k=w')))
  assert.deepEqual(unknown.statuses, [nothing, nothing])
  assert.equal(decider.statistics.unknownDomain('other').value, 2)
})

test('an unlimited rule does not use the store, and its hits are counted in the statistics', async (t) => {
  const decider = openDecider(
    t,
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unlimited: true } }]',
    {
      store: {
        add: () => assert.fail('the store was called'),
        addSparing: () => assert.fail('the store was called'),
        read: () => assert.fail('the store was read'),
        async [Symbol.asyncDispose]() {},
      },
    },
  )
  const { statuses } = await decider.decide(requestFor('d', descriptor('k=v', { hitsAddend: 3 })))
  assert.deepEqual(statuses, [
    { code: OK, currentLimit: undefined, limitRemaining: 4_294_967_295, resetSeconds: undefined },
  ])
  assert.deepEqual(decider.counters('d.k'), { totalHits: 3, withinLimit: 3 })
})

test('hits come from the descriptor, or else from the request, and are at least 1', async (t) => {
  const decider = openDecider(t, perMinute(100))
  const request = (hitsAddend: number, own?: number) => ({
    ...requestFor('d', descriptor('k=v', { hitsAddend: own })),
    hitsAddend,
  })
  const seen = []
  for (const each of [request(0), request(5), request(5, 7), request(5, 0), request(0, 0)]) {
    seen.push(...remaining(await decider.decide(each)))
  }
  assert.deepEqual(seen, [99, 94, 87, 87, 87])
})

test('a check with 0 hits is OK at the limit, and over above it', async (t) => {
  const decider = openDecider(t, perMinute(2))
  const check = requestFor('d', descriptor('k=v', { hitsAddend: 0 }))
  await decider.decide(requestFor('d', descriptor('k=v', { hitsAddend: 2 })))
  assert.equal((await decider.decide(check)).overallCode, OK)
  await decider.decide(requestFor('d', descriptor('k=v')))
  assert.equal((await decider.decide(check)).overallCode, OVER_LIMIT)
})

test('a refund subtracts hits, never goes below 0, and is not a hit', async (t) => {
  const decider = openDecider(t, perMinute(5), { localCacheBytes: 1_000_000 })
  const refund = (hitsAddend: number) =>
    requestFor('d', descriptor('k=v', { hitsAddend, isNegativeHits: true }))
  await decider.decide(requestFor('d', descriptor('k=v', { hitsAddend: 6 })))
  assert.deepEqual(remaining(await decider.decide(refund(2))), [1])
  const before = decider.counters('d.k')
  assert.deepEqual(remaining(await decider.decide(refund(100))), [5])
  assert.deepEqual(decider.counters('d.k'), before)
  assert.equal((await decider.decide(requestFor('d', descriptor('k=v')))).overallCode, OK)
})

test('requests_per_unit 0 refuses everything', async (t) => {
  const decider = openDecider(t, perMinute(0))
  assert.equal((await decider.decide(requestFor('d', descriptor('k=v')))).overallCode, OVER_LIMIT)
})

test('a rule in shadow mode counts all and refuses nothing', async (t) => {
  const decider = openDecider(t, perMinute(2, 'shadow_mode: true'))
  const plain = openDecider(t, perMinute(2))
  for (let i = 0; i < 5; i += 1) {
    const answer = await decider.decide(requestFor('d', descriptor('k=v')))
    assert.equal(answer.overallCode, OK)
    assert.deepEqual(codes(answer), [OK])
    await plain.decide(requestFor('d', descriptor('k=v')))
  }
  assert.deepEqual(decider.counters('d.k'), { ...plain.counters('d.k'), shadowMode: 3 })
})

test('global shadow mode turns every status to OK and counts per rule and per request', async (t) => {
  const decider = openDecider(t, perMinute(1), { settings: { isShadowMode: true } })
  const request = requestFor('d', descriptor('k=v'), descriptor('k=w'))
  await decider.decide(request)
  const answer = await decider.decide(request)
  assert.equal(answer.overallCode, OK)
  assert.deepEqual(codes(answer), [OK, OK])
  assert.deepEqual(remaining(answer), [0, 0])
  assert.equal(decider.counters('d.k')['shadowMode'], 2)
  assert.equal(decider.statistics.counter('globalShadowMode').value, 1)
})

const replacing = `
domain: d
descriptors:
  - key: a
    rate_limit: { name: first, unit: minute, requests_per_unit: 10 }
  - key: b
    rate_limit: { name: second, unit: minute, requests_per_unit: 10, replaces: [{ name: first }] }
  - key: c
    rate_limit: { unlimited: true, replaces: [{ name: second }] }
`

test('a replaced limit is not counted, even if the replacing limit is itself replaced', async (t) => {
  const decider = openDecider(t, replacing)
  const both = await decider.decide(requestFor('d', descriptor('a=1'), descriptor('b=1')))
  assert.deepEqual(remaining(both), [0, 9])
  assert.equal(both.statuses[0]?.currentLimit, undefined)
  assert.deepEqual(decider.counters('d.a'), {})

  const all = await decider.decide(
    requestFor('d', descriptor('c=1'), descriptor('a=1'), descriptor('b=1')),
  )
  assert.deepEqual(remaining(all), [4_294_967_295, 0, 0])

  const alone = await decider.decide(requestFor('d', descriptor('a=1')))
  assert.deepEqual(remaining(alone), [9])
  assert.equal(alone.statuses[0]?.currentLimit?.name, 'first')
})

test('a limit in the request overrides the rule', async (t) => {
  const decider = openDecider(t, perMinute(10))
  const limit = { requestsPerUnit: 2, unit: 2 }
  const { statuses } = await decider.decide(
    requestFor('d', descriptor('k=v', { limit }), descriptor('no=rule', { limit })),
  )
  assert.deepEqual(
    statuses.map(({ currentLimit }) => currentLimit?.requestsPerUnit),
    [2, 2],
  )
  assert.deepEqual(decider.counters('d.no_rule'), { totalHits: 1, withinLimit: 1 })
  const unknownUnit = await decider.decide(
    requestFor('d', descriptor('k=v', { limit: { requestsPerUnit: 2, unit: 0 } })),
  )
  assert.equal(unknownUnit.statuses[0]?.currentLimit?.requestsPerUnit, 10)
})

test('the same counter twice in one request counts twice', async (t) => {
  const decider = openDecider(t, perMinute(3))
  const answer = await decider.decide(requestFor('d', descriptor('k=v'), descriptor('k=v')))
  assert.deepEqual(remaining(answer), [2, 1])
})

test('quotas refuse only if all are exceeded', async (t) => {
  const decider = openDecider(
    t,
    `
domain: d
descriptors:
  - { key: a, quota_mode: true, rate_limit: { unit: minute, requests_per_unit: 1 } }
  - { key: b, quota_mode: true, rate_limit: { unit: minute, requests_per_unit: 2 } }
  - { key: c, rate_limit: { unit: minute, requests_per_unit: 3 } }
`,
  )
  const request = requestFor('d', descriptor('a=1'), descriptor('b=1'))
  await decider.decide(request)
  const second = await decider.decide(request)
  assert.deepEqual([second.overallCode, ...codes(second)], [OK, OVER_LIMIT, OK])
  const third = await decider.decide(request)
  assert.deepEqual([third.overallCode, ...codes(third)], [OVER_LIMIT, OVER_LIMIT, OVER_LIMIT])
  for (let i = 0; i < 3; i += 1) await decider.decide(requestFor('d', descriptor('c=1')))
  const mixed = await decider.decide(requestFor('d', descriptor('a=2'), descriptor('c=1')))
  assert.equal(mixed.overallCode, OVER_LIMIT)
})

test('with QUOTA_MODE a descriptor without a rule counts as a quota that is not exceeded', async (t) => {
  const decider = openDecider(t, perMinute(1), { settings: { isQuotaMode: true } })
  await decider.decide(requestFor('d', descriptor('k=v')))
  const alone = await decider.decide(requestFor('d', descriptor('k=v')))
  assert.equal(alone.overallCode, OVER_LIMIT)
  const beside = await decider.decide(requestFor('d', descriptor('k=v'), descriptor('x=y')))
  assert.equal(beside.overallCode, OK)
})

test('headers report the last limit that is exceeded, or the first of the tightest', async (t) => {
  const rules = `
domain: d
descriptors:
  - { key: a, rate_limit: { unit: minute, requests_per_unit: 5 } }
  - { key: b, rate_limit: { unit: minute, requests_per_unit: 3 } }
  - { key: c, rate_limit: { unit: minute, requests_per_unit: 3 } }
  - { key: u, rate_limit: { unlimited: true } }
`
  const decider = openDecider(t, rules, {
    settings: { headerNames: { limit: 'L', remaining: 'R', reset: 'T' } },
  })
  const values = async (...keys: string[]) => {
    const answer = await decider.decide(
      requestFor('d', ...keys.map((key) => descriptor(`${key}=1`))),
    )
    return answer.responseHeadersToAdd.map(({ key, value }) => `${key}=${value}`)
  }
  assert.deepEqual(await values('u', 'none'), [])
  assert.deepEqual(await values('a', 'b', 'c'), ['L=3', 'R=2', 'T=40'])
  await decider.decide(requestFor('d', descriptor('a=1', { hitsAddend: 9 })))
  assert.deepEqual(await values('a', 'b'), ['L=5', 'R=0', 'T=40'])
})

test('invalid requests are refused with the messages of envoyproxy/ratelimit', async (t) => {
  const decider = openDecider(t, perMinute(1))
  const refusals = [
    [requestFor('', descriptor('k=v')), 'rate limit domain must not be empty'],
    [requestFor('d'), 'rate limit descriptor list must not be empty'],
  ] as const
  for (const [request, message] of refusals) {
    await assert.rejects(decider.decide(request), (error) => {
      assert.ok(error instanceof ServiceError)
      assert.equal(error.message, message)
      return true
    })
  }
  assert.equal(decider.statistics.counter('serviceErrors').value, 2)
})

test('a clock that is set back causes no exception and no negative duration', async (t) => {
  const decider = openDecider(t, perMinute(2))
  const request = requestFor('d', descriptor('k=v'))
  for (const step of [0, 3600, -7200, 30, -30, 86_400 * 365]) {
    decider.now += step
    const [status] = (await decider.decide(request)).statuses
    assert.ok(status?.resetSeconds !== undefined && status.resetSeconds > 0)
  }
})

test('new rules apply to the current window', async (t) => {
  const decider = openDecider(t, perMinute(1), { localCacheBytes: 1_000_000 })
  const request = requestFor('d', descriptor('k=v'))
  await decider.decide(request)
  assert.equal((await decider.decide(request)).overallCode, OVER_LIMIT)
  decider.load(perMinute(10))
  assert.deepEqual(remaining(await decider.decide(request)), [7])
})

test('a failure counts as an error of the store, and an invalid name as an error of the request', async (t) => {
  const failures = [new StoreError('broken'), new CounterKeyError('no such names')]
  const decider = openDecider(t, perMinute(3), {
    store: {
      add: (_increments, _deadlineMs, counted) => counted(failures.shift()),
      addSparing: () => assert.fail('addSparing was called'),
      read: () => assert.fail('nothing is to be read'),
      async [Symbol.asyncDispose]() {},
    },
  })
  const count = (name: string) => decider.statistics.counter(name).value
  await assert.rejects(decider.decide(requestFor('d', descriptor('k=v'))), /broken/)
  assert.deepEqual([count('storeErrors'), count('serviceErrors')], [1, 0])
  await assert.rejects(decider.decide(requestFor('d', descriptor('k=v'))), /no such names/)
  assert.deepEqual([count('storeErrors'), count('serviceErrors')], [1, 1])
})
