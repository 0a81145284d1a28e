import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  createRateLimiter,
  type LimitResult,
  type Limits,
  RulesError,
  UnmatchedError,
} from '@portcullis/ratelimit'
import { fromNoon } from '../support/noon-clock.ts'

const rules = `
domain: api
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: path
    descriptors:
      - key: method
        rate_limit: { unit: day, requests_per_unit: 2 }
  - key: free
`

function createKeyed<const Given extends Limits>(
  limits: Given,
  options: { onUnmatched?: 'allow' | 'warn' | 'throw'; warn?: (line: string) => void } = {},
) {
  const { warn = () => {}, ...others } = options
  return createRateLimiter({ limits, now: fromNoon, logger: { warn }, ...others })
}

function createWritten(t: TestContext, onUnmatched: 'allow' | 'warn' | 'throw' = 'warn') {
  const lines: string[] = []
  const logger = { warn: (line: string) => lines.push(line) }
  const limiter = createRateLimiter({ rules, now: fromNoon, logger, onUnmatched })
  t.after(() => limiter.close())
  return { limiter, lines }
}

const outline = ({ isAllowed, statuses }: LimitResult) => [
  isAllowed,
  ...statuses.map(({ keys, remaining }) => `${keys} ${remaining}`),
]

test('every limit whose keys have values applies, in any order, and undefined values are skipped', async () => {
  const limiter = createKeyed({
    ip: '3/minute',
    apiKey: { limit: '100/hour', values: { internal: 'unlimited', 'test-*': '1/day' } },
    plan: {
      values: { free: { per: { user: '1/10 minutes' } }, pro: { per: { user: '50/minute' } } },
    },
  })
  assert.deepEqual(outline(await limiter.limit({ ip: '::1', apiKey: undefined, user: null })), [
    true,
    'ip 2',
  ])
  assert.deepEqual(outline(await limiter.limit({ user: 7, plan: 'free', ip: '::1' })), [
    true,
    'plan,user 0',
    'ip 1',
  ])
  assert.deepEqual(outline(await limiter.limit({ plan: 'free', user: '7' })), [
    false,
    'plan,user 0',
  ])
  assert.deepEqual(outline(await limiter.limit({ plan: 'pro', user: '7' })), [true, 'plan,user 49'])
  assert.deepEqual(outline(await limiter.limit({ apiKey: 'test-1' })), [true, 'apiKey 0'])
  const { statuses, isMatched } = await limiter.limit({ apiKey: 'internal' })
  assert.deepEqual([statuses[0]?.limit, isMatched], [undefined, true])
  const all = await limiter.limit({ plan: 'free', user: '8' })
  assert.deepEqual(all.statuses[0]?.limit, {
    requestsPerUnit: 1,
    unit: 'minute',
    windowSeconds: 600,
  })
})

test('keys are checked by TypeScript, and misspelled ones cause one warning', async () => {
  const lines: string[] = []
  const limiter = createKeyed(
    { apiKey: '5/minute', ip: '9/minute' },
    { warn: (l) => lines.push(l) },
  )
  for (let call = 0; call < 3; call += 1) {
    // @ts-expect-error -- it is not one of the keys
    const result = await limiter.limit({ apiKei: 'a', ip: '::1' })
    assert.deepEqual([result.isAllowed, result.isMatched], [true, false])
    assert.deepEqual(
      result.statuses.map(({ isMatched, keys }) => [isMatched, ...keys]),
      [
        [true, 'ip'],
        [false, 'apiKei'],
      ],
    )
  }
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /^No rate limit applies to \{ apiKei \}.*[Dd]id you mean 'apiKey'\?/)
})

test('hits are an option, and limitSync answers without a promise', () => {
  const limiter = createKeyed({ user: '5/day' })
  assert.equal(limiter.limitSync({ user: 'a' }, { hits: 4 }).statuses[0]?.remaining, 1)
  assert.equal(limiter.limitSync({ user: 'a' }).isAllowed, true)
  const refused = limiter.limitSync({ user: 'a' })
  assert.equal(refused.isAllowed, false)
  assert.equal(refused.retryAfterSeconds, refused.statuses[0]?.resetSeconds)
  assert.throws(() => limiter.limitSync({ user: 'a' }, { hits: 0.5 }), TypeError)
})

