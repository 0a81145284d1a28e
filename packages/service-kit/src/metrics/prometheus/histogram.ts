/** One series of a histogram: counts values by size. */
export class Histogram {
  /** The labels as they are printed. */
  readonly labels: string
  /** Upper bounds of the buckets, ascending, without infinity. */
  readonly bounds: readonly number[]
  /** The number of values in each bucket; the last one is for values above all bounds. */
  readonly counts: Float64Array
  sum = 0

  constructor(labels: string, bounds: readonly number[]) {
    this.labels = labels
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds } = this
    let at = 0
    // Nearly all durations are in the first bucket, so a binary search would not be faster.
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum += value
  }
}
