import assert from 'node:assert/strict'
import { descriptor, requestFor } from '../../support/decider.ts'
import type { InsideScenario, OpenStage } from './scenario.ts'

const rules = `
domain: domain
descriptors:
  - { key: key, rate_limit: { unit: second, requests_per_unit: 9 } }
  - key: key2
    descriptors:
      - { key: subkey2, rate_limit: { unit: minute, requests_per_unit: 9 } }
  - key: key3
    rate_limit: { unit: hour, requests_per_unit: 9 }
    descriptors:
      - { key: subkey3, rate_limit: { unit: day, requests_per_unit: 9 } }
  - key: files
    value: files/*
    share_threshold: true
    rate_limit: { unit: second, requests_per_unit: 9 }
    descriptors:
      - { key: user, rate_limit: { unit: second, requests_per_unit: 9 } }
  - { key: wild, value: a*, rate_limit: { unit: second, requests_per_unit: 9 } }
  - { key: wärme, rate_limit: { unit: second, requests_per_unit: 9 } }
`

/** Time in seconds, entries → key. */
const table: readonly (readonly [number, readonly string[], string])[] = [
  [1_234, ['key=value'], 'domain_key_value_1234'],
  [1_234, ['key='], 'domain_key__1234'],
  [1_234, ['key2=value2', 'subkey2=subvalue2'], 'domain_key2_value2_subkey2_subvalue2_1200'],
  [1_000_000, ['key3=value3'], 'domain_key3_value3_997200'],
  [1_000_000, ['key3=value3', 'subkey3=subvalue3'], 'domain_key3_value3_subkey3_subvalue3_950400'],
  [1_234, ['files=files/a.pdf'], 'domain_files_files/*_1234'],
  [1_234, ['files=files/a.pdf', 'user=u'], 'domain_files_files/*_user_u_1234'],
  [1_234, ['wild=abc'], 'domain_wild_abc_1234'],
  [1_234, ['key=space and\nline\0end'], 'domain_key_space and\nline\0end_1234'],
  [1_234, ['wärme=größe 日本 🦀'], 'domain_wärme_größe 日本 🦀_1234'],
]

const compatible = { CACHE_KEY_FORMAT: 'compatible' }

/** The exact keys of an envoyproxy/ratelimit server that shares the store. */
export const keys: readonly InsideScenario[] = [
  ...['', 'prefix:'].map(
    (prefix): InsideScenario => ({
      name: `keys are those of envoyproxy/ratelimit${prefix && ', after the configured prefix'}`,
      async run(stage, inside) {
        const env = { ...compatible, CACHE_KEY_PREFIX: prefix }
        const { client } = await stage.open(rules, env)
        for (const [now, entries, key] of table) {
          await inside.clear()
          stage.now = now
          await client.decide(requestFor('domain', descriptor(...entries)))
          const held = { ...(await inside.counters()), ...(await inside.countersPerSecond()) }
          assert.deepEqual(held, { [`${prefix}${key}`]: 1 })
        }
      },
    }),
  ),
  {
    name: 'no two different descriptors share a counter',
    async run(stage, inside) {
      const { client } = await stage.open(rules)
      stage.now = 1_234
      const forged = descriptor('key3=v_key2_w')
      const pair = descriptor('key2=w_subkey2_x', 'subkey2=y')
      const other = descriptor('key2=w', 'subkey2=x_subkey2_y')
      await client.decide(requestFor('domain', forged, descriptor('key3=v'), pair, other))
      const held = { ...(await inside.counters()), ...(await inside.countersPerSecond()) }
      assert.deepEqual(held, {
        'domain_key3_v%5Fkey2%5Fw_3600s_0': 1,
        domain_key3_v_3600s_0: 1,
        'domain_key2_w%5Fsubkey2%5Fx_subkey2_y_60s_1200': 1,
        'domain_key2_w_subkey2_x%5Fsubkey2%5Fy_60s_1200': 1,
      })
    },
  },
  {
    name: 'every counter expires after its unit plus at most the jitter',
    async run(stage, inside) {
      const { client } = await stage.open(rules, { EXPIRATION_JITTER_MAX_SECONDS: '100' })
      stage.now = 1_000_000
      const ttl = async (...entries: string[]) => {
        await inside.clear()
        await client.decide(requestFor('domain', descriptor(...entries)))
        return Object.values(await inside.lifetimes())
      }
      for (const [entries, unit] of [
        [['key=v'], 1],
        [['key2=v', 'subkey2=v'], 60],
        [['key3=v'], 3_600],
        [['key3=v', 'subkey3=v'], 86_400],
      ] as const) {
        const [seconds = -1, ...others] = await ttl(...entries)
        assert.deepEqual(others, [])
        assert.ok(seconds > unit / 2 && seconds <= unit + 100, `${entries} ends in ${seconds} s`)
      }
    },
  },
  {
    name: 'without jitter the TTL of a counter is its unit, and each hit renews it',
    async run(stage, inside) {
      const { client } = await stage.open(rules, { EXPIRATION_JITTER_MAX_SECONDS: '0' })
      const request = requestFor('domain', descriptor('key3=v'))
      for (let call = 0; call < 3; call += 1) {
        await client.decide(request)
        for (const seconds of Object.values(await inside.lifetimes())) {
          assert.ok(seconds > 3_500 && seconds <= 3_600, `${seconds}`)
        }
      }
    },
  },
  {
    name: 'limits per second are counted separately if configured',
    async run(stage, inside) {
      const { client } = await stage.open(rules, compatible)
      stage.now = 1_234
      await client.decide(requestFor('domain', descriptor('key=v'), descriptor('key3=v')))
      const fast = await inside.countersPerSecond()
      const others = await inside.counters()
      assert.equal(fast['domain_key_v_1234'], 1)
      assert.equal(others['domain_key3_v_0'], 1)
      const isApart = 'KVSTORE_PERSECOND' in stage.store.env
      assert.equal('domain_key_v_1234' in others, !isApart)
      assert.equal('domain_key3_v_0' in fast, !isApart)
    },
  },
  {
    name: 'envoyproxy/ratelimit servers and this service share counters',
    async run(stage, inside) {
      const one = await stage.open(rules, compatible)
      const other = await stage.open(rules, compatible)
      stage.now = 1_000_000
      const request = requestFor('domain', descriptor('key3=v'))
      const remaining = async ({ client }: OpenStage) =>
        (await client.decide(request)).statuses[0]?.limitRemaining
      assert.equal(await remaining(one), 8)
      await inside.count('domain_key3_v_997200', 3)
      assert.equal(await remaining(other), 4)
      assert.equal(await remaining(one), 3)
      assert.deepEqual(await inside.counters(), { domain_key3_v_997200: 6 })
    },
  },
  {
    name: 'a refund of a count above the range of doubles results in 0, not less',
    async run(stage, inside) {
      const { client } = await stage.open(rules, compatible)
      stage.now = 1_000_000
      await inside.count('domain_key3_v_997200', `${2n ** 53n + 3n}`)
      const all = descriptor('key3=v', { hitsAddend: 2 ** 60, isNegativeHits: true })
      const { statuses } = await client.decide(requestFor('domain', all))
      assert.equal(statuses[0]?.limitRemaining, 9)
      assert.deepEqual(await inside.counters(), { domain_key3_v_997200: 0 })
    },
  },
]
