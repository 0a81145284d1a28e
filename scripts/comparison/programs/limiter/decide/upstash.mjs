import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'

// It has no counters in memory, and reaches Redis over HTTP.
export function redis() {
  const limiter = new Ratelimit({
    redis: new Redis({ url: process.env.UPSTASH_URL, token: 'none', enableTelemetry: false }),
    limiter: Ratelimit.fixedWindow(1_000_000_000, '1 h'),
  })
  return (ip) => limiter.limit(ip)
}
