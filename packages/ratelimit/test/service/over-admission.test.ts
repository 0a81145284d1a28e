import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { OK, type RateLimitRequest } from '../../src/protocol/message.ts'
import { ask, descriptor } from '../support/decider.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { type RunningService, startService } from '../support/service-process.ts'

/** Limit per second → how often one request asks about it. */
const limits = new Map([
  [1, 1],
  [7, 2],
  [100, 10],
  [10_000, 150],
])
const clientCount = 50
const patienceMs = 30_000

const rules = [
  'domain: d',
  'descriptors:',
  // Its time until reset tells in which second the service made the decision.
  '  - { key: clock, rate_limit: { unit: minute, requests_per_unit: 4294967295 } }',
  ...[...limits.keys()].map(
    (limit) => `  - { key: l${limit}, rate_limit: { unit: second, requests_per_unit: ${limit} } }`,
  ),
  '',
].join('\n')

const copies = [...limits].flatMap(([limit, times]) => Array.from({ length: times }, () => limit))
const request: RateLimitRequest = ask(
  'd',
  descriptor('clock=v'),
  ...copies.map((limit) => descriptor(`l${limit}=v`)),
)

/** Hits of one limit in one second. */
interface Window {
  asked: number
  admitted: number
}

/** Asks with all clients at once until every limit was passed in some second, and two more began. */
async function askUntilOver(t: TestContext, services: readonly RunningService[]) {
  const windows = new Map<number, Map<number, Window>>(
    [...limits.keys()].map((l) => [l, new Map()]),
  )
  const secondsSeen = new Set<number>()
  const giveUpMs = performance.now() + patienceMs
  const isDone = () =>
    secondsSeen.size >= 3 &&
    [...windows].every(([limit, all]) => [...all.values()].some(({ asked }) => asked > limit))

  const runClient = async (index: number) => {
    const service = services[index % services.length]
    assert.ok(service)
    const { decide } = await openDecisionClient(t, service)
    while (!isDone() && performance.now() < giveUpMs) {
      const { statuses } = await decide(request)
      const [clock, ...others] = statuses
      assert.equal(others.length, copies.length)
      const second = clock?.resetSeconds ?? 0
      secondsSeen.add(second)
      for (const [at, { code }] of others.entries()) {
        const ofLimit = windows.get(copies[at] ?? 0)
        const window = ofLimit?.get(second) ?? { asked: 0, admitted: 0 }
        ofLimit?.set(second, window)
        window.asked += 1
        if (code === OK) window.admitted += 1
      }
    }
  }
  await Promise.all(Array.from({ length: clientCount }, (_, index) => runClient(index)))
  assert.ok(isDone(), 'too slow to pass every limit within a second')
  return windows
}

function assertExact(windows: ReadonlyMap<number, ReadonlyMap<number, Window>>): void {
  for (const [limit, ofLimit] of windows) {
    for (const { asked, admitted } of ofLimit.values()) {
      assert.equal(admitted, Math.min(asked, limit), `limit ${limit}, ${asked} hits in a second`)
    }
  }
}

test('three services on one Redis admit exactly the limit in every second', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const env = { KVSTORE_URL: `127.0.0.1:${redis.port}` }
  const services = await Promise.all(
    Array.from({ length: 3 }, () => startService(t, { rules, env })),
  )
  assertExact(await askUntilOver(t, services))
})

test('a service that counts in memory admits exactly the limit in every second', async (t) => {
  const service = await startService(t, { rules })
  assertExact(await askUntilOver(t, [service]))
})
