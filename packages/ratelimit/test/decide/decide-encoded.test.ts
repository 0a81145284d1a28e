import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { encodeRequest } from '../../src/protocol/encode.ts'
import {
  DecodeError,
  type Descriptor,
  type RateLimitRequest,
  type RateLimitResponse,
} from '../../src/protocol/message.ts'
import type { RuleRecord, RuleSet } from '../../src/rules/model/rule.ts'
import {
  type Decider,
  type DeciderOptions,
  descriptor,
  openDecider,
  requestFor,
} from '../support/decider.ts'
import { type NestedRule, toRuleSet } from '../support/nested-rules.ts'

function toMessage(request: RateLimitRequest): Buffer {
  const { buffer, length } = encodeRequest(request)
  return Buffer.from(buffer.subarray(0, length))
}

const perMinute = (requests: number) => `
domain: d
descriptors:
  - key: k
    rate_limit: { unit: minute, requests_per_unit: ${requests} }
`

test('a cached request is counted like any other', async (t) => {
  const decider = openDecider(t, perMinute(5))
  const message = toMessage(requestFor('d', descriptor('k=v')))
  const left = []
  for (let i = 0; i < 7; i += 1) left.push(remaining(await decider.decideEncoded(message)))
  assert.deepEqual(left, [4, 3, 2, 1, 0, 0, 0])
  assert.deepEqual(decider.counters('d.k'), {
    totalHits: 7,
    withinLimit: 5,
    nearLimit: 1,
    overLimit: 2,
  })
  decider.now += 60
  assert.equal(remaining(await decider.decideEncoded(message)), 4)
})

test('a reload takes effect with the next request', async (t) => {
  const decider = openDecider(t, perMinute(100))
  const message = toMessage(requestFor('d', descriptor('k=v')))
  for (let i = 0; i < 5; i += 1) await decider.decideEncoded(message)
  for (const limit of [50, 60, 70]) {
    decider.load(perMinute(limit))
    const { statuses } = await decider.decideEncoded(message)
    assert.equal(statuses[0]?.currentLimit?.requestsPerUnit, limit)
  }
  decider.load('domain: other\ndescriptors: []\n')
  assert.equal((await decider.decideEncoded(message)).statuses[0]?.currentLimit, undefined)
})

test('dynamic metadata contains the request, however often it is repeated', async (t) => {
  const decider = openDecider(t, perMinute(100), { settings: { addsDynamicMetadata: true } })
  const message = toMessage(requestFor('d', descriptor('k=v')))
  for (let i = 0; i < 4; i += 1) {
    const { dynamicMetadata } = await decider.decideEncoded(message)
    assert.deepEqual(dynamicMetadata, { domain: 'd', descriptors: [{ entries: ['k=v'] }] })
  }
})

const requestKeys = [
  { by: 'a limit in the request', yaml: perMinute(9), limit: { requestsPerUnit: 5, unit: 1 } },
  {
    by: 'detailed_metric',
    yaml: perMinute(9).replace('rate_limit', 'detailed_metric: true\n    rate_limit'),
    limit: undefined,
  },
]

for (const { by, yaml, limit } of requestKeys) {
  test(`statistics by value that were dropped start at 0, with ${by}`, async (t) => {
    const decider = openDecider(t, yaml, { maxRequestKeys: 2 })
    const message = (value: string) =>
      toMessage(requestFor('d', descriptor(`k=${value}`, limit === undefined ? {} : { limit })))
    for (let i = 0; i < 4; i += 1) await decider.decideEncoded(message('first'))
    assert.equal(decider.counters('d.k_first')['totalHits'], 4)
    for (const value of ['b', 'c', 'd', 'e']) await decider.decideEncoded(message(value))
    await decider.decideEncoded(message('first'))
    assert.equal(decider.counters('d.k_first')['totalHits'], 1)
  })
}

test('bytes that are not a request are refused, however often they are repeated', async (t) => {
  const decider = openDecider(t, perMinute(100))
  for (let i = 0; i < 4; i += 1) {
    await assert.rejects(decider.decideEncoded(Buffer.from([0x0a, 0x7f])), DecodeError)
  }
  assert.equal(decider.statistics.counter('serviceErrors').value, 0)
})

const key = fc.constantFrom('a', 'b', 'é')
const value = fc.constantFrom('', 'x', 'y', 'xy', 'é', '😀')
const limit = fc.record({
  per: fc.constantFrom('SECOND', 'MINUTE', 'DAY'),
  requests: fc.constantFrom(0, 1, 3, 10, 4_294_967_295),
  name: fc.constantFrom('', 'one', 'two'),
  replaces: fc.constantFrom([], [], ['one']),
  unlimited: fc.constantFrom(false, false, false, true),
})

const siblings = (depth: number): fc.Arbitrary<NestedRule[]> =>
  fc.uniqueArray(rule(depth), { maxLength: 5, selector: (each) => `${each.key} ${each.value}` })

