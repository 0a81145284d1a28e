import assert from 'node:assert/strict'
import { descriptor, requestFor } from '../../support/decider.ts'
import { readRule, readStatistics } from '../../support/service-client.ts'
import { domain, limit, type Scenario, toBrief } from './scenario.ts'

const messaging = `
domain: messaging
descriptors:
  - key: message_type
    value: marketing
    descriptors:
      - key: to_number
        rate_limit: { unit: day, requests_per_unit: 5 }
  - key: to_number
    rate_limit: { unit: day, requests_per_unit: 100 }
`

/** Limit, hits, count after → near_limit, over_limit, within_limit. */
const nearAndOver = [
  [15, 1, 11, 0, 0, 1],
  [15, 1, 13, 1, 0, 1],
  [15, 1, 16, 0, 1, 0],
  [20, 3, 5, 0, 0, 3],
  [8, 2, 7, 1, 0, 2],
  [20, 3, 19, 3, 0, 3],
  [20, 3, 22, 1, 2, 0],
  [20, 7, 22, 4, 2, 0],
  [10, 3, 30, 0, 3, 0],
] as const

/** Limit → count above which hits are near it. */
const nearFrom = [
  [8, 6],
  [10, 8],
  [14, 11],
  [15, 12],
  [20, 16],
  [4_294_967_295, 3_435_973_888],
] as const

/** Time in seconds, unit → seconds until the window ends. */
const resets = [
  [2_222, 'minute', 58],
  [1_234, 'second', 1],
  [1_234, 'minute', 26],
  [86_400, 'day', 86_400],
  [86_399, 'day', 1],
  [3_600, 'hour', 3_600],
  [604_799, 'week', 1],
  [2_592_000, 'month', 2_592_000],
  [31_535_999, 'year', 1],
] as const

/** Test vectors: tables of inputs and expected results. */
export const vectors: readonly Scenario[] = [
  {
    name: 'the worked example: five marketing messages per number and day',
    async run(stage) {
      const { client } = await stage.open(messaging, { LIMIT_RESPONSE_HEADERS_ENABLED: 'true' })
      const request = requestFor(
        'messaging',
        descriptor('message_type=marketing', 'to_number=206'),
        descriptor('to_number=206'),
      )
      const first = await client.decide(request)
      assert.equal(first.overallCode, 1)
      assert.deepEqual(first.statuses, [
        {
          code: 1,
          currentLimit: { requestsPerUnit: 5, unit: 4, name: '' },
          limitRemaining: 4,
          resetSeconds: 6_400,
        },
        {
          code: 1,
          currentLimit: { requestsPerUnit: 100, unit: 4, name: '' },
          limitRemaining: 99,
          resetSeconds: 6_400,
        },
      ])
      for (let call = 2; call <= 5; call += 1) {
        assert.equal((await client.decide(request)).overallCode, 1)
      }
      const sixth = await client.decide(request)
      assert.equal(sixth.overallCode, 2)
      assert.deepEqual(sixth.statuses.map(toBrief), ['OVER 0', 'OK 94'])
      assert.deepEqual(sixth.responseHeadersToAdd, [
        { key: 'RateLimit-Limit', value: '5' },
        { key: 'RateLimit-Remaining', value: '0' },
        { key: 'RateLimit-Reset', value: '6400' },
      ])
      if (stage.store.inside === undefined) return
      assert.deepEqual(await stage.store.inside.counters(), {
        'messaging_message_type_marketing_to_number_206_86400s.0.1.1_1699920000': 6,
        'messaging_to_number_206_86400s.0.1_1699920000': 6,
      })
    },
  },
  {
    name: 'hits are near, over or within the limit as in the table',
    async run(stage) {
      const rules = nearAndOver.map(([requests], row) => limit(`row${row}`, requests))
      const { decide, statistics } = await stage.open(domain(...rules))
      for (const [row, [, hits, after, near, over, within]] of nearAndOver.entries()) {
        const charge = (hitsAddend: number) => decide(descriptor(`row${row}=v`, { hitsAddend }))
        await charge(after - hits)
        const before = await statistics(`d.row${row}`)
        await charge(hits)
        const now = await statistics(`d.row${row}`)
        const added = (name: string) => (now[name] ?? 0) - (before[name] ?? 0)
        assert.deepEqual(
          ['near_limit', 'over_limit', 'within_limit', 'total_hits'].map(added),
          [near, over, within, hits],
          `row ${row}`,
        )
      }
    },
  },
  {
    name: 'the threshold of near is computed in single precision',
    async run(stage) {
      const rules = nearFrom.map(([requests]) => limit(`l${requests}`, requests))
      const { brief, statistics } = await stage.open(domain(...rules))
      for (const [requests, from] of nearFrom) {
        const all = descriptor(`l${requests}=v`, { hitsAddend: requests })
        assert.deepEqual(await brief(all), ['OK 0'])
        assert.equal((await statistics(`d.l${requests}`))['near_limit'], requests - from)
      }
    },
  },
  {
    name: 'the time until reset is in whole seconds, from 1 to the full unit',
    async run(stage) {
      const rules = resets.map(([, unit], row) => limit(`row${row}`, 5, unit))
      const { decide } = await stage.open(domain(...rules))
      for (const [row, [now, unit, expected]] of resets.entries()) {
        stage.now = now
        const { statuses } = await decide(descriptor(`row${row}=v`))
        assert.equal(statuses[0]?.resetSeconds, expected, `${unit} at ${now}`)
      }
    },
  },
  {
    name: 'statistics are named after the rule, or after the values if configured',
    async run(stage) {
      const { client, service } = await stage.open(statisticsRules)
      for (const [entries, key] of statisticsKeys) {
        const before = await readRule(service, key)
        await client.decide(requestFor('D', descriptor(...entries)))
        const { total_hits: hits = 0 } = await readRule(service, key)
        assert.equal(hits - (before['total_hits'] ?? 0), 1, key)
      }
      const override = { requestsPerUnit: 3, unit: 2 }
      await client.decide(
        requestFor('D', descriptor('key1=value1', 'subkey1=x', { limit: override })),
      )
      const names = await readStatistics(service)
      assert.equal(names.get('ratelimit.service.rate_limit.D.key1_value1.subkey1_x.total_hits'), 1)
    },
  },
  {
    name: 'a star in a rule matches any text',
    async run(stage) {
      const rules = domain(limit('one/bar*b', 9), limit('two/foo*bar*baz', 9))
      const { brief } = await stage.open(rules)
      const isMatched = async (text: string) => (await brief(descriptor(text)))[0] !== 'none'
      for (const value of ['barb', 'barab', 'bar123b']) assert.ok(await isMatched(`one=${value}`))
      for (const value of ['bara', 'xbarb']) assert.ok(!(await isMatched(`one=${value}`)))
      for (const value of ['foobarbaz', 'foo123bar456baz']) {
        assert.ok(await isMatched(`two=${value}`))
      }
      for (const value of ['foo123baz', 'bar456baz']) assert.ok(!(await isMatched(`two=${value}`)))
    },
  },
]