test('other limits can be loaded, and invalid ones leave the previous ones in force', async () => {
  const limiter = createKeyed({ user: '5/day' })
  await limiter.limit({ user: 'a' })
  // @ts-expect-error -- it is not a limit
  assert.throws(() => limiter.load({ user: 'many' }), RulesError)
  assert.equal((await limiter.limit({ user: 'a' })).statuses[0]?.remaining, 3)
  limiter.load({ user: '100/day' })
  assert.equal((await limiter.limit({ user: 'a' })).statuses[0]?.remaining, 97)
})

test('a request that no rule applies to is allowed, with one warning that contains a suggestion', async (t) => {
  const { limiter, lines } = createWritten(t)
  const limit = async (descriptor: Record<string, string>, domain = 'api') => {
    const { isAllowed, isMatched } = await limiter.limit({ domain, descriptors: [descriptor] })
    assert.deepEqual([isAllowed, isMatched], [true, false])
  }
  await limit({ usr: 'secret' })
  await limit({ usr: 'other' })
  await limit({ method: 'GET', path: '/' })
  await limit({ user: 'a' }, 'apo')
  assert.equal(lines.length, 3)
  assert.match(lines[0] ?? '', /applies to \{ usr \} in the domain 'api'.*did you mean 'user'\?/)
  assert.match(lines[1] ?? '', /In the order path, method the rule .* matches/)
  assert.match(lines[2] ?? '', /only domain is 'api': did you mean 'api'\?/)
  assert.doesNotMatch(lines.join(), /secret/)
})

test('a rule without a limit and descriptors without values cause no warning', async (t) => {
  const { limiter, lines } = createWritten(t)
  const { isMatched } = await limiter.limit({ descriptors: [{ free: 'x' }] })
  assert.equal(isMatched, true)
  const skipped = await limiter.limit({ descriptors: [{ user: undefined }, { user: 5 }] })
  assert.deepEqual(
    skipped.statuses.map(({ limit }) => limit?.requestsPerUnit),
    [undefined, 2],
  )
  assert.deepEqual(lines, [])
})

test('onUnmatched can throw before anything is counted, or allow silently', async (t) => {
  const both = { descriptors: [{ user: 'a' }, { usr: 'a' }] }
  const { limiter } = createWritten(t, 'throw')
  await assert.rejects(limiter.limit(both), UnmatchedError)
  assert.equal((await limiter.limit({ descriptors: [{ user: 'a' }] })).statuses[0]?.remaining, 1)
  const silent = createWritten(t, 'allow')
  assert.equal((await silent.limiter.limit(both)).isMatched, false)
  assert.deepEqual(silent.lines, [])
})

test('all invalid options are reported in one error, with suggestions', () => {
  const options: object = {
    limits: {
      ip: '100/minuut',
      key: { limt: '1/day' },
      user: { limit: '1/day', algorithm: 'sliding' },
      path: 5,
    },
    storre: 'memory:',
    store: 'reddis://127.0.0.1',
    onUnmatched: 'wran',
    timeoutMs: '5s',
    fallback: true,
  }
  const create = createRateLimiter as (options: object) => unknown
  assert.throws(
    () => create(options),
    (error) => {
      assert.ok(error instanceof TypeError)
      for (const part of [
        /: 10 options are invalid:\n/,
        /storre is not an option\. Did you mean store\?/,
        /store must begin with .* not 'reddis:'\. Did you mean redis:\?/,
        /onUnmatched must be .* not 'wran'\. Did you mean 'warn'\?/,
        /timeoutMs must be a number of milliseconds above 0, not '5s'/,
        /fallback must be 'memory', not true/,
        /limits\.ip: '100\/minuut' is not a limit: 'minuut' is not a unit.*Did you mean 'minute'\?/,
        /limits\.key\.limt is not an option of a limit\. Did you mean limit\?/,
        /limits\.key needs a limit, values or per/,
        /limits\.user\.algorithm must be .* Did you mean sliding_window\?/,
        /limits\.path must be a limit such as '100\/minute', or an object with options, not 5/,
      ]) {
        assert.match(error.message, part)
      }
      return true
    },
  )
  assert.throws(() => create({}), /limits is missing/)
  assert.throws(() => create({ rules, limits: {} }), /mutually exclusive/)
})
