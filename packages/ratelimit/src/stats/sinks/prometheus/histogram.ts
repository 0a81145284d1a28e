/** Counts durations by how long they were. */
export class Histogram {
  /** As they are printed. */
  readonly labels: string
  readonly bounds: readonly number[]
  /** Per bound, and one more for what is beyond all of them. */
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
    // Nearly all durations lie in the first bucket: no search is faster.
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum += value
  }
}
