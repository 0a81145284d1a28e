import type { Limit } from '../../../rules/model/rule.ts'
import { RuleCounters } from '../../../stats/instruments.ts'
import type { Series } from './timeline.ts'

/**
 * What a log did to one rule. The counters it inherits are those of the service and count hits;
 * what is added counts requests.
 */
export class ReplayedRule extends RuleCounters {
  readonly path: string
  readonly limit: Limit
  readonly series: Series | undefined
  requests = 0
  allowed = 0
  /** Of those allowed. */
  near = 0
  refused = 0
  /** Over the limit and let through: by shadow mode, or because other quotas had room. */
  shadowRefused = 0
  /** Of both kinds of refusal; NaN where there was none. */
  firstRefusalMs = Number.NaN
  lastRefusalMs = Number.NaN
  /** The most hits that one key had in one window. */
  peakHits = 0
  peakKey = ''
  peakMs = Number.NaN

  constructor(path: string, limit: Limit, series: Series | undefined) {
    super()
    this.path = path
    this.limit = limit
    this.series = series
  }

  noteRefusal(timeMs: number): void {
    if (Number.isNaN(this.firstRefusalMs)) this.firstRefusalMs = timeMs
    this.lastRefusalMs = timeMs
  }
}
