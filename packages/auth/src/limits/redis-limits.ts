import { ClientOfflineError } from '@redis/client'
import type { RedisService } from '../config/limit-service.ts'
import type { LimitService } from './limit-service.ts'
import { createRedisClient } from './redis-client.ts'

/**
 * Token buckets in Redis, one key each, by the clock of Redis: what processes think of the time
 * does not matter.
 */
export function openRedisLimits(service: RedisService): LimitService {
  let reason = 'not connected yet'
  const firstError = Promise.withResolvers<never>()
  firstError.promise.catch(() => {})
  const onError = (error: unknown) => {
    reason = toReason(error) || reason
    firstError.reject(new Error(reason, { cause: error }))
  }
  const open = () => createRedisClient(service, onError)
  let client = open()
  return {
    connect: () => Promise.race([client.connect(), firstError.promise]),
    async take(limiter, key, { most, periodMs, burst }) {
      const name = `${service.prefix}${limiter}:${key}`
      try {
        return (await client.takeToken(name, { most, periodMs, burst })) || undefined
      } catch (error) {
        // That the client is offline says less than why.
        throw error instanceof ClientOfflineError ? new Error(reason, { cause: error }) : error
      }
    },
    drop() {
      client.close()
      client = open()
      client.connect().catch(onError)
    },
    async [Symbol.asyncDispose]() {
      client.close()
    },
  }
}

/** Of several addresses that all refuse, Node names only the code. */
function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : '')
}
