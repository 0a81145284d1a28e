/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { open, type RedisServer } from '@portcullis/test-servers'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient, postJson, readStatistics } from '../support/service-client.ts'
import { type Load, openLoad } from '../support/service-load.ts'
import {
  readMegabytes,
  type ServiceOptions,
  startService,
  until,
} from '../support/service-process.ts'

const rules = `
domain: d
descriptors:
  - { key: day, rate_limit: { unit: day, requests_per_unit: 4294967295 } }
  - { key: second, rate_limit: { unit: second, requests_per_unit: 4294967295 } }
`
const body = '{"domain":"d","descriptors":[{"entries":[{"key":"day","value":"v"}]}]}'

/** Only a call that hangs takes this long. */
const hangMs = 120_000
const patient = '60S'

const addressOf = ({ port }: RedisServer) => `127.0.0.1:${port}`

/** @param start - starts a separate process, if that matters, or a service in this process */
async function openOutage<Service extends { readonly grpcAddress: string }>(
  t: TestContext,
  start: (t: TestContext, options: ServiceOptions) => Promise<Service>,
) {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  const service = await start(t, {
    rules,
    env: { KVSTORE_URL: addressOf(redis), KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: 'true' },
  })
  const headers = { 'grpc-timeout': patient }
  const load = await openLoad(t, service, {
    clients: 16,
    toRequest: () => requestFor('d', descriptor('day=v')),
    pauseMs: 5,
    callOptions: { headers },
  })
  await until(
    () => load.calls.some(isOk),
    () => 'a first call succeeded',
  )
  const setTimeout = (timeout: string) => {
    headers['grpc-timeout'] = timeout
  }
  return { redis, service, load, setTimeout }
}

const isOk = ({ code }: { readonly code: number }) => code === status.OK
const isHealthy = async ({ httpUrl }: { readonly httpUrl: string }) =>
  (await fetch(`${httpUrl}/healthcheck`)).status === 200

/** Waits until new calls fail, with a reason. */
async function untilFailing(load: Load): Promise<void> {
  const from = performance.now()
  await until(
    () => load.since(from).some((call) => !isOk(call)),
    () => 'a call failed',
  )
}

async function untilRecovered(load: Load, what: string): Promise<void> {
  const from = performance.now()
  await until(
    () => load.since(from).some(isOk),
    () => `calls succeeded after ${what}`,
  )
}

async function assertNoneHung(load: Load): Promise<void> {
  await load.stop()
  for (const { code, message, tookMs } of load.calls) {
    assert.ok(tookMs < hangMs, `a call took ${Math.round(tookMs)} ms`)
    if (code === status.OK) continue
    assert.ok(code === status.UNKNOWN || code === status.DEADLINE_EXCEEDED, `${code}: ${message}`)
    assert.ok(message.length > 5)
  }
}

test('when Redis is killed, calls fail immediately, the service is unhealthy, and both recover with Redis', async (t) => {
  const outage = await openOutage(t, startService)
  if (!outage) return
  const { redis, service, load } = outage
  assert.equal(await isHealthy(service), true)
  const before = await readMegabytes(service)

  await redis.kill()
  await untilFailing(load)
  await until(
    async () => !(await isHealthy(service)),
    () => 'the service was unhealthy',
  )
  const { status: code, type, text } = await postJson(service, body)
  assert.deepEqual([code, type], [503, 'application/json'])
  assert.match(JSON.parse(text).error, /Redis at 127\.0\.0\.1/)
  const statistics = await readStatistics(service)
  assert.ok((statistics.get('ratelimit.service.call.should_rate_limit.redis_error') ?? 0) > 0)
  assert.equal(statistics.get('ratelimit.redis_pool.cx_active'), 0)

  await redis.restart()
  await untilRecovered(load, 'Redis was restarted')
  await until(
    () => isHealthy(service),
    () => 'the service was healthy again',
  )
  await assertNoneHung(load)
  assert.match(service.log, /level=warning msg="Lost a connection: /)
  const returns = service.log.match(/level=warning msg="Connected to Redis again \(.*\), after/g)
  assert.equal(returns?.length, 1)
  assert.ok((await readMegabytes(service)) - before < 200)
  assert.equal(service.hasEnded, false)
})

test('a Redis that stops answering costs each call no more than its deadline', async (t) => {
  const outage = await openOutage(t, openService)
  if (!outage) return
  const { redis, load, setTimeout } = outage
  setTimeout('20m')
  redis.pause()
  try {
    const from = performance.now()
    // Each of the 16 clients waits for the response before the next call.
    await until(
      () => load.since(from).length >= 64,
      () => 'calls ended while Redis did not answer',
    )
    assert.deepEqual(load.since(from).filter(isOk), [])
  } finally {
    redis.resume()
  }
  setTimeout(patient)
  await untilRecovered(load, 'Redis continued')
  await assertNoneHung(load)
})

test('a call without a deadline also fails if Redis does not answer', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const service = await openService(t, {
    rules,
    env: { KVSTORE_URL: addressOf(redis), KVSTORE_COMMAND_TIMEOUT: '100ms' },
  })
  const client = await openDecisionClient(t, service)
  redis.pause()
  t.after(() => redis.resume())
  const { code, message } = await client.tryDecide(requestFor('d', descriptor('day=v')))
  assert.equal(code, status.UNKNOWN, message)
  assert.equal((await postJson(service, body)).status, 503)
})

test('when Redis is restarted repeatedly under load, every call ends, and the service recovers', async (t) => {
  const outage = await openOutage(t, openService)
  if (!outage) return
  const { redis, load } = outage
  for (let round = 0; round < 4; round += 1) {
    await redis.restart()
    await untilRecovered(load, `restart ${round}`)
  }
  await assertNoneHung(load)
})

test('without the Redis for limits per second all other limits work', async (t) => {
  const [others, perSecond] = await Promise.all([open(t, 'redis'), open(t, 'redis')])
  if (!others || !perSecond) return
  const service = await openService(t, {
    rules,
    env: {
      KVSTORE_URL: addressOf(others),
      KVSTORE_PERSECOND: 'true',
      KVSTORE_PERSECOND_URL: addressOf(perSecond),
    },
  })
  const client = await openDecisionClient(t, service)
  const codes = async () => [
    (await client.tryDecide(requestFor('d', descriptor('day=v')))).code,
    (await client.tryDecide(requestFor('d', descriptor('second=v')))).code,
    (await client.tryDecide(requestFor('d', descriptor('day=v'), descriptor('second=v')))).code,
  ]
  assert.deepEqual(await codes(), [status.OK, status.OK, status.OK])
  await perSecond.kill()
  await until(
    async () =>
      (await client.tryDecide(requestFor('d', descriptor('second=v')))).code !== status.OK,
    () => 'limits per second failed',
  )
  assert.deepEqual(await codes(), [status.OK, status.UNKNOWN, status.UNKNOWN])
  // The health check of the store is not enabled.
  assert.equal(await isHealthy(service), true)
})
