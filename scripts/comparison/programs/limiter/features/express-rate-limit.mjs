import express from 'express'
import { MemoryStore, rateLimit } from 'express-rate-limit'
import { Redis } from 'ioredis'
import { RedisStore } from 'rate-limit-redis'
import { missing, withPlugin } from '../../feature-values.mjs'

function createApp(options) {
  const app = express().set('trust proxy', true)
  app.use(rateLimit({ windowMs: 60_000, limit: 3, validate: false, ...options }))
  return app.use(({ path }, response) =>
    response.status(path === '/bad' ? 400 : 200).end('welcome'),
  )
}

function createVerbs() {
  const store = new MemoryStore()
  const middleware = rateLimit({ windowMs: 60_000, limit: 3, store, validate: false })
  return {
    take: async (key) => (await store.increment(key)).totalHits <= 3,
    peek: async (key) => 3 - (await middleware.getKey(key)).totalHits,
    refund: (key) => store.decrement(key),
    reset: (key) => middleware.resetKey(key),
  }
}

const createRedisStore = (url, prefix) => {
  const client = new Redis(url, { maxRetriesPerRequest: 1, lazyConnect: true })
  client.on('error', () => {})
  const sendCommand = (...args) => client.call(...args)
  return new RedisStore({ sendCommand, prefix })
}

const draft = (standardHeaders) => () => createApp({ standardHeaders, legacyHeaders: false })

export const features = {
  express: () => createApp(),
  fastify: missing(/fastify/i),
  node: missing(/IncomingMessage/),
  fetch: missing(/\bHeaders\b|\bfetch\b/),
  retryAfter: () => createApp(),
  draft6: draft('draft-6'),
  draft7: draft('draft-7'),
  draft8: draft('draft-8'),
  legacy: () => createApp({ legacyHeaders: true }),
  answer: () => createApp({ statusCode: 420, message: 'calm down' }),
  skip: () => createApp({ skip: ({ path }) => path === '/healthz' }),
  failedOnly: () => createApp({ skipSuccessfulRequests: true }),
  ipv6: () => createApp(),
  several: missing(/union|\blimits\b/i),
  weight: missing(/\b(weight|cost|points)\b/i),
  peek: createVerbs,
  refund: createVerbs,
  reset: createVerbs,
  block: missing(/block/i),
  sync: missing(/sync\b/),
  sliding: missing(/sliding|bucket/i),
  queue: missing(/queue|until/i),
  redis: withPlugin('rate-limit-redis', (url) => {
    const store = createRedisStore(url, 'express:')
    rateLimit({ windowMs: 60_000, limit: 3, store, validate: false })
    return async (key) => (await store.increment(key)).totalHits <= 3
  }),
  // With `passOnStoreError` it allows all requests instead.
  fallback: missing(/(?<!Ip)fallback|insurance/i),
  sql: missing(/postgres|mysql|sqlite/i),
  files: missing(/watch|reload|directory/i),
}
