/** How the gauges of several workers become one. */
export type GaugeRule = 'sum' | 'total' | 'mean' | 'one'

/**
 * Those that are no plain sum of what the workers have now. Gauges that only ever grow keep what
 * workers have had that are gone; those about the rules are the same in every worker.
 */
const gaugeRules: Readonly<Record<string, GaugeRule>> = {
  'runtime.num_values': 'one',
  'ratelimit.localcache.evacuateCount': 'total',
  'ratelimit.localcache.expiredCount': 'total',
  'ratelimit.localcache.hitCount': 'total',
  'ratelimit.localcache.missCount': 'total',
  'ratelimit.localcache.lookupCount': 'total',
  'ratelimit.localcache.overwriteCount': 'total',
  'ratelimit.localcache.averageAccessTime': 'mean',
}

export function toGaugeRule(name: string): GaugeRule {
  return gaugeRules[name] ?? 'sum'
}

/** Every worker loads the rules for itself: the loads of one of them are those of the service. */
const commonCounters: ReadonlySet<string> = new Set([
  'ratelimit.service.config_load_success',
  'ratelimit.service.config_load_error',
  'runtime.load_attempts',
  'runtime.load_failures',
])

export function isCommonCounter(name: string): boolean {
  return commonCounters.has(name)
}
