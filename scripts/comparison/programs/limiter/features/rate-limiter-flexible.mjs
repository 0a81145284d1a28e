import { Redis } from 'ioredis'
import {
  RateLimiterMemory,
  RateLimiterQueue,
  RateLimiterRedis,
  RateLimiterUnion,
} from 'rate-limiter-flexible'
import { documented, missing } from '../../feature-values.mjs'

const options = { points: 3, duration: 60 }

/** It rejects with a result if the limit is reached, and with an error if it fails. */
const isTaken = (taking) =>
  taking.then(
    () => true,
    (refused) => {
      if (refused instanceof Error) throw refused
      return false
    },
  )

function createVerbs() {
  const limiter = new RateLimiterMemory(options)
  return {
    take: (key, points = 1) => isTaken(limiter.consume(key, points)),
    peek: async (key) => (await limiter.get(key)).remainingPoints,
    refund: (key) => limiter.reward(key),
    reset: (key) => limiter.delete(key),
    block: (key, seconds) => limiter.block(key, seconds),
  }
}

const createRedis = (url, more) => {
  const storeClient = new Redis(url, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: more === undefined,
  })
  storeClient.on('error', () => {})
  const limiter = new RateLimiterRedis({ ...options, storeClient, keyPrefix: 'flexible', ...more })
  return (key) => isTaken(limiter.consume(key))
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
  several: () => {
    const byIp = new RateLimiterMemory({ ...options, keyPrefix: 'ip' })
    const byUser = new RateLimiterMemory({ ...options, points: 2, keyPrefix: 'user' })
    // A union counts one key in each limiter; two keys need two calls.
    const union = new RateLimiterUnion(byIp, byUser)
    return (key) =>
      union.consume(key).then(
        () => true,
        () => false,
      )
  },
  weight: () => createVerbs().take,
  peek: createVerbs,
  refund: createVerbs,
  reset: createVerbs,
  block: createVerbs,
  sync: missing(/Sync\b/),
  sliding: missing(/sliding/i),
  queue: () => {
    const queue = new RateLimiterQueue(new RateLimiterMemory({ points: 1, duration: 1 }))
    return (key) => queue.removeTokens(1, key)
  },
  redis: (url) => createRedis(url),
  fallback: (url) => createRedis(url, { insuranceLimiter: new RateLimiterMemory(options) }),
  sql: documented('https://github.com/animir/node-rate-limiter-flexible/wiki'),
  files: missing(/watch|reload|directory/i),
}
