/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { status } from '@portcullis/grpc-unary'
import { open } from '@portcullis/test-servers'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient, readStatistics, toResponse } from '../support/service-client.ts'
import { isUnsent, openLoad } from '../support/service-load.ts'
import { startService, until } from '../support/service-process.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 4000000000 } }]\n'
const request = requestFor('d', descriptor('k=v'))

/** Longer than a busy machine needs, so that only hanging calls are cut off. */
const patience = { KVSTORE_COMMAND_TIMEOUT: '120s', DRAIN_TIMEOUT: '120s' }

/** A service whose calls wait for a Redis that is controlled by the test. */
async function openWaiting(t: TestContext, callCount: number, env = {}) {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const service = await startService(t, {
    rules,
    env: { ...patience, KVSTORE_URL: `127.0.0.1:${redis.port}`, ...env },
  })
  const client = await openDecisionClient(t, service)
  await client.decide(request)
  redis.pause()
  t.after(() => redis.resume())
  const calls = Array.from({ length: callCount }, () => client.tryDecide(request))
  const name = 'ratelimit_server.ShouldRateLimit.total_requests'
  await until(
    async () => (await readStatistics(service)).get(name) === callCount + 1,
    () => 'all calls arrived',
  )
  return { redis, service, client, calls }
}

test('calls in progress are answered before a stopped service exits', async (t) => {
  const waiting = await openWaiting(t, 50)
  if (!waiting) return
  const { redis, service, calls } = waiting
  service.signal('SIGTERM')
  await until(
    () => service.log.includes('Received SIGTERM'),
    () => 'the signal arrived',
  )
  await wait(200)
  assert.equal(service.hasEnded, false)
  redis.resume()
  for (const answer of await Promise.all(calls)) {
    assert.equal(toResponse(answer).overallCode, 1)
  }
  assert.equal(await service.ended, 0)
  assert.doesNotMatch(service.log, /level=(?:error|fatal)/)
})

test('a second signal ends the service immediately', async (t) => {
  const waiting = await openWaiting(t, 5)
  if (!waiting) return
  const { service, calls } = waiting
  service.signal('SIGTERM')
  await until(
    () => service.log.includes('Received SIGTERM'),
    () => 'the signal arrived',
  )
  service.signal('SIGTERM')
  assert.equal(await service.ended, 143)
  for (const { code } of await Promise.all(calls)) assert.equal(code, status.UNAVAILABLE)
})

test('calls that do not end are cut off when the drain timeout is over', async (t) => {
  const waiting = await openWaiting(t, 5, { DRAIN_TIMEOUT: '300ms' })
  if (!waiting) return
  const { service, calls } = waiting
  service.signal('SIGTERM')
  assert.equal(await service.ended, 0)
  assert.match(service.log, /did not drain within 300 ms/)
  await Promise.all(calls)
})

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} under load loses no call`, async (t) => {
    const redis = await open(t, 'redis')
    if (!redis) return
    const service = await startService(t, {
      rules,
      env: { ...patience, KVSTORE_URL: `127.0.0.1:${redis.port}` },
    })
    const load = await openLoad(t, service, { clients: 20, toRequest: () => request })
    await until(
      () => load.calls.length > 500,
      () => 'there was load',
    )
    // A client that keeps its connection open, such as a probe, must not delay the shutdown.
    await fetch(`${service.httpUrl}/healthcheck`)
    service.signal(signal)
    assert.equal(await service.ended, 0)
    assert.doesNotMatch(service.log, /did not drain/)
    await load.stop()
    const lost = load.calls.filter((call) => call.code !== status.OK && !isUnsent(call))
    assert.deepEqual(lost, [])
  })
}

test('a stopped service is unhealthy immediately, and serves until the drain delay is over', async (t) => {
  const service = await startService(t, { rules, env: { DRAIN_DELAY: '60s' } })
  const client = await openDecisionClient(t, service)
  await client.decide(request)
  assert.equal((await fetch(`${service.httpUrl}/healthcheck`)).status, 200)
  service.signal('SIGTERM')
  await until(
    () => service.log.includes('Received SIGTERM'),
    () => 'the signal arrived',
  )
  assert.equal((await fetch(`${service.httpUrl}/healthcheck`)).status, 500)
  const check = await client.call(
    '/grpc.health.v1.Health/Check',
    Buffer.concat([Uint8Array.of(0x0a, 9), Buffer.from('ratelimit')]),
  )
  assert.deepEqual([...check.response], [0x08, 2])
  const { decide } = await openDecisionClient(t, service)
  assert.equal((await decide(request)).overallCode, 1)
  service.signal('SIGTERM')
  assert.equal(await service.ended, 143)
})
