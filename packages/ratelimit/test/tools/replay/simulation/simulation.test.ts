import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { Simulation } from '../../../../src/tools/replay/simulation/simulation.ts'
import { openSimulation, toRecorded } from '../support/simulation.ts'

const start = Date.parse('2026-01-01T00:00:00Z')

function ruleOf(simulation: Simulation, path: string) {
  const rule = simulation.rules.met.find((each) => each.path === path)
  assert(rule !== undefined, `no request matched ${path}`)
  return rule
}

suite('a simulation', () => {
  test('counts exactly what the rules refuse', (t) => {
    const simulation = openSimulation(
      t,
      `domain: api
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 5 }
  - key: upload
    shadow_mode: true
    rate_limit: { unit: second, requests_per_unit: 1 }
  - key: free
    rate_limit: { unlimited: true }
`,
    )
    const run = (seconds: number, domain: string, ...descriptors: string[]) =>
      simulation.run(toRecorded(0, domain, descriptors), start + seconds * 1000)
    // Seven requests of one user in the first minute: two are refused, and the fifth is near the limit.
    for (let second = 0; second < 7; second += 1) run(second, 'api', 'user=a')
    run(10, 'api', 'user=b')
    run(60, 'api', 'user=a')
    // Two uploads in one second: the second is over the limit, but allowed.
    run(61, 'api', 'upload=x')
    run(61.5, 'api', 'upload=x', 'free=y')
    run(62, 'api', 'nothing=z')
    run(63, 'other', 'user=a')

    assert.deepEqual(
      [simulation.requests, simulation.refused, simulation.shadowRefused],
      [13, 2, 1],
    )
    assert.deepEqual([simulation.withoutRule, simulation.withUnknownDomain], [1, 1])
    assert.equal(simulation.unknownDomains.get('other')?.value, 1)

    const user = ruleOf(simulation, 'api.user')
    assert.deepEqual(
      [user.requests, user.allowed, user.near, user.refused, user.shadowRefused],
      [9, 7, 1, 2, 0],
    )
    assert.deepEqual([user.firstRefusalMs, user.lastRefusalMs], [start + 5000, start + 6000])
    assert.deepEqual([user.peakHits, user.peakKey], [7, 'api_user_a_60s_'])
    assert.deepEqual([user.totalHits, user.withinLimit, user.overLimit], [9, 7, 2])

    const upload = ruleOf(simulation, 'api.upload')
    assert.deepEqual([upload.requests, upload.refused, upload.shadowRefused], [2, 0, 1])
    assert.deepEqual([upload.overLimit, upload.shadowMode], [1, 1])
    const free = ruleOf(simulation, 'api.free')
    assert.deepEqual([free.requests, free.allowed, free.totalHits], [1, 1, 1])

    assert.deepEqual(
      simulation.refusedKeys.top(10).map(({ key, refused }) => [key, refused]),
      [['api_user_a_60s_', 2]],
    )
  })

  test('lists limits in requests by their keys', (t) => {
    const simulation = openSimulation(t, 'domain: api\ndescriptors: []\n')
    for (let user = 0; user < 3; user += 1) {
      const request = toRecorded(0, 'api', [`user=${user}`], 2)
      const descriptors = request.descriptors.map((descriptor) => ({
        ...descriptor,
        limit: { requestsPerUnit: 1, unit: 2 },
      }))
      simulation.run({ ...request, descriptors }, start)
    }
    const rule = ruleOf(simulation, 'api.user (limit of the request)')
    assert.deepEqual([rule.requests, rule.refused, rule.totalHits], [3, 3, 6])
  })

  test('reports per rule, even if rules share statistics or have many', (t) => {
    const simulation = openSimulation(
      t,
      `domain: api
descriptors:
  - { key: a, value: 'x:y', rate_limit: { unit: minute, requests_per_unit: 1 } }
  - { key: a, value: 'x|y', rate_limit: { unit: minute, requests_per_unit: 1 } }
  - { key: b, detailed_metric: true, rate_limit: { unit: minute, requests_per_unit: 1 } }
`,
    )
    for (const entry of ['a=x:y', 'a=x|y', 'b=1', 'b=2']) {
      simulation.run(toRecorded(0, 'api', [entry]), start)
    }
    const met = simulation.rules.met.map(({ path, requests }) => [path, requests])
    assert.deepEqual(met, [
      ['api.a_x:y', 1],
      ['api.a_x|y', 1],
      ['api.b', 2],
    ])
  })

  test('refuses nothing in shadow mode, and reports what would have been refused', (t) => {
    const yaml =
      'domain: api\ndescriptors: [{ key: a, rate_limit: { unit: day, requests_per_unit: 1 } }]\n'
    const simulation = openSimulation(t, yaml, { isShadowMode: true })
    for (let i = 0; i < 3; i += 1) simulation.run(toRecorded(0, 'api', ['a=1']), start)
    const { refused, shadowRefused } = simulation
    assert.deepEqual([refused, shadowRefused, ruleOf(simulation, 'api.a').shadowRefused], [0, 2, 2])
  })

  test('decides like a simple model of fixed and sliding windows', (t) => {
    const rules = [
      { key: 'second', windowSeconds: 1, most: 3, isSliding: false },
      { key: 'minutes', windowSeconds: 300, most: 10, isSliding: false },
      { key: 'sliding', windowSeconds: 60, most: 6, isSliding: true },
    ] as const
    const yaml = `domain: api
descriptors:
  - { key: second, rate_limit: { unit: second, requests_per_unit: 3 } }
  - { key: minutes, rate_limit: { unit: minute, unit_multiplier: 5, requests_per_unit: 10 } }
  - { key: sliding, rate_limit: { unit: minute, requests_per_unit: 6, algorithm: sliding_window } }
`
    const step = fc.record({
      afterMs: fc.oneof(fc.nat(400), fc.nat(20_000)),
      rule: fc.constantFrom(...rules),
      value: fc.constantFrom('x', 'y'),
      hits: fc.integer({ min: 1, max: 3 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const simulation = openSimulation(t, yaml)
        const counts = new Map<string, number>()
        const expected = new Map<string, [requests: number, refused: number]>()
        let now = start
        for (const { afterMs, rule, value, hits } of steps) {
          now += afterMs
          simulation.run(toRecorded(0, 'api', [`${rule.key}=${value}`], hits), now)
          const size = rule.windowSeconds * 1000
          const window = Math.floor(now / size)
          const keyOf = (number: number) => `${rule.key} ${value} ${number}`
          const current = counts.get(keyOf(window)) ?? 0
          const before = counts.get(keyOf(window - 1)) ?? 0
          const overlap = (window + 1) * size - now
          const weighted = rule.isSliding ? Math.floor((before * overlap) / size) : 0
          const isOver = current + weighted + hits > rule.most
          if (!isOver || !rule.isSliding) counts.set(keyOf(window), current + hits)
          const [requests, refused] = expected.get(rule.key) ?? [0, 0]
          expected.set(rule.key, [requests + 1, refused + (isOver ? 1 : 0)])
        }
        for (const [key, [requests, refused]] of expected) {
          const rule = ruleOf(simulation, `api.${key}`)
          assert.deepEqual([rule.requests, rule.refused], [requests, refused], key)
          assert.equal(rule.allowed, requests - refused)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('drops expired counters, however fast time passes', async (t) => {
    const yaml =
      'domain: api\ndescriptors: [{ key: a, rate_limit: { unit: second, requests_per_unit: 1 } }]\n'
    const simulation = openSimulation(t, yaml)
    const most = 100_000
    for (let i = 0; i < most; i += 1) {
      // A hundred new keys each second.
      simulation.run(toRecorded(0, 'api', [`a=${i}`]), start + i * 10)
      if (i % 1000 === 0) await setImmediate()
    }
    assert.equal(simulation.failed, 0)
    assert(simulation.counters < most / 4, `${simulation.counters} counters are kept`)
  })

  test('reports when it has no memory left for counters', (t) => {
    const yaml =
      'domain: api\ndescriptors: [{ key: a, rate_limit: { unit: year, requests_per_unit: 1 } }]\n'
    const simulation = openSimulation(t, yaml, {}, 2 ** 20)
    for (let i = 0; i < 10_000; i += 1) {
      simulation.run(toRecorded(0, 'api', [`a=${'x'.repeat(200)}${i}`]), start)
    }
    assert(simulation.failed > 0)
    assert.match(simulation.failure, /the memory store is full/)
  })
})
