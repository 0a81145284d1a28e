import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { Redis } from 'ioredis'

async function create(options) {
  const app = Fastify()
  const limit = { max: 1_000_000_000, timeWindow: 3_600_000, global: false }
  await app.register(rateLimit, { ...limit, ...options })
  const decide = app.createRateLimit()
  return (ip) => decide({ ip, routeOptions: {} })
}

// By default it keeps 5,000 keys and evicts the others.
export const memory = () => create({ cache: 2_000_000 })

export const redis = (url) => create({ redis: new Redis(url), nameSpace: 'fastify:' })
