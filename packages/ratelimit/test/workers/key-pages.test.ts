/**
 * @legs safety
 * @servers redis
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CounterState } from '../../src/transports/debug/key-access.ts'
import type { TopAnswer } from '../../src/transports/debug/key-texts.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { startWorkers, untilConnections } from './support/workers.ts'

const rules = `domain: shop
descriptors:
  - { key: user, rate_limit: { unit: day, requests_per_unit: 3 } }
`

test('/top is the sum of all workers, and a reset takes effect in all of them', async (t) => {
  const env = { LOCAL_CACHE_SIZE_IN_BYTES: '1000000' }
  const service = await startWorkers(t, 2, { rules, env })
  if (!service) return
  const clients = await Promise.all([1, 2].map(() => openDecisionClient(t, service)))
  await untilConnections(service, 'grpc', [1, 1])
  const ada = requestFor('shop', descriptor('user=ada'))
  for (const { decide } of clients) {
    for (let i = 0; i < 5; i += 1) await decide(ada)
    await decide(requestFor('shop', descriptor('user=bob')))
  }
  const read = async <Body>(path: string, method = 'GET') => {
    const headers = { accept: 'application/json' }
    const response = await fetch(`${service.debugUrl}${path}`, { method, headers })
    assert.equal(response.status, 200, path)
    return (await response.json()) as Body
  }
  const top = await read<TopAnswer>('/top?by=calls')
  assert.deepEqual(
    top.keys.map(({ entries, hits, limited, rule }) => [entries[0]?.value, hits, limited, rule]),
    [
      ['ada', 10, 7, 'shop.user'],
      ['bob', 2, 0, 'shop.user'],
    ],
  )
  // Both workers have cached that the counter is over its limit.
  const counter = 'domain=shop&key=user&value=ada'
  const before = await read<CounterState>(`/counter?${counter}`)
  assert.deepEqual([before.store, before.remaining, before.isOver], ['redis', 0, true])
  const after = await read<CounterState>(`/counter/reset?${counter}`, 'POST')
  assert.deepEqual([after.hits, after.remaining], [0, 3])
  for (const { decide } of clients) assert.equal((await decide(ada)).overallCode, 1)

  const refused = await fetch(`${service.debugUrl}/counter?domain=nowhere&key=a&value=b`)
  assert.equal(refused.status, 404)
  assert.match(await refused.text(), /^There are no rules for the domain "nowhere"/)
})
