import type { LimiterName, RequestLimit, RequestLimits } from './request-limits.ts'

interface Bucket {
  tokens: number
  filledAtMs: number
}

/** More would be an attack on memory: the least used are forgotten first. */
const mostBuckets = 100_000

/** Request limits that this process counts by itself, in token buckets. */
export function createBuckets(
  limits: Readonly<Record<LimiterName, RequestLimit>>,
  now: () => number,
): RequestLimits {
  const buckets = new Map<string, Bucket>()
  return {
    take(limiter, key) {
      const { most, periodMs, burst } = limits[limiter]
      if (most === 0) return Math.ceil(periodMs / 1_000)
      const id = `${limiter}\0${key}`
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
      if (bucket.tokens < 1)
        return Math.max(1, Math.ceil(((1 - bucket.tokens) * periodMs) / most / 1_000))
      bucket.tokens -= 1
      return undefined
    },
  }
}
