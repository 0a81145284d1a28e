import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { missing } from '../../feature-values.mjs'

async function createApp(options) {
  const app = Fastify({ trustProxy: true })
  await app.register(rateLimit, { max: 3, timeWindow: 60_000, ...options })
  app.get('/', () => 'welcome')
  app.get('/healthz', () => 'welcome')
  await app.ready()
  return app.routing
}

async function createVerbs(options) {
  const app = Fastify()
  await app.register(rateLimit, { max: 3, timeWindow: 60_000, global: false, ...options })
  const decide = app.createRateLimit()
  const toRequest = (ip) => ({ ip, routeOptions: {} })
  return {
    take: async (ip) => !(await decide(toRequest(ip))).isExceeded,
    peek: async (ip) => (await decide(toRequest(ip), { increment: false })).remaining,
  }
}

const connect = (url) => {
  const client = new Redis(url, { maxRetriesPerRequest: 1 })
  client.on('error', () => {})
  return client
}

const answer = () => ({ statusCode: 420, message: 'calm down' })

export const features = {
  express: missing(/express/i),
  fastify: () => createApp(),
  node: missing(/IncomingMessage/),
  fetch: missing(/\bHeaders\b|\bfetch\b/),
  retryAfter: () => createApp(),
  // Its `enableDraftSpec` sends the first three fields of draft 6 without the policy.
  draft6: () => createApp({ enableDraftSpec: true }),
  draft7: missing(/draft-?7/i),
  draft8: missing(/draft-?8/i),
  legacy: () => createApp(),
  answer: () => createApp({ errorResponseBuilder: answer }),
  skip: () => createApp({ allowList: ({ url }) => url === '/healthz' }),
  failedOnly: missing(/skip(Successful|Failed)/),
  ipv6: () => createApp(),
  several: missing(/union|\blimits\b/i),
  weight: missing(/\b(weight|cost|points|hits)\b/i),
  peek: createVerbs,
  refund: missing(/refund|decrement|reward/i),
  reset: missing(/\b(reset|resetKey|delete|clear)\(/),
  block: missing(/block/i),
  sync: missing(/Sync\b/),
  sliding: missing(/sliding|bucket/i),
  queue: missing(/queue|until/i),
  redis: async (url) => (await createVerbs({ redis: connect(url), nameSpace: 'fastify:' })).take,
  // With `skipOnError` it allows all requests instead.
  fallback: missing(/fallback|insurance/i),
  sql: missing(/postgres|mysql|sqlite/i),
  files: missing(/watch|reload|directory/i),
}
