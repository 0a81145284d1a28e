/**
 * @legs safety, endurance
 * @servers redis
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { open } from '@portcullis/test-servers'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import { OK, type RateLimitRequest } from '../../src/protocol/message.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { type RunningService, startService } from '../support/service-process.ts'

/** Limit per second → number of descriptors for it in one request. */
type Limits = ReadonlyMap<number, number>
const fixedLimits: Limits = new Map([
  [1, 1],
  [7, 2],
  [100, 10],
  // 150 hits per request, because a busy machine cannot handle more requests.
  [enduranceOr(10_000, 2_000), 150],
])
const slidingLimits: Limits = new Map([
  [1, 1],
  [7, 2],
  [100, 10],
])
const clientCount = 50
/** The longest pause between two requests of a client: in CI a few requests per second exceed every limit. */
const pauseMs = enduranceOr(0, 100)
/** The time limit for a machine that is too slow to exceed every limit within a second. */
const patienceMs = 120_000
const daySeconds = 86_400

function toRules(limits: Limits, algorithm: string): string {
  return [
    'domain: d',
    'descriptors:',
    // Its time until reset shows in which second the service made the decision.
    '  - { key: clock, rate_limit: { unit: day, requests_per_unit: 4294967295 } }',
    ...[...limits.keys()].map(
      (limit) =>
        `  - { key: l${limit}, rate_limit: ` +
        `{ unit: second, requests_per_unit: ${limit}, algorithm: ${algorithm} } }`,
    ),
    '',
  ].join('\n')
}

function listCopies(limits: Limits): number[] {
  return [...limits].flatMap(([limit, times]) => Array.from({ length: times }, () => limit))
}

/** Hits of one limit in one second. */
interface Window {
  requested: number
  admitted: number
}

/**
 * Makes requests with all clients until every limit was exceeded in some second, and for two more seconds.
 */
async function requestUntilOver(
  t: TestContext,
  limits: Limits,
  services: readonly RunningService[],
) {
  const copies = listCopies(limits)
  const request: RateLimitRequest = requestFor(
    'd',
    descriptor('clock=v'),
    ...copies.map((limit) => descriptor(`l${limit}=v`)),
  )
  const windows = new Map<number, Map<number, Window>>(
    [...limits.keys()].map((l) => [l, new Map()]),
  )
  const secondsSeen = new Set<number>()
  const giveUpMs = performance.now() + patienceMs
  const isDone = () =>
    secondsSeen.size >= 3 &&
    [...windows].every(([limit, all]) =>
      [...all.values()].some(({ requested }) => requested > limit),
    )

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
        const window = ofLimit?.get(second) ?? { requested: 0, admitted: 0 }
        ofLimit?.set(second, window)
        window.requested += 1
        if (code === OK) window.admitted += 1
      }
      if (pauseMs > 0) await wait(Math.random() * pauseMs)
    }
  }
  await Promise.all(Array.from({ length: clientCount }, (_, index) => runClient(index)))
  assert.ok(isDone(), 'too slow to exceed every limit within a second')
  return windows
}

type Windows = Awaited<ReturnType<typeof requestUntilOver>>

function assertExact(windows: Windows): void {
  for (const [limit, ofLimit] of windows) {
    for (const { requested, admitted } of ofLimit.values()) {
      assert.equal(
        admitted,
        Math.min(requested, limit),
        `limit ${limit}, ${requested} hits in a second`,
      )
    }
  }
}

/** The first second is exact; in the others the previous one makes room only gradually. */
function assertSliding(windows: Windows): void {
  for (const [limit, ofLimit] of windows) {
    // The clock is the number of seconds until midnight, at which it starts again.
    const [[seen] = [0]] = ofLimit
    const toPlace = (left: number) => (seen - left + 1.5 * daySeconds) % daySeconds
    const inOrder = [...ofLimit]
      .sort(([a], [b]) => toPlace(a) - toPlace(b))
      .map(([, window]) => window)
    const [first, ...others] = inOrder
    assert.ok(first)
    assert.equal(first.admitted, Math.min(first.requested, limit), `limit ${limit}, first second`)
    for (const { requested, admitted } of others) {
      assert.ok(admitted <= limit, `limit ${limit}, ${admitted} of ${requested} hits in a second`)
    }
  }
}

async function startThree(t: TestContext, rules: string): Promise<RunningService[] | undefined> {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  // A call that timed out on a busy machine may have been counted, so the timeout is long.
  const env = { KVSTORE_URL: `127.0.0.1:${redis.port}`, KVSTORE_COMMAND_TIMEOUT: '30s' }
  return Promise.all(Array.from({ length: 3 }, () => startService(t, { rules, env })))
}

test('three services with one Redis allow exactly the limit in every second', async (t) => {
  const services = await startThree(t, toRules(fixedLimits, 'fixed_window'))
  if (services) assertExact(await requestUntilOver(t, fixedLimits, services))
})

test('four workers of one service allow exactly the limit in every second', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const service = await startService(t, {
    rules: toRules(fixedLimits, 'fixed_window'),
    env: {
      KVSTORE_URL: `127.0.0.1:${redis.port}`,
      KVSTORE_COMMAND_TIMEOUT: '30s',
      WORKERS: '4',
    },
  })
  assertExact(await requestUntilOver(t, fixedLimits, [service]))
})

test('a service that counts in memory allows exactly the limit in every second', async (t) => {
  const service = await startService(t, { rules: toRules(fixedLimits, 'fixed_window') })
  assertExact(await requestUntilOver(t, fixedLimits, [service]))
})

test('three services with one Redis allow no more than a sliding limit in any second', async (t) => {
  const services = await startThree(t, toRules(slidingLimits, 'sliding_window'))
  if (services) assertSliding(await requestUntilOver(t, slidingLimits, services))
})

test('a service that counts in memory allows no more than a sliding limit in any second', async (t) => {
  const service = await startService(t, { rules: toRules(slidingLimits, 'sliding_window') })
  assertSliding(await requestUntilOver(t, slidingLimits, [service]))
})
