/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { command } from '../counters/redis/support/redis-client.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient, postJson, readRule } from '../support/service-client.ts'

const rules = {
  'd.yaml': `
domain: d
descriptors:
  - { key: k, rate_limit: { unit: hour, requests_per_unit: 5 } }
  - { key: k, value: Fixed, rate_limit: { unit: hour, requests_per_unit: 6 } }
  - { key: path, value: /api/*, rate_limit: { unit: hour, requests_per_unit: 7 } }
  - { key: shadow, shadow_mode: true, rate_limit: { unit: day, requests_per_unit: 1 } }
  - { key: near, rate_limit: { unit: day, requests_per_unit: 10 } }
  - { key: refused, rate_limit: { unit: day, requests_per_unit: 1 } }
  - { key: s, rate_limit: { unit: second, requests_per_unit: 50 } }
  - { key: m, rate_limit: { unit: minute, requests_per_unit: 50 } }
  - { key: h, rate_limit: { unit: hour, requests_per_unit: 50 } }
  - { key: d, rate_limit: { unit: day, requests_per_unit: 50 } }
`,
  'upper.yaml':
    'domain: D\ndescriptors: [{ key: k, rate_limit: { unit: hour, requests_per_unit: 50 } }]\n',
}

test('with a key-value store', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const store = { KVSTORE_URL: `127.0.0.1:${redis.port}` }
  // A time that is not the boundary of any unit, so that all calls are in one window.
  const now = () => 1_700_000_000_500
  const openWith = async (env: Readonly<Record<string, string>> = {}) => {
    const service = await openService(t, { rules, now, env: { ...store, ...env } })
    const client = await openDecisionClient(t, service)
    const limits = async (domain: string, ...pairs: string[]) => {
      const { statuses } = await client.decide(
        requestFor(domain, ...pairs.map((pair) => descriptor(pair))),
      )
      return statuses.map(({ currentLimit }) => currentLimit?.requestsPerUnit)
    }
    return { service, client, limits }
  }
  const { service, client, limits } = await openWith()

  await t.test('names of domains, keys and values are case-sensitive', async () => {
    assert.deepEqual(await limits('d', 'k=Fixed', 'k=fixed', 'K=Fixed'), [6, 5, undefined])
    assert.deepEqual(await limits('D', 'k=Fixed'), [50])
    const hits = async (value: string) =>
      Number(await command(redis, 'GET', `d_k_${value}_3600s_1699999200`))
    await limits('d', 'k=abc', 'k=ABC', 'k=ABC')
    assert.deepEqual([await hits('abc'), await hits('ABC')], [1, 2])
  })

  await t.test(
    'a trailing star matches every value with that prefix, and nothing else',
    async () => {
      const values = ['path=/api/', 'path=/api/v1', 'path=/api', 'path=x/api/v1', 'path=/API/v1']
      assert.deepEqual(await limits('d', ...values), [7, 7, undefined, undefined, undefined])
    },
  )

  await t.test('a rule in shadow mode updates its counter in the store', async () => {
    for (let call = 0; call < 3; call += 1) {
      const { overallCode } = await client.decide(requestFor('d', descriptor('shadow=v')))
      assert.equal(overallCode, 1)
    }
    assert.equal(await command(redis, 'GET', 'd_shadow_v_86400s_1699920000'), '3')
    assert.equal((await readRule(service, 'd.shadow'))['shadow_mode'], 2)
  })

  await t.test('SHADOW_MODE=true updates the counters in the store', async () => {
    const { client } = await openWith({ SHADOW_MODE: 'true', CACHE_KEY_PREFIX: 'global_' })
    for (let call = 0; call < 3; call += 1) {
      const { overallCode } = await client.decide(requestFor('d', descriptor('refused=v')))
      assert.equal(overallCode, 1)
    }
    assert.equal(await command(redis, 'GET', 'global_d_refused_v_86400s_1699920000'), '3')
  })

  await t.test(
    'NEAR_LIMIT_RATIO is the fraction of a limit above which hits are near it',
    async () => {
      const half = await openWith({ NEAR_LIMIT_RATIO: '0.5', CACHE_KEY_PREFIX: 'half_' })
      for (const { decide } of [client, half.client]) {
        await decide(requestFor('d', descriptor('near=v', { hitsAddend: 10 })))
      }
      assert.equal((await readRule(service, 'd.near'))['near_limit'], 2)
      assert.equal((await readRule(half.service, 'd.near'))['near_limit'], 5)
    },
  )

  await t.test(
    'a size of 0 disables the local cache: the store is read for each refusal',
    async () => {
      const readCount = async (sizeInBytes: string) => {
        const env = { LocalCacheSizeInBytes: sizeInBytes, CACHE_KEY_PREFIX: `c${sizeInBytes}_` }
        const { client } = await openWith(env)
        const call = () => client.decide(requestFor('d', descriptor('refused=v')))
        await call()
        await call()
        const key = `c${sizeInBytes}_d_refused_v_86400s_1699920000`
        for (let refused = 0; refused < 3; refused += 1) {
          assert.equal((await call()).overallCode, 2)
        }
        return Number(await command(redis, 'GET', key))
      }
      assert.equal(await readCount('0'), 5)
      assert.equal(await readCount('1000000'), 2)
    },
  )

  await t.test(
    'the JSON response has the limit with its unit in upper case, and the remaining hits',
    async () => {
      const entries = ['s', 'm', 'h', 'd'].map((key) => ({ entries: [{ key, value: 'v' }] }))
      const body = JSON.stringify({ domain: 'd', descriptors: entries })
      const { status, text } = await postJson(service, body)
      assert.equal(status, 200)
      const { overallCode, statuses } = JSON.parse(text)
      assert.equal(overallCode, 'OK')
      const seen = statuses.map(
        (each: { code: string; currentLimit: object; limitRemaining: number }) => [
          each.code,
          each.currentLimit,
          each.limitRemaining,
        ],
      )
      assert.deepEqual(
        seen,
        ['SECOND', 'MINUTE', 'HOUR', 'DAY'].map((unit) => [
          'OK',
          { requestsPerUnit: 50, unit },
          49,
        ]),
      )
    },
  )

  await t.test(
    'the three response headers have their default names, or those of the variables',
    async () => {
      const headersWith = async (env: Readonly<Record<string, string>>) => {
        const { client } = await openWith({ LIMIT_RESPONSE_HEADERS_ENABLED: 'true', ...env })
        const request = requestFor('d', descriptor('h=headers', { hitsAddend: 0 }))
        const { responseHeadersToAdd } = await client.decide(request)
        return responseHeadersToAdd.map(({ key, value }) => `${key}: ${value}`)
      }
      const left = 3_600 - (1_700_000_000 % 3_600)
      assert.deepEqual(await headersWith({}), [
        'RateLimit-Limit: 50',
        'RateLimit-Remaining: 50',
        `RateLimit-Reset: ${left}`,
      ])
      const names = {
        LIMIT_LIMIT_HEADER: 'X-Limit',
        LIMIT_REMAINING_HEADER: 'X-Left',
        LIMIT_RESET_HEADER: 'X-Reset',
      }
      assert.deepEqual(await headersWith(names), ['X-Limit: 50', 'X-Left: 50', `X-Reset: ${left}`])
      const { responseHeadersToAdd } = await client.decide(requestFor('d', descriptor('h=headers')))
      assert.deepEqual(responseHeadersToAdd, [])
    },
  )
})
