/** The statistics of one rule. The fields are plain numbers, since each decision adds to them. */
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
  /** For a rule of the configuration: kept as long as the process runs. */
  forRule(key: string): RuleCounters
  /** For a key made from a request's values: only a bounded number of them is kept. */
  forRequest(key: string): RuleCounters
}
