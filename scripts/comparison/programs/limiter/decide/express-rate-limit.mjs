import { MemoryStore, rateLimit } from 'express-rate-limit'
import { Redis } from 'ioredis'
import { RedisStore } from 'rate-limit-redis'

// The store of the middleware, without the rest of the middleware.
function toDecide(store) {
  rateLimit({ windowMs: 3_600_000, limit: 1_000_000_000, store, validate: false })
  return (ip) => store.increment(ip)
}

export const memory = () => toDecide(new MemoryStore())

export function redis(url) {
  const client = new Redis(url)
  return toDecide(
    new RedisStore({ sendCommand: (...args) => client.call(...args), prefix: 'express:' }),
  )
}
