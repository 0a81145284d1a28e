/**
 * @servers redis, redis-cluster, memcached
 */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import { open } from '@portcullis/test-servers'
import type { CounterState } from '../../src/transports/debug/key-access.ts'
import type { TopAnswer } from '../../src/transports/debug/key-texts.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService, type TestApp } from '../support/service-app.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { until } from '../support/service-process.ts'
import { stores } from '../support/service-stores.ts'

const rules = `domain: shop
descriptors:
  - { key: user, rate_limit: { unit: day, requests_per_unit: 3 } }
  - { key: slide, rate_limit: { unit: day, requests_per_unit: 3, algorithm: sliding_window } }
  - { key: free, rate_limit: { unlimited: true } }
  - { key: file, value: "a*", share_threshold: true, rate_limit: { unit: hour, requests_per_unit: 9 } }
`

async function callPage<Body>(
  service: Pick<TestApp, 'debugUrl'>,
  path: string,
  init: RequestInit = {},
) {
  const headers = { accept: 'application/json' }
  const response = await fetch(`${service.debugUrl}${path}`, { headers, ...init })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Body,
  }
}

const readTop = async (service: TestApp, query: string) =>
  (await callPage<TopAnswer>(service, `/top?${query}`)).body
const rows = ({ keys }: TopAnswer) =>
  keys.map(({ entries, hits, limited }) => [
    entries.map(({ value }) => value).join(),
    hits,
    limited,
  ])

test('/top lists the keys of a skewed load by hits over the limit and by all hits', async (t) => {
  const service = await openService(t, { rules })
  const { decide } = await openDecisionClient(t, service)
  const load = { ada: 40, bob: 12, cleo: 5, dan: 2 }
  for (const [user, count] of Object.entries(load)) {
    // Repeated requests are answered from the request cache, which must count them too.
    for (let i = 0; i < count; i += 1) await decide(requestFor('shop', descriptor(`user=${user}`)))
  }
  for (let i = 0; i < 30; i += 1) {
    await decide(requestFor('shop', descriptor('free=x'), descriptor('nothing=x')))
    await decide(requestFor('shop', descriptor(`file=a${i}`)))
  }

  const limited = await readTop(service, 'by=limited&n=3')
  assert.deepEqual(rows(limited), [
    ['ada', 40, 37],
    ['a*', 30, 21],
    ['bob', 12, 9],
  ])
  assert.deepEqual([limited.by, limited.isEstimate, limited.floor], ['limited', false, 0])
  const [first] = limited.keys
  assert.deepEqual(
    [first?.domain, first?.rule, first?.limit, first?.canInspect],
    ['shop', 'shop.user', '3 per day', true],
  )
  const calls = await readTop(service, 'by=calls')
  assert.deepEqual(rows(calls), [
    ['ada', 40, 37],
    ['a*', 30, 21],
    ['bob', 12, 9],
    ['cleo', 5, 2],
    ['dan', 2, 0],
  ])
  const text = await (await fetch(`${service.debugUrl}/top?by=limited&n=1`)).text()
  assert.match(text, /^by limited since \S+ \(\d+ s\)\. The numbers are exact\.\n/)
  assert.match(text, /^ +37 {4}40 {2}3 per day {2}shop user=ada$/m)
})

test('/top reports invalid parameters, and that it is disabled', async (t) => {
  const service = await openService(t, { rules, env: { TOP_KEYS_SIZE: '0' } })
  for (const [query, message] of [
    ['by=name', 'by must be one of: limited, calls'],
    ['n=0', 'n must be a number from 1 to 1000'],
    ['n=5000', 'n must be a number from 1 to 1000'],
  ]) {
    const { status, body } = await callPage<{ error: string }>(service, `/top?${query}`)
    assert.deepEqual([status, body.error], [400, message])
  }
  const { status, body } = await callPage<{ error: string }>(service, '/top')
  assert.equal(status, 404)
  assert.match(body.error, /^The list of keys is disabled: TOP_KEYS_SIZE is 0\.$/)
})

async function openMemcached(t: TestContext) {
  const memcached = await open(t, 'memcached')
  if (!memcached) return undefined
  return { env: { BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: `127.0.0.1:${memcached.port}` } }
}

const opened = {
  memory: stores['memory'],
  redis: stores['redis'],
  'redis cluster': stores['redis cluster'],
  memcached: openMemcached,
}

