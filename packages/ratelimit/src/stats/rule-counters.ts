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
