import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Descriptor } from '../../../src/protocol/message.ts'
import { descriptor, requestFor } from '../../support/decider.ts'
import { domain, limit, type Scenario, toBrief } from './scenario.ts'

/** Hits of the request, hits of the descriptor → counted hits. */
const addends: readonly (readonly [number, number | undefined, number])[] = [
  [0, undefined, 1],
  [5, undefined, 5],
  [0, 0, 0],
  [5, 0, 0],
  [5, 7, 7],
  [0, 7, 7],
  [4_294_967_295, 1, 1],
]

export const hits: readonly Scenario[] = [
  {
    name: 'exactly the first hits up to the limit are allowed, and each reduces the remaining hits by one',
    async run(stage) {
      const { brief } = await stage.open(domain(limit('k', 5)))
      const answers: string[] = []
      for (let call = 0; call < 8; call += 1) answers.push(...(await brief(descriptor('k=v'))))
      assert.deepEqual(answers, [
        'OK 4',
        'OK 3',
        'OK 2',
        'OK 1',
        'OK 0',
        'OVER 0',
        'OVER 0',
        'OVER 0',
      ])
    },
  },
  {
    name: 'the hits of a descriptor override those of the request, and the default is one',
    async run(stage) {
      const { client } = await stage.open(domain(limit('k', 100)))
      for (const [row, [request, own, expected]] of addends.entries()) {
        const asked = descriptor(`k=${row}`, { hitsAddend: own })
        const { statuses } = await client.decide({
          ...requestFor('d', asked),
          hitsAddend: request,
        })
        assert.equal(statuses[0]?.limitRemaining, 100 - expected, `row ${row}`)
      }
    },
  },
  {
    name: 'statistics stop at the highest exact number, whatever the hits are',
    async run(stage) {
      const { decide, statistics } = await stage.open(domain(limit('k', 5)))
      for (const hitsAddend of [2 ** 53, 2 ** 60, 1])
        await decide(descriptor('k=v', { hitsAddend }))
      const { total_hits: hits, over_limit: over } = await statistics('d.k')
      assert.deepEqual([hits, over], [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])
    },
  },
  {
    name: '0 hits change nothing, and are refused only above the limit',
    async run(stage) {
      const { brief } = await stage.open(domain(limit('k', 2)))
      const read = descriptor('k=v', { hitsAddend: 0 })
      assert.deepEqual(await brief(read), ['OK 2'])
      await brief(descriptor('k=v', { hitsAddend: 2 }))
      assert.deepEqual([...(await brief(read)), ...(await brief(read))], ['OK 0', 'OK 0'])
      await brief(descriptor('k=v'))
      assert.deepEqual(await brief(read), ['OVER 0'])
    },
  },
  {
    name: 'a call that exceeds the limit is refused as a whole, but counted',
    async run(stage) {
      const { brief } = await stage.open(domain(limit('k', 10)))
      assert.deepEqual(await brief(descriptor('k=v', { hitsAddend: 8 })), ['OK 2'])
      assert.deepEqual(await brief(descriptor('k=v', { hitsAddend: 3 })), ['OVER 0'])
      assert.deepEqual(await brief(descriptor('k=v')), ['OVER 0'])
    },
  },
  {
    name: 'a limit of 0 refuses every hit',
    async run(stage) {
      const { brief, statistics } = await stage.open(domain(limit('k', 0)))
      assert.deepEqual(await brief(descriptor('k=v')), ['OVER 0'])
      assert.deepEqual(await brief(descriptor('k=v', { hitsAddend: 0 })), ['OVER 0'])
      assert.deepEqual(await statistics('d.k'), { total_hits: 1, over_limit: 1 })
    },
  },
  {
    name: 'a refund subtracts hits, never goes below 0, and is not a hit',
    async run(stage) {
      const { brief, statistics } = await stage.open(domain(limit('k', 5)))
      const refund = (hitsAddend: number) => descriptor('k=v', { hitsAddend, isNegativeHits: true })
      assert.deepEqual(await brief(refund(3)), ['OK 5'])
      await brief(descriptor('k=v', { hitsAddend: 6 }))
      const before = await statistics('d.k')
      assert.deepEqual(await brief(descriptor('k=v', { hitsAddend: 0 })), ['OVER 0'])
      assert.deepEqual(await brief(refund(2)), ['OK 1'])
      assert.deepEqual(await brief(refund(100)), ['OK 5'])
      assert.deepEqual(await statistics('d.k'), before)
      assert.deepEqual(await brief(descriptor('k=v')), ['OK 4'])
    },
  },
  {
    name: 'other values, domains and prefixes are counted separately',
    async run(stage) {
      const rules = domain(limit('k', 3), limit('other', 3))
      const ours = await stage.open(rules)
      const theirs = await stage.open(rules.replace('domain: d', 'domain: e'))
      const prefixed = await stage.open(rules, { CACHE_KEY_PREFIX: 'p' })
      await ours.brief(descriptor('k=a', { hitsAddend: 3 }))
      assert.deepEqual(await ours.brief(descriptor('k=a'), descriptor('k=b')), ['OVER 0', 'OK 2'])
      assert.deepEqual(await ours.brief(descriptor('other=a')), ['OK 2'])
      assert.deepEqual(await prefixed.brief(descriptor('k=a')), ['OK 2'])
      const { statuses } = await theirs.client.decide(requestFor('e', descriptor('k=a')))
      assert.deepEqual(statuses.map(toBrief), ['OK 2'])
    },
  },
  {
    name: 'any sequence of hits and reads counts like a simple sum',
    async run(stage) {
      const requests = 20
      const { brief, statistics } = await stage.open(domain(limit('k', requests)))
      const model = { total_hits: 0, within_limit: 0, over_limit: 0, near_limit: 0 }
      let run = 0
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 8 }),
          async (calls) => {
            run += 1
            let count = 0
            for (const hitsAddend of calls) {
              const asked: Descriptor = descriptor(`k=${run}`, { hitsAddend })
              for (let hit = count + 1; hit <= count + hitsAddend; hit += 1) {
                model.total_hits += 1
                if (hit > requests) model.over_limit += 1
                else if (hit > 16) model.near_limit += 1
              }
              count += hitsAddend
              if (count <= requests) model.within_limit += hitsAddend
              const expected = count > requests ? 'OVER 0' : `OK ${requests - count}`
              assert.deepEqual(await brief(asked), [expected])
            }
          },
        ),
        { numRuns: 25 },
      )
      const seen = Object.entries(model).filter(([, value]) => value !== 0)
      assert.deepEqual(await statistics('d.k'), Object.fromEntries(seen))
    },
  },
]
