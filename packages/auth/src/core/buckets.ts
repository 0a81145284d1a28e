import type { LimiterName, RequestLimit, RequestLimits } from './request-limits.ts'

interface Bucket {
  tokens: number
  filledAtMs: number
}

/** More would be an attack on memory: the least used are forgotten first. */
const mostBuckets = 100_000

/** Processes beside this one, that count the same requests. */
export interface BucketPeers {
  /** A request has passed here: the others should know soon. */
  tell(limiter: LimiterName, key: string): void
  /** @param taken is called with what has passed elsewhere. */
  hear(taken: (limiter: LimiterName, key: string, count: number) => void): void
}

/**
 * Request limits that this process counts by itself, in token buckets. What its peers let pass is
 * taken out of them a moment later, also when they are empty: what went through too many at once is
 * missing afterwards.
 */
export function createBuckets(
  limits: Readonly<Record<LimiterName, RequestLimit>>,
  now: () => number,
  peers?: BucketPeers,
): RequestLimits {
  const buckets = new Map<string, Bucket>()
  const fill = (limiter: LimiterName, key: string): Bucket => {
    const { most, periodMs, burst } = limits[limiter]
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
    return bucket
  }
  peers?.hear((limiter, key, count) => {
    fill(limiter, key).tokens -= count
  })
  return {
    take(limiter, key) {
      const { most, periodMs } = limits[limiter]
      if (most === 0) return Math.ceil(periodMs / 1_000)
      const bucket = fill(limiter, key)
      if (bucket.tokens < 1)
        return Math.max(1, Math.ceil(((1 - bucket.tokens) * periodMs) / most / 1_000))
      bucket.tokens -= 1
      peers?.tell(limiter, key)
      return undefined
    },
  }
}
