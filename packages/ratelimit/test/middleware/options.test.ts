import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimiter, StoreError } from '@portcullis/ratelimit'
import { limitRequests as limitFetch } from '@portcullis/ratelimit/use/fetch'
import { limitRequests } from '@portcullis/ratelimit/use/node'

const limiter = createRateLimiter({ limits: { user: '2/day' } })
const right = { limiter, keys: () => ({ user: 'ada' }) }

const wrong: readonly (readonly [options: object | undefined, message: RegExp])[] = [
  [undefined, /call it with \{ limiter, keys \} or \{ limiter, descriptors \}/],
  [{ ...right, onlimited: () => {} }, /unknown option 'onlimited'. Did you mean onLimited\?/],
  [{ limiter, descriptor: () => [] }, /unknown option 'descriptor'. Did you mean descriptors\?/],
  [
    { limiter, keyGenerator: () => '' },
    /unknown option 'keyGenerator'. Return the key from `keys`/,
  ],
  [{ ...right, max: 5 }, /unknown option 'max'. Limits are options of createRateLimiter\(\)/],
  [
    { ...right, headers: 'draft-9' },
    /headers must be 'draft-6', 'draft-7', 'draft-8', 'legacy', false, not 'draft-9'/,
  ],
  [{ ...right, onFailure: 'block' }, /onFailure must be 'allow', 'deny', not 'block'/],
  [{ ...right, timeoutMs: '1s' }, /timeoutMs must be a number of milliseconds above 0, not '1s'/],
  [{ keys: right.keys }, /limiter is missing; it must be what createRateLimiter\(\) returns/],
  [{ ...right, limiter: {} }, /limiter must be what createRateLimiter\(\) returns, not object/],
  [{ limiter }, /keys is missing: use keys for a limiter with limits, and descriptors for/],
  [{ ...right, descriptors: () => [] }, /keys and descriptors are mutually exclusive/],
  [{ ...right, domain: 'api' }, /domain is only for descriptors/],
  [{ limiter, keys: { user: 'ada' } }, /keys must be a function that returns an object/],
  [
    { limiter, descriptors: [{ user: 'ada' }] },
    /descriptors must be a function that returns a list/,
  ],
  [{ ...right, skip: true }, /skip must be a function, not true/],
]

for (const [options, message] of wrong) {
  test(`the error for an invalid option says how to correct it: ${message.source}`, () => {
    const create = () => limitRequests(options as never)
    assert.throws(create, (error) => error instanceof TypeError && message.test(error.message))
  })
}

test('options that are undefined count as absent', () => {
  const options = { ...right, skip: undefined, headers: undefined }
  assert.equal(typeof limitRequests(options), 'function')
})

test('a fetch middleware without a handler is refused with an explanation', () => {
  assert.throws(() => limitFetch(right as never, undefined as never), /the fetch handler to limit/)
})

test('without `report`, a store failure is reported once', async () => {
  const warnings: string[] = []
  const down = { limit: () => Promise.reject(new StoreError('the store is gone')) }
  const limit = limitFetch(
    { limiter: down, warn: (line) => warnings.push(line), keys: () => ({ user: 'ada' }) },
    () => new Response('hello'),
  )
  for (let n = 0; n < 3; n++) await limit(new Request('http://localhost/'))
  assert.deepEqual(warnings, [
    'The rate limit cannot be checked, so requests are served uncounted (onFailure): the store is gone',
  ])
})

test('TypeScript checks the keys of limits, and that they are not mixed up with descriptors', () => {
  const written = createRateLimiter({ rules: 'domain: api' })
  // @ts-expect-error: the limits have no such key
  limitRequests({ limiter, keys: () => ({ usre: 'ada' }) })
  // @ts-expect-error: a limiter with limits takes keys
  limitRequests({ limiter, descriptors: () => [{ user: 'ada' }] })
  // @ts-expect-error: a limiter with rules takes descriptors
  limitRequests({ limiter: written, keys: () => ({ user: 'ada' }) })
  limitRequests({ limiter: written, descriptors: () => [{ user: 'ada' }] })
})
