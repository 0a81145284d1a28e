import { ClientOfflineError } from '@redis/client'
import type { RedisService } from '../../config/limit-service.ts'
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
  const toName = (limiter: string, key: string) => `${service.prefix}${limiter}:${key}`
  /** That the client is offline says less than why. */
  const explained = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw error instanceof ClientOfflineError ? new Error(reason, { cause: error }) : error
    }
  }
  return {
    connect: () => Promise.race([client.connect(), firstError.promise]),
    async take(limiter, key, limit) {
      const waitSeconds = await explained(() => client.takeToken(toName(limiter, key), limit))
      return waitSeconds || undefined
    },
    async peek(limiter, key, limit) {
      const [left, waitSeconds] = await explained(() =>
        client.peekTokens(toName(limiter, key), limit),
      )
      return { left, waitSeconds }
    },
    clear: (limiter, key) => explained(() => client.forget(toName(limiter, key))),
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