function rule(depth: number): fc.Arbitrary<NestedRule> {
  return fc
    .record({
      key,
      value: fc.oneof(value, fc.constantFrom('', 'x*', '*')),
      limit: fc.option(limit, { nil: undefined, freq: 5 }),
      shadowMode: fc.boolean(),
      quotaMode: fc.boolean(),
      detailedMetric: fc.boolean(),
      valueToMetric: fc.boolean(),
      shareThreshold: fc.boolean(),
      rules: depth === 0 ? fc.constant([]) : siblings(depth - 1),
    })
    .map(({ limit, ...rest }) => (limit === undefined ? rest : { ...rest, limit }))
}

const ruleSet: fc.Arbitrary<RuleSet> = fc
  .record({
    rules: siblings(1),
    unitMultiplier: fc.constantFrom(1, 5),
    slides: fc.constantFrom('none', 'half', 'all'),
  })
  .map(({ rules, unitMultiplier, slides }) => {
    const set = toRuleSet({ d: rules })
    const withWindows = set.rules.map((each, index): RuleRecord => {
      const isSliding = slides === 'all' || (slides === 'half' && index % 2 === 0)
      const algorithm = isSliding ? 'sliding_window' : 'fixed_window'
      return { ...each, limit: each.limit && { ...each.limit, unitMultiplier, algorithm } }
    })
    return { ...set, rules: withWindows }
  })

/** Mostly simple descriptors, because only those are cached. */
const someDescriptor: fc.Arbitrary<Descriptor> = fc.record({
  entries: fc.array(fc.record({ key, value }), { maxLength: 2 }),
  limit: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    fc.record({
      requestsPerUnit: fc.integer({ min: 0, max: 5 }),
      unit: fc.integer({ min: 0, max: 4 }),
    }),
  ),
  hitsAddend: fc.constantFrom(undefined, undefined, undefined, 0, 1, 3, 2 ** 31, 2 ** 40),
  isNegativeHits: fc.constantFrom(false, false, false, true),
})
const someRequest: fc.Arbitrary<RateLimitRequest> = fc.record({
  domain: fc.constantFrom('d', 'd', 'd', 'd', 'unknown', ''),
  descriptors: fc.array(someDescriptor, { maxLength: 3 }),
  hitsAddend: fc.constantFrom(0, 0, 2),
})

/** Numbers select from the lists of the scenario, so that requests are repeated. */
const step = fc.oneof(
  { weight: 20, arbitrary: fc.record({ request: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ load: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      wait: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(0.3, 250)),
    }),
  },
)
const scenario = fc.record({
  rules: fc.array(ruleSet, { minLength: 1, maxLength: 3 }),
  requests: fc.array(someRequest, { minLength: 1, maxLength: 5 }),
  steps: fc.array(step, { minLength: 10, maxLength: 80 }),
  localCacheBytes: fc.constantFrom(0, 1),
  settings: fc.record({
    isShadowMode: fc.boolean(),
    isQuotaMode: fc.boolean(),
    stopsIncrementWhenOver: fc.boolean(),
    cacheKeyPrefix: fc.constantFrom('', 'p:', '😀'),
    headerNames: fc.constantFrom(undefined, { limit: 'L', remaining: 'R', reset: 'T' }),
  }),
})

test('the request cache changes no response and no statistic, for any rules, requests and reloads', async (t) => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ rules, requests, steps, ...options }) => {
      const [first] = rules
      assert.ok(first)
      await withDeciders(t, first, { maxRequestKeys: 2, ...options }, async (plain, encoded) => {
        for (const each of steps) {
          if ('request' in each) {
            const request = requests[each.request % requests.length]
            assert.ok(request)
            const expected = await outcome(plain.decide(request))
            assert.deepEqual(await outcome(encoded.decideEncoded(toMessage(request))), expected)
          } else {
            for (const decider of [plain, encoded]) {
              if ('wait' in each) decider.now += each.wait
              else decider.load(rules[each.load % rules.length] ?? first)
            }
          }
        }
        const [expected, actual] = await Promise.all([plain, encoded].map(listStatistics))
        assert.deepEqual(actual, expected)
      })
    }),
    { numRuns: 300 },
  )
})

async function withDeciders(
  t: TestContext,
  rules: RuleSet,
  options: DeciderOptions,
  use: (plain: Decider, encoded: Decider) => Promise<void>,
): Promise<void> {
  const closing: (() => unknown)[] = []
  const after: TestContext['after'] = (close) => {
    if (close !== undefined) closing.push(() => close(t, () => {}))
  }
  try {
    await use(openDecider({ after }, rules, options), openDecider({ after }, rules, options))
  } finally {
    for (const close of closing) await close()
  }
}

/** The response, or the error. */
function outcome(answer: Promise<RateLimitResponse>): Promise<RateLimitResponse | string> {
  return answer.catch((error: Error) => `${error.name}: ${error.message}`)
}

function remaining({ statuses }: RateLimitResponse): number | undefined {
  return statuses[0]?.limitRemaining
}

async function listStatistics({ statistics }: Decider): Promise<unknown[]> {
  const lines: unknown[] = []
  for await (const line of statistics.lines()) lines.push(line)
  return lines
}
