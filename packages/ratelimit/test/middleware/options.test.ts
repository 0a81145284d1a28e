import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimiter, StoreError } from '@portcullis/ratelimit'
import { limitRequests as limitFetch } from '@portcullis/ratelimit/use/fetch'
import { type LimitRequestsOptions, limitRequests } from '@portcullis/ratelimit/use/node'

const rules =
  'domain: api\ndescriptors: [{ key: user, rate_limit: { unit: day, requests_per_unit: 2 } }]'
const right = {
  limiter: createRateLimiter({ rules }),
  domain: 'api',
  descriptors: () => [{ user: 'ada' }],
}

const wrong: readonly (readonly [options: object | undefined, message: RegExp])[] = [
  [undefined, /call it with \{ limiter, domain, descriptors \}/],
  [{ ...right, onlimited: () => {} }, /unknown option 'onlimited'. Did you mean onLimited\?/],
  [{ ...right, descriptor: () => [] }, /unknown option 'descriptor'. Did you mean descriptors\?/],
  [
    { ...right, keyGenerator: () => '' },
    /unknown option 'keyGenerator'. Return the key from `descriptors`/,
  ],
  [{ ...right, max: 5 }, /unknown option 'max'. Limits are in the rules/],
  [
    { ...right, headers: 'draft-9' },
    /headers must be 'draft-6', 'draft-7', 'draft-8', 'legacy', false, not 'draft-9'/,
  ],
  [{ ...right, onFailure: 'block' }, /onFailure must be 'allow', 'deny', not 'block'/],
  [{ ...right, timeoutMs: '1s' }, /timeoutMs must be a number of milliseconds above 0, not '1s'/],
  [
    { ...right, limiter: undefined },
    /limiter is missing; it must be what createRateLimiter\(\) returns/,
  ],
  [{ ...right, limiter: {} }, /limiter must be what createRateLimiter\(\) returns, not object/],
  [{ ...right, domain: undefined }, /domain is missing; it must be the domain of your rules/],
  [
    { ...right, descriptors: [{ user: 'ada' }] },
    /descriptors must be a function that returns a list/,
  ],
  [{ ...right, skip: true }, /skip must be a function, not true/],
]

for (const [options, message] of wrong) {
  test(`options that are wrong say how to correct them: ${message.source}`, () => {
    const create = () => limitRequests(options as LimitRequestsOptions)
    assert.throws(create, (error) => error instanceof TypeError && message.test(error.message))
  })
}

test('options that are undefined count as absent', () => {
  const options = { ...right, skip: undefined, headers: undefined }
  assert.equal(typeof limitRequests(options), 'function')
})

test('a fetch middleware without a handler says that it needs one', () => {
  assert.throws(() => limitFetch(right as never, undefined as never), /the fetch handler to limit/)
})

test('without `report`, failures are written once until a decision succeeds', async () => {
  const warnings: string[] = []
  let isDown = true
  const limiter = {
    limit: async () => {
      if (isDown) throw new StoreError('the store is gone')
      return { isAllowed: true, statuses: [], headers: [], retryAfterSeconds: undefined }
    },
  } as unknown as LimitRequestsOptions['limiter']
  const limit = limitFetch(
    {
      ...right,
      limiter,
      warn: (line) => warnings.push(line),
      descriptors: () => [{ user: 'ada' }],
    },
    () => new Response('hello'),
  )
  const ask = () => limit(new Request('http://localhost/'))
  await ask()
  await ask()
  assert.deepEqual(warnings, [
    'The rate limit cannot be checked, so requests are served uncounted (onFailure): the store is gone',
  ])
  isDown = false
  await ask()
  isDown = true
  await ask()
  assert.equal(warnings.length, 2)
})
