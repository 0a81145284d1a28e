import assert from 'node:assert/strict'
import { descriptor } from '../../support/decider.ts'
import { readStatistics } from '../../support/service-client.ts'
import { domain, limit, type OpenStage, type Scenario, toBrief } from './scenario.ts'

async function callSevenTimes({ decide }: OpenStage, hitsAddend = 1): Promise<void> {
  for (let call = 0; call < 7; call += 1) await decide(descriptor('k=v', { hitsAddend }))
}

export const modes: readonly Scenario[] = [
  {
    name: 'a rule in shadow mode counts like any other and never refuses',
    async run(stage) {
      const shadow = await stage.open(domain(limit('k', 3, 'hour', 'shadow_mode: true')), {
        CACHE_KEY_PREFIX: 'shadow',
      })
      const plain = await stage.open(domain(limit('k', 3)))
      await callSevenTimes(shadow, 2)
      await callSevenTimes(plain, 2)
      const { overallCode, statuses } = await shadow.decide(descriptor('k=v'))
      assert.deepEqual([overallCode, ...statuses.map(toBrief)], [1, 'OK 0'])
      await plain.decide(descriptor('k=v'))
      const { shadow_mode: overridden, ...others } = await shadow.statistics('d.k')
      assert.deepEqual(others, await plain.statistics('d.k'))
      assert.equal(overridden, others['over_limit'])
      const names = await readStatistics(shadow.service)
      assert.equal(names.get('ratelimit.service.global_shadow_mode'), 0)
    },
  },
  {
    name: 'global shadow mode makes every status OK, and counts by rule and by request',
    async run(stage) {
      const open = await stage.open(domain(limit('k', 3), limit('l', 3)), { SHADOW_MODE: 'true' })
      await callSevenTimes(open)
      const both = await open.decide(descriptor('k=v'), descriptor('l=v', { hitsAddend: 5 }))
      assert.deepEqual([both.overallCode, ...both.statuses.map(toBrief)], [1, 'OK 0', 'OK 0'])
      const { shadow_mode: ofK, over_limit: overK } = await open.statistics('d.k')
      const { shadow_mode: ofL, over_limit: overL } = await open.statistics('d.l')
      assert.deepEqual([ofK, overK, ofL, overL], [5, 5, 2, 2])
      const names = await readStatistics(open.service)
      assert.equal(names.get('ratelimit.service.global_shadow_mode'), 5)
    },
  },
  {
    name: 'quotas refuse a request only if all of them are exceeded',
    async run(stage) {
      const quota = 'quota_mode: true'
      const { decide } = await stage.open(
        domain(limit('a', 1, 'hour', quota), limit('b', 2, 'hour', quota), limit('c', 4)),
      )
      const codes: [number, ...string[]][] = []
      for (let call = 0; call < 3; call += 1) {
        const { overallCode, statuses } = await decide(descriptor('a=v'), descriptor('b=v'))
        codes.push([overallCode, ...statuses.map(toBrief)])
      }
      assert.deepEqual(codes, [
        [1, 'OK 0', 'OK 1'],
        [1, 'OVER 0', 'OK 0'],
        [2, 'OVER 0', 'OVER 0'],
      ])
      // A rule without a quota refuses on its own, and so does a single quota.
      const mixed = await decide(descriptor('b=fresh'), descriptor('c=v', { hitsAddend: 5 }))
      assert.equal(mixed.overallCode, 2)
      assert.equal((await decide(descriptor('a=v'))).overallCode, 2)
      assert.equal((await decide(descriptor('a=v'), descriptor('c=w'))).overallCode, 2)
    },
  },
  {
    name: 'with QUOTA_MODE a descriptor without a rule counts as a quota that is not exceeded',
    async run(stage) {
      const { decide } = await stage.open(domain(limit('a', 0)), { QUOTA_MODE: 'true' })
      assert.equal((await decide(descriptor('a=v'), descriptor('free=v'))).overallCode, 1)
      assert.equal((await decide(descriptor('a=v'))).overallCode, 2)
    },
  },
  {
    name: 'headers report the exceeded limit, or else the one with the least remaining',
    async run(stage) {
      const rules = domain(limit('a', 10), limit('b', 5), limit('c', 5), limit('z', 0, 'minute'))
      const { decide } = await stage.open(rules, {
        LIMIT_RESPONSE_HEADERS_ENABLED: 'true',
        LIMIT_LIMIT_HEADER: 'X-Limit',
      })
      const headers = async (...names: string[]) => {
        const asked = names.map((name) => descriptor(`${name}=v`, { hitsAddend: 1 }))
        const { responseHeadersToAdd: all } = await decide(...asked)
        return all.map(({ key, value }) => `${key} ${value}`)
      }
      const reset = (unit: number) => `RateLimit-Reset ${unit - (stage.now % unit)}`
      assert.deepEqual(await headers('a', 'b', 'c'), [
        'X-Limit 5',
        'RateLimit-Remaining 4',
        reset(3_600),
      ])
      assert.deepEqual(await headers('z', 'b', 'none'), [
        'X-Limit 0',
        'RateLimit-Remaining 0',
        reset(60),
      ])
      assert.deepEqual(await headers('none'), [])
    },
  },
  {
    name: 'dynamic metadata contains the request and the metadata of the rules that allowed it',
    async run(stage) {
      const { decide, client } = await stage.open(
        domain(
          limit('a', 9, 'hour', 'metadata: { tier: gold, flags: { first: true } }'),
          limit('b', 9, 'hour', 'metadata: { tier: silver, flags: { second: 2 } }'),
          limit('z', 0, 'hour', 'metadata: { refused: true }'),
        ),
        { RESPONSE_DYNAMIC_METADATA: 'true' },
      )
      const sent = { requestsPerUnit: 4, unit: 2 }
      const { dynamicMetadata } = await client.decide({
        domain: 'd',
        hitsAddend: 3,
        descriptors: [
          descriptor('a=1', { hitsAddend: 2 }),
          descriptor('b=2', 'c=3'),
          descriptor('b=2'),
          descriptor('z=4'),
          descriptor('o=5', { limit: sent }),
        ],
      })
      assert.deepEqual(dynamicMetadata, {
        domain: 'd',
        hitsAddend: 3,
        descriptors: [
          { entries: ['a=1'], hitsAddend: 2 },
          { entries: ['b=2', 'c=3'] },
          { entries: ['b=2'] },
          { entries: ['z=4'] },
          { entries: ['o=5'], limit: 'requests_per_unit:4 unit:MINUTE' },
        ],
        metadata: { tier: 'gold', flags: { first: true, second: 2 } },
      })
      const { dynamicMetadata: bare } = await decide(descriptor('none=1'))
      assert.deepEqual(bare, { domain: 'd', descriptors: [{ entries: ['none=1'] }] })
    },
  },
]
