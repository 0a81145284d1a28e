const bucketsPerMs = 100
const maxMs = 5000

/** Counts latencies in buckets of 10 µs, so that a long slice needs no more memory than a short one. */
export class Latencies {
  count = 0
  readonly #buckets = new Uint32Array(maxMs * bucketsPerMs + 1)

  add(ms: number): void {
    this.count++
    const bucket = Math.max(0, Math.min(maxMs * bucketsPerMs, Math.floor(ms * bucketsPerMs)))
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
  }

  /** Upper end, in milliseconds, of the bucket that holds the quantile. */
  quantile(share: number): number {
    let left = Math.ceil(this.count * share)
    const bucket = this.#buckets.findIndex((size) => {
      left -= size
      return left <= 0
    })
    return (bucket + 1) / bucketsPerMs
  }
}
