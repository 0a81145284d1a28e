import { createRateLimiter } from '@portcullis/limiter'

const limits = { ip: '1000000000/hour' }

export function memory() {
  const limiter = createRateLimiter({ limits })
  return (ip) => limiter.limit({ ip })
}

export function memorySync() {
  const limiter = createRateLimiter({ limits })
  return (ip) => limiter.limitSync({ ip })
}

export async function redis(store) {
  const limiter = createRateLimiter({ limits, store, keyPrefix: 'portcullis:' })
  await limiter.ready
  return (ip) => limiter.limit({ ip })
}
