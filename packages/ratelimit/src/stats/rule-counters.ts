/** The statistics of one rule. The fields are plain numbers, because every decision adds to them. */
export class RuleCounters {
  totalHits = 0
  overLimit = 0
  nearLimit = 0
  withinLimit = 0
  shadowMode = 0
  overLimitWithLocalCache = 0
}

/** Finds the counters of a statistics key. The same key always has the same counters. */
export interface RuleCountersByKey {
  /** The counters of a configured rule, which are kept as long as the process runs. */
  forRule(key: string): RuleCounters
  /** The counters of a key that is made from request values. Only a bounded number of them is kept. */
  forRequest(key: string): RuleCounters
}
