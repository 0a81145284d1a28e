/**
 * @legs safety
 * @servers redis
 * @slow
 */

import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { status } from '@portcullis/grpc-unary'
import { open } from '@portcullis/test-servers'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient, readStatistics, toResponse } from '../support/service-client.ts'
import { isUnsent, openLoad } from '../support/service-load.ts'
import { launchService, startService, until } from '../support/service-process.ts'
import { isAlive, listChildren, startWorkers } from './support/workers.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 4000000000 } }]\n'
const request = requestFor('d', descriptor('k=v'))

async function untilGone(pids: readonly number[]): Promise<void> {
  await until(
    () => !pids.some(isAlive),
    () => `the workers ${pids} have exited`,
  )
}

test('by default there is a worker per core, and each message is logged once', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const service = await startService(t, {
    rules,
    // As if it were not set.
    env: { KVSTORE_URL: `127.0.0.1:${redis.port}`, WORKERS: '', LOG_LEVEL: 'debug' },
  })
  const children = await listChildren(service)
  assert.equal(children.length, availableParallelism() === 1 ? 0 : availableParallelism())
  assert.equal(await service.stop(), 0)
  await untilGone(children)
  const messages = service.log
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^time="[^"]*" /, ''))
  assert.ok(messages.includes('level=debug msg="loading domain: d"'), service.log)
  assert.deepEqual(messages, [...new Set(messages)])
})

