/** A number that only grows. Whoever counts holds it and adds to it. */
export class Counter {
  value = 0
}

/**
 * What a counter has reached, as it is shown and sent. Doubles are not exact from 2^53 on, where adding 1
 * changes nothing: a counter stays at the last exact number. Decisions only add; this is for readers.
 */
export function toShownCount(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}

/** The statistics of one rule. Plain numbers: a decision adds to them and nothing else happens. */
export class RuleCounters {
  totalHits = 0
  overLimit = 0
  nearLimit = 0
  withinLimit = 0
  shadowMode = 0
  overLimitWithLocalCache = 0
}

/** Where the rules find the counters of a statistics key; the same key is the same counters. */
export interface RuleCountersByKey {
  /** For a rule of the configuration: kept as long as the process runs. */
  forRule(key: string): RuleCounters
  /** For a key made from a request's values: kept in a bounded number. */
  forRequest(key: string): RuleCounters
}

/** How long something took, over and over. */
export class Timer {
  count = 0
  sumMs = 0
  maxMs = 0
  /** Told every duration; a sink sets it when it wants them one by one. */
  observer: ((durationMs: number) => void) | undefined

  observe(durationMs: number): void {
    this.count += 1
    this.sumMs += durationMs
    if (durationMs > this.maxMs) this.maxMs = durationMs
    this.observer?.(durationMs)
  }
}
