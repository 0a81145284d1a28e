const bucketsPerMs = 100
const maxMs = 2000

/** Counts latencies in buckets of 10 µs, so that a long slice needs no more memory than a short one. */
export function createLatencies() {
  const buckets = new Uint32Array(maxMs * bucketsPerMs + 1)
  let count = 0
  return {
    add(ms: number): void {
      count++
      const bucket = Math.min(buckets.length - 1, Math.floor(ms * bucketsPerMs))
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
    },
    count: (): number => count,
    /** Upper end, in milliseconds, of the bucket that holds the quantile. */
    quantile(share: number): number {
      let left = Math.ceil(count * share)
      const bucket = buckets.findIndex((size) => {
        left -= size
        return left <= 0
      })
      return (bucket + 1) / bucketsPerMs
    },
  }
}
