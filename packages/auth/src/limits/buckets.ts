import { isIP } from 'node:net'
import type { LimiterName, LimitTable, RequestLimit, RequestLimits } from './request-limits.ts'

interface Bucket {
  tokens: number
  filledAtMs: number
}

/** More would be an attack on memory: the least used are forgotten first. */
const mostBuckets = 100_000

/** Told to peers of a bucket that is full again, whatever they have counted. */
const everything = Number.NEGATIVE_INFINITY

/** Processes beside this one, that count the same requests. */
export interface BucketPeers {
  /** So many were counted here: the others should know soon. */
  tell(limiter: LimiterName, key: string, count: number): void
  /** @param taken is called with what was counted elsewhere. */
  hear(taken: (limiter: LimiterName, key: string, count: number) => void): void
}

/**
 * Request limits that this process counts by itself, in token buckets. What its peers let pass is
 * taken out of them a moment later, also when they are empty: what went through too many at once is
 * missing afterwards.
 */
export function createBuckets(
  limits: LimitTable,
  now: () => number,
  peers?: BucketPeers,
): RequestLimits {
  const buckets = new Map<string, Bucket>()
  const fill = (limiter: LimiterName, key: string, limit: RequestLimit): Bucket => {
    const { most, periodMs, burst } = limit
    const id = toId(limiter, key)
    const nowMs = now()
    const bucket = buckets.get(id) ?? { tokens: burst, filledAtMs: nowMs }
    // A clock that was set back fills nothing.
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs)
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * most) / periodMs)
    bucket.filledAtMs = nowMs
    buckets.delete(id)
    buckets.set(id, bucket)
    if (buckets.size > mostBuckets) {
      const [oldest] = buckets.keys()
      if (oldest !== undefined) buckets.delete(oldest)
    }
    return bucket
  }
  peers?.hear((limiter, key, count) => {
    const { [limiter]: limit } = limits
    if (limit === undefined) return
    const bucket = fill(limiter, key, limit)
    bucket.tokens = Math.min(limit.burst, bucket.tokens - count)
  })
  return {
    take(limiter, key) {
      const { [limiter]: limit } = limits
      if (limit === undefined) return undefined
      const bucket = fill(limiter, key, limit)
      if (bucket.tokens < 1) return toWaitSeconds(bucket, limit)
      bucket.tokens -= 1
      peers?.tell(limiter, key, 1)
      return undefined
    },
    peek(limiter, key) {
      const { [limiter]: limit } = limits
      if (limit === undefined) return { left: Number.POSITIVE_INFINITY, waitSeconds: 0 }
      if (!buckets.has(toId(limiter, key))) return { left: Math.floor(limit.burst), waitSeconds: 0 }
      const bucket = fill(limiter, key, limit)
      if (bucket.tokens < 1) return { left: 0, waitSeconds: toWaitSeconds(bucket, limit) }
      return { left: Math.floor(bucket.tokens), waitSeconds: 0 }
    },
    clear(limiter, key) {
      if (buckets.delete(toId(limiter, key))) peers?.tell(limiter, key, everything)
    },
  }
}

function toId(limiter: LimiterName, key: string): string {
  return `${limiter}\0${key}`
}

function toWaitSeconds({ tokens }: Bucket, { most, periodMs }: RequestLimit): number {
  return Math.max(1, Math.ceil(((1 - tokens) * periodMs) / most / 1_000))
}

/** The owner of an IPv6 address has the whole network around it, and could change it at each request. */
export function toNetwork(ip: string): string {
  if (isIP(ip) !== 6) return ip
  const [head = ''] = ip.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':')
}
