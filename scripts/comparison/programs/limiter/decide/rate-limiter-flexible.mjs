import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'

const options = { points: 1_000_000_000, duration: 3600 }

export function memory() {
  const limiter = new RateLimiterMemory(options)
  return (ip) => limiter.consume(ip)
}

export function redis(url) {
  const limiter = new RateLimiterRedis({ ...options, storeClient: new Redis(url) })
  return (ip) => limiter.consume(ip)
}
