import { isIP } from 'node:net'
import type { LimiterName, LimitTable, RequestLimit, RequestLimits } from './request-limits.ts'

interface Bucket {
  tokens: number
  filledAtMs: number
}

/** Limits the memory that attackers can fill; the least recently used buckets are discarded first. */
const mostBuckets = 100_000

/** The count sent to peers to reset a bucket, regardless of their own counts. */
const resetCount = Number.NEGATIVE_INFINITY

/** Other worker processes that count the same requests. */
export interface BucketPeers {
  /** Reports a count to the other processes soon. */
  report(limiter: LimiterName, key: string, count: number): void
  /** @param taken is called with counts of other processes. */
  onReport(taken: (limiter: LimiterName, key: string, count: number) => void): void
}

/**
 * Request limits that this process counts in token buckets. Requests that its peers allowed are
 * subtracted shortly after, even below zero, so that an excess is compensated later.
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
    // A clock that was set back adds no tokens.
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
  peers?.onReport((limiter, key, count) => {
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
      peers?.report(limiter, key, 1)
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
      if (buckets.delete(toId(limiter, key))) peers?.report(limiter, key, resetCount)
    },
  }
}

function toId(limiter: LimiterName, key: string): string {
  return `${limiter}\0${key}`
}

function toWaitSeconds({ tokens }: Bucket, { most, periodMs }: RequestLimit): number {
  return Math.max(1, Math.ceil(((1 - tokens) * periodMs) / most / 1_000))
}

/**
 * Returns the /64 network of an IPv6 address, because its owner usually has all of it and could
 * change the address with each request. An IPv4 address is returned unchanged.
 */
export function toNetwork(ip: string): string {
  if (isIP(ip) !== 6) return ip
  const [head = ''] = ip.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':')
}
