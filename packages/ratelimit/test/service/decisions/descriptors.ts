import assert from 'node:assert/strict'
import { descriptor, requestFor } from '../../support/decider.ts'
import { domain, limit, type Scenario, toBrief } from './scenario.ts'

const replacing = `
domain: d
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 10, name: per_user }
  - key: plan
    value: pro
    rate_limit: { unit: hour, requests_per_unit: 50, replaces: [{ name: per_user }] }
  - key: plan
    value: staff
    rate_limit: { unlimited: true, replaces: [{ name: per_user }] }
`

/** Several descriptors in one request, and how they affect each other. */
export const descriptors: readonly Scenario[] = [
  {
    name: 'any descriptor over its limit refuses the request, in any order',
    async run(stage) {
      const { decide } = await stage.open(domain(limit('a', 5), limit('z', 0)))
      const there = await decide(descriptor('a=v'), descriptor('z=v'), descriptor('none=v'))
      const back = await decide(descriptor('none=v'), descriptor('z=v'), descriptor('a=v'))
      assert.deepEqual(
        [there.overallCode, ...there.statuses.map(toBrief)],
        [2, 'OK 4', 'OVER 0', 'none'],
      )
      assert.deepEqual(
        [back.overallCode, ...back.statuses.map(toBrief)],
        [2, 'none', 'OVER 0', 'OK 3'],
      )
    },
  },
  {
    name: 'there is a status for every descriptor, however unusual',
    async run(stage) {
      const { client } = await stage.open(domain(limit('a', 5_000)))
      const strange = [
        descriptor(),
        descriptor('='),
        descriptor('a='),
        descriptor('=a'),
        descriptor('a=1', 'a=1'),
        ...Array.from({ length: 495 }, (_, index) => descriptor(`a=${index % 2}`)),
      ]
      const { overallCode, statuses } = await client.decide(requestFor('d', ...strange))
      assert.deepEqual([overallCode, statuses.length], [1, 500])
      assert.deepEqual(statuses.slice(0, 5).map(toBrief), [
        'none',
        'none',
        'OK 4999',
        'none',
        'none',
      ])
      // The same counter several times in one request is counted several times, in order.
      assert.equal(statuses.at(-1)?.limitRemaining, 5_000 - 248)
    },
  },
  {
    name: 'a rule limits only descriptors of its own depth',
    async run(stage) {
      const nested = `
domain: d
descriptors:
  - key: a
    rate_limit: { unit: hour, requests_per_unit: 5 }
    descriptors:
      - { key: b, value: x, rate_limit: { unit: hour, requests_per_unit: 7 } }
  - { key: free }
`
      const { brief } = await stage.open(nested)
      assert.deepEqual(await brief(descriptor('a=1')), ['OK 4'])
      assert.deepEqual(await brief(descriptor('a=1', 'b=x')), ['OK 6'])
      assert.deepEqual(await brief(descriptor('a=1', 'b=y')), ['none'])
      assert.deepEqual(await brief(descriptor('a=1', 'b=x', 'c=1')), ['none'])
      assert.deepEqual(await brief(descriptor('b=x')), ['none'])
      assert.deepEqual(await brief(descriptor('free=1')), ['none'])
      assert.deepEqual(await brief(descriptor('A=1')), ['none'])
    },
  },
  {
    name: 'every value has a separate counter, unless they share a threshold',
    async run(stage) {
      const { brief } = await stage.open(
        domain(limit('own/a*', 5), limit('all/a*', 5, 'hour', 'share_threshold: true')),
      )
      assert.deepEqual(await brief(descriptor('own=a1'), descriptor('own=a2')), ['OK 4', 'OK 4'])
      assert.deepEqual(await brief(descriptor('all=a1'), descriptor('all=a2')), ['OK 4', 'OK 3'])
    },
  },
  {
    name: 'a replaced limit is not applied and not counted',
    async run(stage) {
      const { brief, statistics } = await stage.open(replacing)
      await brief(descriptor('user=u', { hitsAddend: 7 }))
      const before = await stage.store.inside?.counters()
      const seen = await statistics('d.user')
      assert.deepEqual(await brief(descriptor('user=u'), descriptor('plan=pro')), ['none', 'OK 49'])
      assert.deepEqual(await brief(descriptor('plan=staff'), descriptor('user=u')), [
        'none 4294967295',
        'none',
      ])
      const after = await stage.store.inside?.counters()
      const key = Object.keys(before ?? {})[0] ?? ''
      assert.equal(after?.[key], before?.[key])
      assert.deepEqual(await statistics('d.user'), seen)
      assert.deepEqual(await brief(descriptor('user=u')), ['OK 2'])
    },
  },
  {
    name: 'an unlimited rule returns the largest number and does not use the store',
    async run(stage) {
      const { decide, statistics } = await stage.open(`
domain: d
descriptors:
  - { key: u, rate_limit: { unlimited: true } }
`)
      const before = await stage.store.inside?.commandCount()
      const { overallCode, statuses } = await decide(descriptor('u=v', { hitsAddend: 9 }))
      assert.deepEqual(
        [overallCode, statuses],
        [
          1,
          [
            {
              code: 1,
              currentLimit: undefined,
              limitRemaining: 4_294_967_295,
              resetSeconds: undefined,
            },
          ],
        ],
      )
      assert.equal(await stage.store.inside?.commandCount(), before)
      assert.deepEqual(await statistics('d.u'), { total_hits: 9, within_limit: 9 })
    },
  },
  {
    name: 'if one descriptor is refused, no other is counted, if configured',
    async run(stage) {
      const { brief, statistics } = await stage.open(
        domain(limit('a', 15), limit('b', 14), limit('s', 1, 'hour', 'shadow_mode: true')),
        { STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true' },
      )
      const both = (hitsAddend: number) =>
        brief(descriptor('a=v', { hitsAddend }), descriptor('b=v', { hitsAddend }))
      assert.deepEqual(await both(13), ['OK 2', 'OK 1'])
      assert.deepEqual(await both(2), ['OK 2', 'OVER 0'])
      assert.deepEqual(await brief(descriptor('a=v')), ['OK 1'])
      assert.deepEqual(await statistics('d.a'), { total_hits: 16, within_limit: 16, near_limit: 3 })
      // A rule that cannot refuse does not stop the others.
      const shadow = descriptor('s=v', { hitsAddend: 5 })
      assert.deepEqual(await brief(shadow, descriptor('a=v')), ['OK 0', 'OK 0'])
    },
  },
  {
    name: 'all descriptors are counted if each has room, if configured',
    async run(stage) {
      const { brief } = await stage.open(domain(limit('a', 3), limit('b', 3)), {
        STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true',
      })
      const both = () => brief(descriptor('a=v'), descriptor('b=v'))
      assert.deepEqual(await both(), ['OK 2', 'OK 2'])
      assert.deepEqual(await both(), ['OK 1', 'OK 1'])
    },
  },
]
