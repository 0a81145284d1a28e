/**
 * @servers postgres, redis, redis-cluster, redis-sentinel
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { open } from '@portcullis/test-servers'
import { createClient } from '@redis/client'
import { openAuthServer } from '../support/auth-server.ts'
import { send } from '../support/http-client.ts'
import { type OpenLimits, openLimits, toLimits } from '../support/limit-kinds.ts'
import { openRateLimitService } from '../support/rate-limit-service.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

async function countPassed(limits: OpenLimits, key: string, count = 5): Promise<number> {
  let passed = 0
  for (let taken = 0; taken < count; taken++) {
    if ((await limits.take('verify', key)) === undefined) passed++
  }
  return passed
}

test('a Redis server', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return

  await t.test('that has lost its scripts gets them again', async (t) => {
    const limits = await openLimits(t, redis.url)
    const client = createClient({ url: redis.url })
    await client.connect()
    t.after(() => client.destroy())
    await limits.take('verify', 'forgetful')
    await client.scriptFlush()
    assert.equal(await countPassed(limits, 'forgetful'), 2)
    assert.deepEqual(limits.log, [])
  })

  await t.test('keeps a bucket no longer than it takes to fill', async (t) => {
    const limits = await openLimits(t, `${redis.url}?prefix=mine:`)
    await limits.take('verify', '192.0.2.1')
    const client = createClient({ url: redis.url })
    await client.connect()
    t.after(() => client.destroy())
    const leftMs = await client.pTTL('mine:verify:192.0.2.1')
    assert.ok(leftMs > 0 && leftMs <= 101_000, `${leftMs}`)
  })

  await t.test('refills at the rate of the limit', async (t) => {
    const quick = toLimits({ verify: { most: 100, periodMs: 1_000, burst: 1 } })
    const limits = await openLimits(t, redis.url, { limits: quick })
    const isRefused = async () => (await limits.take('verify', 'quick')) !== undefined
    while (!(await isRefused())) {
      // It has refilled meanwhile.
    }
    while (await isRefused()) await setTimeout(1)
  })

  await t.test('that hangs delays one request and is not used for a while', async (t) => {
    const limits = await openLimits(t, redis.url, { timeout: '200ms' })
    redis.pause()
    try {
      assert.equal(await countPassed(limits, 'patient'), 3)
      assert.equal(limits.log.length, 1)
      assert.match(limits.log[0] ?? '', /no response in time/)
    } finally {
      redis.resume()
    }
    while (limits.log.length < 2) {
      await limits.take('verify', 'another')
      await setTimeout(50)
    }
    assert.match(limits.log[1] ?? '', /responds again/)
  })

  await t.test('that refuses the password is reported without the password', async (t) => {
    const url = redis.url.replace('redis://', 'redis://alice:hunter2@')
    const limits = await openLimits(t, url)
    assert.equal(limits.log.length, 1)
    assert.match(limits.log[0] ?? '', /redis:\/\/\*+@.*(?:WRONGPASS|invalid)/)
    assert.doesNotMatch(limits.log[0] ?? '', /hunter2|alice/)
    assert.equal(await countPassed(limits, 'locked out'), 3)
  })
})

test('a Redis cluster counts each key on one of its nodes', async (t) => {
  const cluster = await open(t, 'redis-cluster')
  if (!cluster) return
  const hosts = cluster.nodes.map(({ host, port }) => `${host}:${port}`).join(',')
  const [one, other] = [
    await openLimits(t, `redis+cluster://${hosts}`),
    await openLimits(t, `redis+cluster://${hosts}`),
  ]
  for (const key of ['a', 'b', 'c', 'd']) {
    assert.equal(await countPassed(one, key, 2), 2)
    assert.equal(await countPassed(other, key), 1)
  }
  assert.deepEqual([one.log, other.log], [[], []])
})

test('Sentinels return the server to count on', async (t) => {
  const { sentinels, masterName } = (await open(t, 'redis-sentinel')) ?? {}
  if (!sentinels) return
  const hosts = sentinels.map(({ host, port }) => `${host}:${port}`).join(',')
  const url = `redis+sentinel://${hosts}/${masterName}`
  const [one, other] = [await openLimits(t, url), await openLimits(t, url)]
  assert.equal(await countPassed(one, 'a', 2), 2)
  assert.equal(await countPassed(other, 'a'), 1)
  assert.deepEqual([one.log, other.log], [[], []])
})

test('a rate limit service', async (t) => {
  const rules = `
domain: mine
descriptors:
  - key: limiter
    value: verify
    descriptors:
      - key: address
        rate_limit: { unit: day, requests_per_unit: 4 }
`
  const { address } = await openRateLimitService(t, rules)

  await t.test('applies its own rules if configured so', async (t) => {
    const limits = await openLimits(t, `grpc://${address}?domain=mine&rules=service`)
    assert.equal(await countPassed(limits, '192.0.2.1'), 4)
    const wait = await limits.take('verify', '192.0.2.1')
    assert.ok(wait !== undefined && wait >= 1 && wait <= 86_400, `${wait}`)
    // The service has no rule for it.
    assert.equal(await limits.take('otp', '192.0.2.1'), undefined)
    assert.deepEqual(limits.log, [])
  })

  await t.test('receives our limits otherwise', async (t) => {
    const now = () => Date.UTC(2030, 0, 1)
    const limits = await openLimits(t, `grpc://${address}?domain=mine`, { now })
    assert.equal(await countPassed(limits, '192.0.2.2'), 3)
  })

  await t.test('that does not know the domain allows no uncounted request', async (t) => {
    const limits = await openLimits(t, `grpc://${address}`)
    assert.equal(await countPassed(limits, '192.0.2.3'), 3)
    assert.equal(limits.log.length, 1)
    assert.match(limits.log[0] ?? '', /has no domain .*auth.*domain: auth/)
  })
})

test('two servers with one Redis share their limits and return the time to wait', async (t) => {
  const redis = await open(t, 'redis')
  const postgres = await openSharedPostgres(t)
  if (!redis || !postgres) return
  const env = {
    AUTH_RATE_LIMIT_SERVICE_URL: redis.url,
    AUTH_RATE_LIMIT_SERVICE_TIMEOUT: '10s',
    AUTH_RATE_LIMIT_TOKEN_REFRESH: '4',
  }
  const database = { url: postgres.url, schema: `shared_limits_${process.pid}` }
  const [one, other] = [
    await openAuthServer(t, { env, database }),
    await openAuthServer(t, { env, database }),
  ]
  if (!one || !other) return
  const body = { refresh_token: 'none' }
  const statuses: number[] = []
  for (const { url } of [one, other, one, other]) {
    statuses.push((await send(url, '/token?grant_type=refresh_token', { body })).status)
  }
  assert.deepEqual(statuses, [400, 400, 400, 400])
  for (const { url } of [one, other]) {
    const answer = await send(url, '/token?grant_type=refresh_token', { body })
    assert.deepEqual([answer.status, answer.body.error_code], [429, 'over_request_rate_limit'])
    const wait = Number(answer.headers.get('retry-after'))
    assert.ok(wait > 0 && wait <= 75, `${wait}`)
  }
})
