import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { missing } from '../../feature-values.mjs'

const connect = (url) =>
  new Redis({ url, token: 'none', retry: { retries: 1 }, enableTelemetry: false })

/** The service is replaced by a program in front of a local Redis. */
function create(prefix, limiter = Ratelimit.fixedWindow(3, '60 s')) {
  const redis = connect(process.env.UPSTASH_URL)
  return new Ratelimit({ redis, prefix: `features-${prefix}`, limiter, ephemeralCache: false })
}

function createVerbs(prefix) {
  const limiter = create(prefix)
  return {
    take: async (key, rate = 1) => (await limiter.limit(key, { rate })).success,
    peek: async (key) => (await limiter.getRemaining(key)).remaining,
    refund: (key) => limiter.limit(key, { rate: -1 }),
    reset: (key) => limiter.resetUsedTokens(key),
  }
}

export const features = {
  // Its users write the middleware themselves: see the task.
  express: missing(/RequestHandler/),
  fastify: missing(/fastify/i),
  node: missing(/IncomingMessage/),
  fetch: missing(/\bHeaders\b/),
  retryAfter: missing(/retry-?after/i),
  draft6: missing(/draft|RateLimit-/),
  draft7: missing(/draft/i),
  draft8: missing(/draft/i),
  legacy: missing(/X-RateLimit/i),
  answer: missing(/statusCode/),
  skip: missing(/\bskip\b/),
  failedOnly: missing(/skip(Successful|Failed)/),
  ipv6: missing(/subnet/i),
  several: missing(/union|\blimits\b/i),
  weight: () => createVerbs('weight').take,
  peek: () => createVerbs('peek'),
  refund: () => createVerbs('refund'),
  reset: () => createVerbs('reset'),
  block: missing(/\bblock\b/),
  sync: missing(/Sync\b/),
  sliding: () => {
    const limiter = create('sliding', Ratelimit.slidingWindow(3, '1 s'))
    return async (key) => (await limiter.limit(key)).success
  },
  queue: () => {
    const limiter = create('queue', Ratelimit.fixedWindow(1, '1 s'))
    return (key) => limiter.blockUntilReady(key, 5000)
  },
  redis: () => createVerbs('redis').take,
  // It allows a request if it gets no response within its `timeout`.
  fallback: missing(/fallback|insurance/i),
  sql: missing(/postgres|mysql|sqlite/i),
  files: missing(/watch|reload|directory/i),
}
