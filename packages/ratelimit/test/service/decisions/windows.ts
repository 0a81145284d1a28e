import assert from 'node:assert/strict'
import { descriptor } from '../../support/decider.ts'
import { domain, limit, type Scenario } from './scenario.ts'

const cached = { LOCAL_CACHE_SIZE_IN_BYTES: '1000000' }

/** The end of windows, and the local cache. */
export const windows: readonly Scenario[] = [
  ...(['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const).map(
    (unit): Scenario => ({
      name: `a new ${unit} starts at 0, whatever was counted in the last`,
      async run(stage) {
        const { brief, decide } = await stage.open(domain(limit('k', 2, unit)))
        const first = await decide(descriptor('k=v', { hitsAddend: 3 }))
        assert.equal(first.overallCode, 2)
        const left = first.statuses[0]?.resetSeconds ?? 0
        stage.now += left - 1
        const last = await decide(descriptor('k=v', { hitsAddend: 0 }))
        assert.deepEqual([last.overallCode, last.statuses[0]?.resetSeconds], [2, 1])
        stage.now += 1
        assert.deepEqual(await brief(descriptor('k=v')), ['OK 1'])
      },
    }),
  ),
  {
    name: 'a refused key is cached for its window, and the store is not called again',
    async run(stage) {
      const { brief, statistics } = await stage.open(domain(limit('k', 1)), cached)
      await brief(descriptor('k=v', { hitsAddend: 2 }))
      const before = await stage.store.inside?.commandCount()
      for (let call = 0; call < 5; call += 1) {
        assert.deepEqual(await brief(descriptor('k=v')), ['OVER 0'])
      }
      assert.equal(await stage.store.inside?.commandCount(), before)
      assert.deepEqual(await statistics('d.k'), {
        total_hits: 7,
        over_limit: 6,
        near_limit: 1,
        over_limit_with_local_cache: 5,
      })
      stage.now += 3_600
      assert.deepEqual(await brief(descriptor('k=v')), ['OK 0'])
    },
  },
  {
    name: 'a refund removes a refused key from the cache',
    async run(stage) {
      const { brief } = await stage.open(domain(limit('k', 2)), cached)
      await brief(descriptor('k=v', { hitsAddend: 3 }))
      assert.deepEqual(await brief(descriptor('k=v', { hitsAddend: 0 })), ['OVER 0'])
      const refund = descriptor('k=v', { hitsAddend: 2, isNegativeHits: true })
      assert.deepEqual(await brief(refund), ['OK 1'])
      assert.deepEqual(await brief(descriptor('k=v')), ['OK 0'])
    },
  },
  {
    name: 'if a key is refused by the cache, the others are not counted, if configured',
    async run(stage) {
      const { brief } = await stage.open(domain(limit('a', 9), limit('z', 0)), {
        ...cached,
        STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true',
      })
      await brief(descriptor('z=v'))
      assert.deepEqual(await brief(descriptor('a=v'), descriptor('z=v')), ['OK 9', 'OVER 0'])
      assert.deepEqual(await brief(descriptor('a=v')), ['OK 8'])
    },
  },
  {
    name: 'a key that was refused with a low limit is allowed with a higher one immediately',
    async run(stage) {
      const { brief, service } = await stage.open(domain(limit('k', 1)), cached)
      await brief(descriptor('k=v', { hitsAddend: 2 }))
      assert.deepEqual(await brief(descriptor('k=v')), ['OVER 0'])
      const higher = { requestsPerUnit: 10, unit: 3 }
      assert.deepEqual(await brief(descriptor('k=v', { limit: higher })), ['OK 7'])
      await service.rules.replace(domain(limit('k', 20)))
      for (let tries = 0; tries < 6_000; tries += 1) {
        const [answer] = await brief(descriptor('k=v', { hitsAddend: 0 }))
        if (answer === 'OK 17') return
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      assert.fail('the raised limit had no effect')
    },
  },
  {
    name: 'a clock that is set back or forward breaks nothing',
    async run(stage) {
      const { decide } = await stage.open(domain(limit('k', 5, 'minute'), limit('s', 5, 'second')))
      const start = stage.now
      for (const leap of [0, -1, -86_400, 86_400, -3_600 * 24 * 365, 3_600 * 24 * 3_650, 0]) {
        stage.now = start + leap
        const { statuses } = await decide(descriptor('k=v'), descriptor('s=v'))
        const [minute, second] = statuses.map(({ resetSeconds = 0 }) => resetSeconds)
        assert.ok(minute !== undefined && minute >= 1 && minute <= 60, `leap ${leap}: ${minute}`)
        assert.equal(second, 1)
      }
    },
  },
]
