// The same tests for all middlewares, each on a real server of its framework.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRateLimiter, type RateLimiter, StoreError } from '@portcullis/ratelimit'
import { fromNoon } from '../support/noon-clock.ts'
import { hosts } from './support/hosts.ts'

const rules = `
domain: api
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: ip
    rate_limit: { unit: hour, unit_multiplier: 2, requests_per_unit: 1000 }
`

function openLimiter(t: TestContext): RateLimiter {
  const limiter = createRateLimiter({ rules, now: fromNoon })
  t.after(() => limiter.close())
  return limiter
}

const failing = {
  limit: () => Promise.reject(new StoreError('the store is gone')),
} as unknown as RateLimiter

async function send(url: string, user = 'alice', headers: Record<string, string> = {}) {
  return await fetch(url, { headers: { 'x-user': user, connection: 'close', ...headers } })
}

/** The names of the response headers about limits. */
function listFields(response: Response): string[] {
  return [...response.headers.keys()].filter((name) => name.includes('ratelimit')).sort()
}

for (const [name, serve] of Object.entries(hosts)) {
  test(`${name}: responses have the three headers, and status 429 over the limit`, async (t) => {
    const url = await serve(t, { limiter: openLimiter(t) })
    const first = await send(url)
    assert.equal(first.status, 200)
    assert.equal(await first.text(), 'hello')
    assert.deepEqual(listFields(first), [
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
    ])
    assert.equal(first.headers.get('ratelimit-limit'), '2')
    assert.equal(first.headers.get('ratelimit-remaining'), '1')
    assert.match(first.headers.get('ratelimit-reset') ?? '', /^[1-9]\d*$/)
    assert.equal((await send(url)).status, 200)

    const refused = await send(url)
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('ratelimit-remaining'), '0')
    const retryAfter = refused.headers.get('retry-after') ?? ''
    assert.match(retryAfter, /^[1-9]\d*$/)
    assert.match(refused.headers.get('content-type') ?? '', /^application\/json/)
    assert.deepEqual(await refused.json(), {
      error: `Too many requests. Try again in ${retryAfter} seconds.`,
    })
    assert.equal((await send(url, 'bob')).status, 200)
  })

  test(`${name}: a limiter with limits counts by keys`, async (t) => {
    const limiter = createRateLimiter({ limits: { user: '1/day' }, now: fromNoon })
    t.after(() => limiter.close())
    const keys = ({ user }: { user: string | undefined }) => ({ user })
    const url = await serve(t, { limiter, keys, headers: 'draft-8' })
    const first = await send(url)
    assert.equal(first.status, 200)
    assert.equal(first.headers.get('ratelimit-policy'), '"user";q=1;w=86400')
    assert.equal((await send(url)).status, 429)
    assert.equal((await send(url, 'bob')).status, 200)
    const anonymous = await fetch(url, { headers: { connection: 'close' } })
    assert.equal(anonymous.status, 200)
    assert.deepEqual(listFields(anonymous), [])
  })

  test(`${name}: a request that is skipped or has no user to count is served without headers`, async (t) => {
    const limiter = openLimiter(t)
    const url = await serve(t, { limiter, skip: ({ user }) => user === 'health-check' })
    const uncounted = await fetch(url, { headers: { connection: 'close' } })
    assert.equal(uncounted.status, 200)
    assert.deepEqual(listFields(uncounted), [])
    for (let n = 0; n < 3; n++) {
      const skipped = await send(url, 'health-check')
      assert.equal(skipped.status, 200)
      assert.deepEqual(listFields(skipped), [])
    }
  })

  test(`${name}: without a decision requests are served, or get 503 if configured`, async (t) => {
    const reported: unknown[] = []
    const report = (error: unknown) => reported.push(error)
    const allowing = await serve(t, { limiter: failing, report })
    assert.equal((await send(allowing)).status, 200)
    const denying = await serve(t, { limiter: failing, report, onFailure: 'deny' })
    const refused = await send(denying)
    assert.equal(refused.status, 503)
    assert.deepEqual(await refused.json(), {
      error: 'The rate limit could not be checked. Try again.',
    })
    assert.deepEqual(
      reported.map((error) => error instanceof StoreError),
      [true, true],
    )
  })

  test(`${name}: sends the header fields of the chosen draft, or none`, async (t) => {
    const descriptors = ({ user = '' }) => [{ user }, { ip: '192.0.2.1' }]
    const fetchWith = async (headers: 'draft-6' | 'draft-7' | 'draft-8' | 'legacy' | false) =>
      await send(await serve(t, { limiter: openLimiter(t), descriptors, headers }))

    const draft6 = await fetchWith('draft-6')
    assert.equal(draft6.headers.get('ratelimit-policy'), '2;w=86400, 1000;w=7200')
    assert.equal(draft6.headers.get('ratelimit-limit'), '2')
    assert.equal(draft6.headers.get('ratelimit-remaining'), '1')
    assert.match(draft6.headers.get('ratelimit-reset') ?? '', /^\d+$/)

    const draft7 = await fetchWith('draft-7')
    assert.equal(draft7.headers.get('ratelimit-policy'), '2;w=86400, 1000;w=7200')
    assert.match(draft7.headers.get('ratelimit') ?? '', /^limit=2, remaining=1, reset=\d+$/)

    const draft8 = await fetchWith('draft-8')
    assert.deepEqual(listFields(draft8), ['ratelimit', 'ratelimit-policy'])
    const policy = '"user";q=2;w=86400, "ip";q=1000;w=7200'
    assert.equal(draft8.headers.get('ratelimit-policy'), policy)
    assert.match(draft8.headers.get('ratelimit') ?? '', /^"user";r=1;t=\d+, "ip";r=999;t=\d+$/)

    const legacy = await fetchWith('legacy')
    assert.equal(legacy.headers.get('x-ratelimit-limit'), '2')
    assert.equal(legacy.headers.get('x-ratelimit-remaining'), '1')
    const reset = Number(legacy.headers.get('x-ratelimit-reset')) * 1_000
    assert.ok(reset > Date.now() - 3_600_000 && reset < Date.now() + 86_400_000, `${reset}`)

    assert.deepEqual(listFields(await fetchWith(false)), [])
  })

  test(`${name}: several middlewares add to the lists of draft 8`, async (t) => {
    const url = await serve(t, { limiter: openLimiter(t), headers: 'draft-8', times: 2 })
    const policies = (await send(url)).headers.get('ratelimit-policy') ?? ''
    assert.deepEqual(policies.split(', '), ['"user";q=2;w=86400', '"user";q=2;w=86400'])
  })

  test(`${name}: onLimited creates the response to a request over the limit`, async (t) => {
    const answers = [
      {
        body: { type: 'https://example.com/too-many' },
        headers: { 'content-type': 'application/problem+json' },
      },
      { status: 420, body: 'calm down' },
      new Response('<p>later</p>', {
        status: 503,
        headers: [
          ['content-type', 'text/html'],
          ['retry-after', '99'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ],
      }),
      undefined,
    ]
    const seen: unknown[] = []
    const url = await serve(t, {
      limiter: openLimiter(t),
      onLimited: ({ isAllowed, retryAfterSeconds }, { user }) => {
        seen.push([isAllowed, typeof retryAfterSeconds, user])
        return answers.shift()
      },
    })
    await send(url)
    await send(url)
    const problem = await send(url)
    assert.equal(problem.status, 429)
    assert.match(problem.headers.get('content-type') ?? '', /^application\/problem\+json/)
    assert.match(problem.headers.get('retry-after') ?? '', /^\d+$/)
    assert.deepEqual(await problem.json(), { type: 'https://example.com/too-many' })

    const text = await send(url)
    assert.equal(text.status, 420)
    assert.match(text.headers.get('content-type') ?? '', /^text\/plain/)
    assert.equal(text.headers.get('ratelimit-limit'), '2')
    assert.equal(await text.text(), 'calm down')

    const response = await send(url)
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('content-type'), 'text/html')
    assert.equal(response.headers.get('retry-after'), '99')
    assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
    assert.equal(await response.text(), '<p>later</p>')

    const usual = await send(url)
    assert.equal(usual.status, 429)
    assert.match(await usual.text(), /Too many requests/)
    assert.deepEqual(seen, Array(4).fill([false, 'number', 'alice']))
  })

  test(`${name}: if an option throws, the request gets 500, and the server keeps running`, async (t) => {
    const url = await serve(t, {
      limiter: openLimiter(t),
      report: () => {},
      descriptors: ({ user = '' }) => {
        if (user === 'mallory') throw new Error('no such user')
        return [{ user }]
      },
    })
    assert.equal((await send(url, 'mallory')).status, 500)
    assert.equal((await send(url)).status, 200)
  })

  test(`${name}: warns once about forwarded requests that count by the proxy's address`, async (t) => {
    const forwarded = { 'x-forwarded-for': '203.0.113.7' }
    const countWarnings = async (settings: Partial<Parameters<typeof serve>[1]>) => {
      const warnings: string[] = []
      const warn = (message: string) => warnings.push(message)
      const url = await serve(t, { limiter: openLimiter(t), warn, ...settings })
      await send(url)
      assert.deepEqual(warnings, [])
      await send(url, 'alice', forwarded)
      await send(url, 'bob', forwarded)
      return warnings
    }
    const descriptors = ({ address = '' }) => [{ ip: address }]
    const [warning = '', ...more] = await countWarnings({ descriptors })
    assert.match(warning, /x-forwarded-for.*ipKey\(.*warn: false/)
    assert.deepEqual(more, [])
    assert.deepEqual(await countWarnings({}), [])
    if (/express|fastify|koa/.test(name)) {
      assert.deepEqual(await countWarnings({ descriptors, trustsProxy: true }), [])
    }
  })
}
