import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openMemoryStore, type StoreError } from '@portcullis/ratelimit'
import { createRemoteRateLimiter, type RemoteLimiterOptions } from '@portcullis/ratelimit/remote'
import { createEngine } from '../../src/engine.ts'
import { parseRulesText } from '../../src/limiter/rules/rules-input.ts'
import { parseRequestJson, toResponseJson } from '../../src/protocol/json.ts'
import { openHttpListener } from '../../src/transports/http-listener.ts'
import { createJsonHandler } from '../../src/transports/json.ts'
import { RequestBodies } from '../../src/transports/request-bodies.ts'
import { fromNoon } from '../support/noon-clock.ts'

const rules = `
domain: api
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 3 }
  - key: guest
    rate_limit: { unlimited: true }
`

async function openService(t: TestContext): Promise<string> {
  const store = openMemoryStore({ now: fromNoon })
  const { decide } = createEngine({ rules: parseRulesText(rules), store, now: fromNoon })
  const handle = createJsonHandler({
    decide,
    parseRequest: parseRequestJson,
    toResponseText: toResponseJson,
    bodies: new RequestBodies({ bytes: 1_048_576 }),
    failures: { report: () => {} },
  })
  const routes = { '/json': handle }
  const listener = await openHttpListener({ host: '127.0.0.1', port: 0, routes })
  t.after(async () => {
    await listener[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  })
  return `http://127.0.0.1:${listener.port}`
}

function create(t: TestContext, options: RemoteLimiterOptions) {
  const limiter = createRemoteRateLimiter({
    domain: 'api',
    timeoutMs: 60_000,
    logger: false,
    ...options,
  })
  t.after(() => limiter.close())
  return limiter
}

test('a service returns the same results as a limiter in the process', async (t) => {
  const lines: string[] = []
  const logger = { warn: (line: string) => lines.push(line) }
  const limiter = create(t, { url: await openService(t), logger })
  const alice = { descriptors: [{ user: 'alice' }] }
  const first = await limiter.limit(alice)
  assert.deepEqual(
    { ...first, statuses: first.statuses.map(({ resetSeconds: _, ...status }) => status) },
    {
      isAllowed: true,
      isMatched: true,
      isFallback: false,
      statuses: [
        {
          isOver: false,
          isMatched: true,
          keys: ['user'],
          limit: { requestsPerUnit: 3, unit: 'day', windowSeconds: 86_400 },
          remaining: 2,
        },
      ],
      headers: [
        ['RateLimit-Limit', '3'],
        ['RateLimit-Remaining', '2'],
        ['RateLimit-Reset', `${first.statuses[0]?.resetSeconds}`],
      ],
      retryAfterSeconds: undefined,
    },
  )
  const remaining = async (method: 'limit' | 'peek' | 'refund' | 'penalty' | 'reward', hits = 1) =>
    (await limiter[method](alice, { hits })).statuses[0]?.remaining
  assert.equal(await remaining('penalty', 2), 0)
  const full = await limiter.peek(alice)
  assert.deepEqual(
    [full.isAllowed, full.retryAfterSeconds],
    [false, full.statuses[0]?.resetSeconds],
  )
  const refused = await limiter.limit(alice)
  assert.deepEqual([refused.isAllowed, refused.statuses[0]?.isOver], [false, true])
  assert.equal(await remaining('refund', 2), 1)
  assert.equal(await remaining('reward'), 2)
  await limiter.reset(alice)
  assert.equal(await remaining('peek'), 3)
  assert.deepEqual(lines, [])

  const guest = await limiter.limit({ descriptors: [{ guest: 'x' }, { usr: 'x' }] })
  assert.deepEqual(
    guest.statuses.map(({ isMatched }) => isMatched),
    [true, false],
  )
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /no limit for \{ usr \} in the domain 'api'/)
})

test('if the service is unavailable or the URL is wrong, the call fails and further calls are suspended', async (t) => {
  const outages: string[] = []
  const onOutage = ({ message }: Error) => outages.push(message)
  const lines: string[] = []
  const request = { descriptors: [{ user: 'alice' }] }
  const url = await openService(t)
  const astray = create(t, {
    url: `${url}/jso`,
    onOutage,
    breaker: { failures: 1, pauseMs: 60_000 },
    logger: { warn: (line) => lines.push(line) },
  })
  await assert.rejects(
    astray.limit(request),
    /answered with status 404: check that its URL ends in \/json/,
  )
  await assert.rejects(
    astray.limit(request),
    /^StoreError: the service was not called: the last call failed/,
  )
  assert.equal(outages.length, 1)
  assert.match(
    lines.join('\n'),
    /^The rate limit service failed: .*; decisions fail until it answers$/,
  )
  const absent = create(t, { url: 'http://127.0.0.1:1' })
  await assert.rejects(
    absent.limit(request),
    (error: StoreError) => error.name === 'StoreError' && /ECONNREFUSED/.test(error.message),
  )
  await assert.rejects(absent.limit({ descriptors: [] }), /StoreError|ECONNREFUSED/)
  await assert.rejects(create(t, { url }).limit({ descriptors: [] }), { name: 'ServiceError' })
})

test('invalid options are reported', () => {
  const create = createRemoteRateLimiter as (options: object) => unknown
  assert.throws(() => create({ ulr: 'http://a' }), /ulr is not an option. Did you mean url\?/)
  assert.throws(() => create({ url: 'redis://a' }), /url must be an HTTP URL such as/)
  assert.throws(
    () => create({ url: 'redis://a', cache: true, timeoutMs: 0 }),
    /^TypeError: createRemoteRateLimiter: 3 options are invalid:\n- cache is not an option; the options are url, .*\n- url must be .*\n- timeoutMs must be /,
  )
})