const statisticsRules = `
domain: D
descriptors:
  - key: key1
    value: value1
    descriptors:
      - { key: subkey1, rate_limit: { unit: hour, requests_per_unit: 9 } }
  - { key: key7, detailed_metric: true, rate_limit: { unit: hour, requests_per_unit: 9 } }
  - { key: ip, detailed_metric: true, rate_limit: { unit: hour, requests_per_unit: 9 } }
  - key: route
    value_to_metric: true
    descriptors:
      - key: http_method
        value_to_metric: true
        descriptors:
          - { key: subject_id, rate_limit: { unit: hour, requests_per_unit: 9 } }
  - { key: wild, value: foo*, rate_limit: { unit: hour, requests_per_unit: 9 } }
  - key: wild
    value: bar*
    value_to_metric: true
    rate_limit: { unit: hour, requests_per_unit: 9 }
  - key: shared
    value: api/*
    share_threshold: true
    value_to_metric: true
    descriptors:
      - { key: method, rate_limit: { unit: hour, requests_per_unit: 9 } }
  - key: service
    value: svc/*
    share_threshold: true
    descriptors:
      - { key: endpoint, detailed_metric: true, rate_limit: { unit: hour, requests_per_unit: 9 } }
  - key: path
    value: path/*
    share_threshold: true
    descriptors:
      - key: file
        value: file/*
        descriptors:
          - { key: type, rate_limit: { unit: hour, requests_per_unit: 9 } }
`

const statisticsKeys: readonly (readonly [string[], string])[] = [
  [['key1=value1', 'subkey1=x'], 'D.key1_value1.subkey1'],
  [['key7=foo'], 'D.key7_foo'],
  [['ip=10.0.0.5'], 'D.ip_10_0_0_5'],
  [['route=draw', 'http_method=GET', 'subject_id=123'], 'D.route_draw.http_method_GET.subject_id'],
  [['wild=foo1'], 'D.wild_foo*'],
  [['wild=bar1'], 'D.wild_bar1'],
  [['shared=api/v1', 'method=GET'], 'D.shared_api/*.method'],
  [['service=svc/user', 'endpoint=get'], 'D.service_svc/*.endpoint_get'],
  [['path=path/foo', 'file=file/doc1', 'type=pdf'], 'D.path_path/*.file_file/*.type'],
]