for (const [name, openStore] of Object.entries(opened)) {
  test(`/counter shows a counter and /counter/reset sets it to 0: ${name}`, async (t) => {
    const store = await openStore?.(t)
    if (!store) return
    const env = { ...store.env, LOCAL_CACHE_SIZE_IN_BYTES: '1000000' }
    const service = await openService(t, { rules, env, now: Date.now })
    const { decide } = await openDecisionClient(t, service)
    for (const key of ['user', 'slide']) {
      const path = `/counter?domain=shop&key=${key}&value=ada`
      const request = requestFor('shop', descriptor(`${key}=ada`))
      const read = async () => (await callPage<CounterState>(service, path)).body
      assert.equal((await read()).hits, 0)
      for (let i = 0; i < 3; i += 1) await decide(request)
      // memcached counts after the response.
      await until(
        async () => (await read()).hits === 3,
        () => 'the hits were counted',
      )
      const full = await read()
      assert.deepEqual(
        [full.rule, full.limitText, full.limit, full.remaining, full.isOver, full.windowSeconds],
        [`shop.${key}`, '3 per day', 3, 0, true, 86_400],
      )
      assert.equal(full.store, name.split(' ')[0])
      assert.equal(full.windowStart % 86_400, 0)
      assert.ok(full.resetSeconds > 0 && full.resetSeconds <= 2 * 86_400)
      assert.equal((await decide(request)).overallCode, 2)

      const reset = await callPage<CounterState>(service, path.replace('?', '/reset?'), {
        method: 'POST',
        headers: { accept: 'application/json' },
      })
      assert.equal(reset.status, 200)
      await until(
        async () => (await read()).hits === 0,
        () => 'the counter was reset',
      )
      assert.equal((await decide(request)).overallCode, 1)
    }
  })
}

test('/counter reports what is missing, and descriptors without a counter', async (t) => {
  const service = await openService(t, { rules })
  const cases = [
    ['', 400, 'domain is missing'],
    ['domain=shop', 400, /^key is missing/],
    ['domain=shop&key=user', 400, /^each key needs a value \(keys: 1, values: 0\)$/],
    ['domain=nowhere&key=a&value=b', 404, 'There are no rules for the domain "nowhere".'],
    ['domain=shop&key=other&value=b', 404, /^No rule limits this descriptor/],
    ['domain=shop&key=free&value=b', 404, /^The rule shop\.free is unlimited/],
  ] as const
  for (const [query, status, message] of cases) {
    const answer = await callPage<{ error: string }>(service, `/counter?${query}`)
    assert.equal(answer.status, status, query)
    if (typeof message === 'string') assert.equal(answer.body.error, message)
    else assert.match(answer.body.error, message)
  }
  const text = await (
    await fetch(`${service.debugUrl}/counter?domain=shop&key=user&value=a%0Ab`)
  ).text()
  assert.match(text, /^descriptor: user=a\\x0ab\n/m)
  assert.match(text, /^hits: 0\nremaining: 3\nover_limit: false\nreset_seconds: \d+$/m)
})

test('a counter is reset only by POST', async (t) => {
  const service = await openService(t, { rules })
  const query = 'domain=shop&key=user&value=a'
  const get = await fetch(`${service.debugUrl}/counter/reset?${query}`)
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST'])
  assert.equal(await get.text(), 'Method GET is not allowed; use POST.\n')
  const post = await fetch(`${service.debugUrl}/counter?${query}`, { method: 'POST' })
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET'])
})

test('the pages about keys are available from this machine, or with the token', async (t) => {
  const other = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address
  const env = { DEBUG_HOST: '0.0.0.0', DEBUG_TOKEN: 'sesame' }
  const service = await openService(t, { rules, env })
  const { port } = new URL(service.debugUrl)
  const pages = [
    ['GET', '/top'],
    ['GET', '/counter?domain=shop&key=user&value=a'],
    ['POST', '/counter/reset?domain=shop&key=user&value=a'],
  ] as const
  for (const [method, path] of pages) {
    const call = async (host: string, headers: Record<string, string>) =>
      (await fetch(`http://${host}:${port}${path}`, { method, headers })).status
    assert.equal(await call('127.0.0.1', {}), 200)
    // A browser on this machine that acts for a website.
    assert.equal(await call('127.0.0.1', { origin: 'https://evil.example' }), 403)
    if (other === undefined) continue
    assert.equal(await call(other, {}), 403)
    assert.equal(await call(other, { authorization: 'Bearer wrong' }), 403)
    assert.equal(await call(other, { authorization: 'Bearer sesame' }), 200)
  }
})

test('a failing store is reported', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const env = { KVSTORE_URL: `127.0.0.1:${redis.port}`, KVSTORE_COMMAND_TIMEOUT: '200ms' }
  const service = await openService(t, { rules, env })
  await redis.kill()
  const { status, body } = await callPage<{ error: string }>(
    service,
    '/counter?domain=shop&key=user&value=a',
  )
  assert.equal(status, 503)
  assert.match(body.error, /^The store failed: .*Redis/)
})
