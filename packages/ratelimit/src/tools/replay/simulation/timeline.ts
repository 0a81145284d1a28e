/** Widths in seconds, from one second to four weeks. Each divides the next, so that buckets can be merged. */
const widths = [1, 5, 15, 60, 300, 900, 3600, 10_800, 21_600, 86_400, 604_800, 2_419_200] as const

/** Enough for a chart as wide as a page. */
export const mostBuckets = 300

/** Requests per bucket of a timeline. */
export class Series {
  readonly allowed = new Float64Array(mostBuckets)
  readonly refused = new Float64Array(mostBuckets)

  add(bucket: number, isRefused: boolean): void {
    const counts = isRefused ? this.refused : this.allowed
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }

  /** Merges `factor` buckets into one. `first` is the position of the first bucket within its new one. */
  merge(factor: number, first: number): void {
    for (const counts of [this.allowed, this.refused]) {
      const merged = new Float64Array(mostBuckets)
      for (let i = 0; i < mostBuckets; i += 1) {
        const to = Math.floor((first + i) / factor)
        if (to < mostBuckets) merged[to] = (merged[to] ?? 0) + (counts[i] ?? 0)
      }
      counts.set(merged)
    }
  }
}

/**
 * Divides time into buckets. The duration of a log is known only at its end, so buckets start with one second
 * and are merged whenever there are too many, in every series.
 */
export class Timeline {
  readonly #series: Series[] = []
  #width = 0
  #startSeconds = Number.NaN
  #used = 0

  get bucketSeconds(): number {
    return widths[this.#width] ?? 1
  }

  /** The start of the first bucket. */
  get startSeconds(): number {
    return this.#startSeconds
  }

  /** The number of buckets from the first time to the last. */
  get length(): number {
    return this.#used
  }

  createSeries(): Series {
    const series = new Series()
    this.#series.push(series)
    return series
  }

  /** Returns the bucket of a time, which must not be before that of an earlier call. */
  bucketOf(timeMs: number): number {
    const seconds = Math.floor(timeMs / 1000)
    if (Number.isNaN(this.#startSeconds)) this.#startSeconds = seconds
    let bucket = Math.floor((seconds - this.#startSeconds) / this.bucketSeconds)
    while (bucket >= mostBuckets && this.#width < widths.length - 1) {
      this.#widen()
      bucket = Math.floor((seconds - this.#startSeconds) / this.bucketSeconds)
    }
    // Decades exceed the widest buckets, so the last one takes the rest.
    bucket = Math.min(bucket, mostBuckets - 1)
    if (bucket >= this.#used) this.#used = bucket + 1
    return bucket
  }

  #widen(): void {
    const before = this.bucketSeconds
    this.#width += 1
    const after = this.bucketSeconds
    const factor = after / before
    const start = this.#startSeconds - (this.#startSeconds % after)
    const first = (this.#startSeconds - start) / before
    for (const series of this.#series) series.merge(factor, first)
    this.#used = Math.floor((first + this.#used - 1) / factor) + 1
    this.#startSeconds = start
  }
}
