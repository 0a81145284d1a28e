import assert from 'node:assert/strict'
import type { LimitOverride } from '../../../src/protocol/message.ts'
import { descriptor, requestFor } from '../../support/decider.ts'
import { readStatistics } from '../../support/service-client.ts'
import { domain, limit, type Scenario } from './scenario.ts'

const perHour = (requestsPerUnit: number): LimitOverride => ({ requestsPerUnit, unit: 3 })

export const overrides: readonly Scenario[] = [
  {
    name: 'a limit in the request needs no rule, and has separate statistics',
    async run(stage) {
      const { decide, brief, statistics } = await stage.open(domain(limit('k', 5)))
      const sent = descriptor('x=1', 'y=', { limit: perHour(2) })
      const { statuses } = await decide(sent)
      assert.deepEqual(statuses[0]?.currentLimit, { requestsPerUnit: 2, unit: 3, name: '' })
      assert.deepEqual([...(await brief(sent)), ...(await brief(sent))], ['OK 0', 'OVER 0'])
      const { total_hits: hits, over_limit: over } = await statistics('d.x_1.y')
      assert.deepEqual([hits, over], [3, 1])
    },
  },
  {
    name: 'empty entries before the first named one are not part of its statistics name',
    async run(stage) {
      const { decide, statistics } = await stage.open(domain(limit('k', 5)))
      await decide(descriptor('=', '=', 'x=1', '=', 'y=', { limit: perHour(2) }))
      assert.equal((await statistics('d.x_1..y'))['total_hits'], 1)
    },
  },
  {
    name: 'a limit in the request shares the counter of the rule that it overrides',
    async run(stage) {
      const { brief } = await stage.open(domain(limit('k', 5)))
      await brief(descriptor('k=v', { hitsAddend: 4 }))
      assert.deepEqual(await brief(descriptor('k=v', { limit: perHour(100) })), ['OK 95'])
      assert.deepEqual(await brief(descriptor('k=v')), ['OVER 0'])
      assert.deepEqual(await brief(descriptor('k=v', { limit: perHour(100) })), ['OK 93'])
    },
  },
  {
    name: 'a limit in the request has no effect for an unknown domain',
    async run(stage) {
      const { client, service } = await stage.open(domain(limit('k', 5)))
      const { overallCode, statuses } = await client.decide(
        requestFor('nowhere', descriptor('k=v', { limit: perHour(0) }), descriptor('k=v')),
      )
      assert.deepEqual([overallCode, statuses.length], [1, 2])
      assert.ok(statuses.every(({ currentLimit }) => currentLimit === undefined))
      const name = 'ratelimit.service.rate_limit.nowhere.domain_not_found'
      assert.equal((await readStatistics(service)).get(name), 2)
    },
  },
  {
    name: 'every unit has its number, and with an unknown one the rule applies',
    async run(stage) {
      const { decide, service } = await stage.open(domain(limit('k', 5)))
      const unitOf = async (unit: number) => {
        const sent = descriptor(`k=${unit}`, { limit: { requestsPerUnit: 9, unit } })
        const { statuses } = await decide(sent)
        return [statuses[0]?.currentLimit?.requestsPerUnit, statuses[0]?.currentLimit?.unit]
      }
      for (const unit of [1, 2, 3, 4, 5, 6, 7]) assert.deepEqual(await unitOf(unit), [9, unit])
      for (const unit of [0, 8, 9, -1, 2 ** 31 - 1, -(2 ** 31)]) {
        assert.deepEqual(await unitOf(unit), [5, 3], `unit ${unit}`)
      }
      const complaints = service.log.filter((line) => line.includes('unknown unit'))
      assert.equal(complaints.length, 1)
    },
  },
]