test('with WORKERS=1 there is only one process', async (t) => {
  const service = await startWorkers(t, 1, { rules })
  if (!service) return
  assert.deepEqual(await listChildren(service), [])
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} to all processes at once, under load, loses no call`, async (t) => {
    const service = await startWorkers(t, 2, { rules })
    if (!service) return
    const load = await openLoad(t, service, { clients: 20, toRequest: () => request })
    await until(
      () => load.calls.length > 500,
      () => 'there was load',
    )
    const children = await listChildren(service)
    service.signal(signal)
    for (const pid of children) process.kill(pid, signal)
    assert.equal(await service.ended, 0, service.log)
    await load.stop()
    const lost = load.calls.filter((call) => call.code !== status.OK && !isUnsent(call))
    assert.deepEqual(lost, [])
    assert.deepEqual(children.filter(isAlive), [])
    assert.equal(service.log.match(new RegExp(`Received ${signal}`, 'g'))?.length, 1)
    assert.doesNotMatch(service.log, /level=(?:error|fatal)/)
  })
}

/** Starts two workers whose calls wait for a Redis that does not answer. */
async function openWaiting(t: TestContext, env = {}) {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const service = await startService(t, {
    rules,
    env: {
      KVSTORE_URL: `127.0.0.1:${redis.port}`,
      KVSTORE_COMMAND_TIMEOUT: '60s',
      WORKERS: '2',
      ...env,
    },
  })
  const clients = await Promise.all(Array.from({ length: 4 }, () => openDecisionClient(t, service)))
  for (const { decide } of clients) await decide(request)
  redis.pause()
  t.after(() => redis.resume())
  const calls = clients.map((client) => client.tryDecide(request))
  const name = 'ratelimit_server.ShouldRateLimit.total_requests'
  await until(
    async () => (await readStatistics(service)).get(name) === 2 * clients.length,
    () => 'all calls arrived',
  )
  return { redis, service, calls, children: await listChildren(service) }
}

test('calls in progress are answered in all workers before the service exits', async (t) => {
  const waiting = await openWaiting(t)
  if (!waiting) return
  const { redis, service, calls, children } = waiting
  service.signal('SIGTERM')
  await until(
    () => service.log.includes('Received SIGTERM'),
    () => 'the signal arrived',
  )
  await wait(200)
  assert.equal(service.hasEnded, false)
  redis.resume()
  for (const answer of await Promise.all(calls)) assert.equal(toResponse(answer).overallCode, 1)
  assert.equal(await service.ended, 0)
  assert.deepEqual(children.filter(isAlive), [])
})

test('a second signal ends all processes immediately', async (t) => {
  const waiting = await openWaiting(t)
  if (!waiting) return
  const { service, calls, children } = waiting
  service.signal('SIGTERM')
  await until(
    () => service.log.includes('Received SIGTERM'),
    () => 'the signal arrived',
  )
  service.signal('SIGTERM')
  assert.equal(await service.ended, 143)
  for (const { code } of await Promise.all(calls)) assert.equal(code, status.UNAVAILABLE)
  await untilGone(children)
})

test('workers exit when their primary is killed, whatever they wait for', async (t) => {
  const waiting = await openWaiting(t)
  if (!waiting) return
  const { service, children } = waiting
  service.signal('SIGKILL')
  assert.equal(await service.ended, 'SIGKILL')
  await untilGone(children)

  // They also exit when the primary is killed during startup.
  const dead = await open(t, 'redis')
  if (!dead) return
  await dead.kill()
  const starting = await launchService(t, {
    rules,
    env: { KVSTORE_URL: `127.0.0.1:${dead.port}`, WORKERS: '2' },
  })
  await until(
    () => starting.log.includes('Waiting for Redis'),
    () => 'it waited for Redis',
  )
  const young = await listChildren(starting)
  assert.equal(young.length, 2)
  starting.signal('SIGKILL')
  await starting.ended
  await untilGone(young)
})

test('draining workers are unhealthy and keep serving, including new connections', async (t) => {
  const service = await startWorkers(t, 2, { rules, env: { DRAIN_DELAY: '60s' } })
  if (!service) return
  const clients = await Promise.all([
    openDecisionClient(t, service),
    openDecisionClient(t, service),
  ])
  service.signal('SIGTERM')
  await until(
    async () => (await fetch(`${service.httpUrl}/healthcheck`)).status === 500,
    () => 'it was unhealthy',
  )
  const service500 = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const answer = await fetch(`${service.httpUrl}/healthcheck`, {
        headers: { connection: 'close' },
      })
      return answer.status
    }),
  )
  assert.deepEqual(service500, [500, 500, 500, 500])
  for (const { decide } of [...clients, await openDecisionClient(t, service)]) {
    assert.equal((await decide(request)).overallCode, 1)
  }
  service.signal('SIGTERM')
  assert.equal(await service.ended, 143)
})

test('an error that keeps all workers from starting is logged once', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const KVSTORE_URL = `127.0.0.1:${redis.port}`
  const first = await startService(t, { rules })
  const port = first.grpcAddress.split(':').at(-1) ?? ''
  const cases: readonly [env: Record<string, string>, reason: RegExp][] = [
    [{ GRPC_PORT: port }, /Cannot listen for gRPC: the address is already in use .* Change GRPC_/],
    [
      {
        GRPC_SERVER_USE_TLS: 'true',
        GRPC_SERVER_TLS_CERT: '/nowhere/tls.crt',
        GRPC_SERVER_TLS_KEY: '/nowhere/tls.key',
      },
      /nowhere/,
    ],
  ]
  for (const [env, reason] of cases) {
    const second = await launchService(t, { rules, env: { KVSTORE_URL, WORKERS: '2', ...env } })
    assert.equal(await second.ended, 1)
    const lines = second.log.split('\n').filter((line) => /level=(?:error|fatal)/.test(line))
    assert.equal(lines.length, 1, second.log)
    assert.match(lines[0] ?? '', reason)
    assert.doesNotMatch(second.log, /^\s+at /m)
  }
  await redis.kill()
  const third = await launchService(t, {
    rules,
    env: {
      KVSTORE_URL,
      WORKERS: '2',
      KVSTORE_STARTUP_INITIAL_INTERVAL: '20ms',
      KVSTORE_STARTUP_MAX_ELAPSED_TIME: '200ms',
    },
  })
  assert.equal(await third.ended, 1)
  assert.match(third.log, /Giving up on Redis/)
  assert.equal(third.log.split('level=fatal').length, 2, third.log)
})

test('a service can be stopped while its workers start', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  await redis.kill()
  const service = await launchService(t, {
    rules,
    env: { KVSTORE_URL: `127.0.0.1:${redis.port}`, WORKERS: '2' },
  })
  await until(
    () => service.log.includes('Waiting for Redis'),
    () => 'it waited for Redis',
  )
  const children = await listChildren(service)
  service.signal('SIGTERM')
  assert.equal(await service.ended, 0, service.log)
  assert.doesNotMatch(service.log, /Listening|level=(?:error|fatal)/)
  assert.deepEqual(children.filter(isAlive), [])
})
