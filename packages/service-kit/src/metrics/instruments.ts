/** A number that only grows. Code that counts holds the object and adds to the field. */
export class Counter {
  value = 0
}

/**
 * The value of a counter as readers see it. Doubles are exact up to 2^53; from there on, adding 1 changes
 * nothing, so a counter stays at the last exact number. Code that counts never calls this.
 */
export function toShownCount(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}

/** Durations of one operation: how many, their sum and the longest. */
export class Timer {
  count = 0
  sumMs = 0
  maxMs = 0
  /** Receives each duration; set by an exporter that needs more than the sums. */
  observer: ((durationMs: number) => void) | undefined

  observe(durationMs: number): void {
    this.count += 1
    this.sumMs += durationMs
    if (durationMs > this.maxMs) this.maxMs = durationMs
    this.observer?.(durationMs)
  }
}
