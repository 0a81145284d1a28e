import { type Limit, unitByName } from '../../../rules/index.ts'
import type { LogSummary, UnreadableLine } from '../replay.ts'
import type { ReplayedRule } from '../simulation/observed-rules.ts'
import type { RefusedKey } from '../simulation/refused-keys.ts'
import type { Simulation } from '../simulation/simulation.ts'
import type { Series, Timeline } from '../simulation/timeline.ts'
import { toIsoText } from '../time.ts'

/** The output of `--json`. Times are in ISO format, or null if nothing happened. */
export interface Report {
  readonly rules: string
  readonly logs: readonly string[]
  /** Whether the log was not read to the end. */
  readonly isCut: boolean
  readonly lines: {
    readonly total: number
    readonly unreadable: number
    readonly withoutDescriptors: number
    readonly late: number
  }
  readonly unreadableLines: readonly UnreadableLine[]
  readonly from: string | null
  readonly to: string | null
  readonly requests: {
    readonly total: number
    readonly refused: number
    readonly shadowRefused: number
    readonly withoutRule: number
    readonly unknownDomain: number
    readonly failed: number
  }
  /** Why requests failed. */
  readonly failure: string | null
  /** Rules with the most refusals come first; rules that matched no request come last. */
  readonly perRule: readonly RuleReport[]
  readonly refusedKeys: readonly KeyReport[]
  /** How many refusals of a key may be missing, if there were too many keys to count all of them. */
  readonly refusedKeysMissing: number
  readonly unknownDomains: readonly { readonly domain: string; readonly requests: number }[]
  readonly timeline: TimelineReport | null
}

export interface RuleReport {
  readonly path: string
  /** Null if the rule matched no request. */
  readonly limit: LimitReport | null
  readonly requests: {
    readonly total: number
    readonly allowed: number
    readonly nearLimit: number
    readonly refused: number
    readonly shadowRefused: number
  }
  /** Hits as in the statistics of the service. */
  readonly hits: {
    readonly total: number
    readonly withinLimit: number
    readonly nearLimit: number
    readonly overLimit: number
    readonly shadowMode: number
  }
  /** The share of all requests that matched the rule, including those that only shadow mode allowed. */
  readonly shareRefused: number
  readonly firstRefusal: string | null
  readonly lastRefusal: string | null
  /** The highest number of hits of one key in one window. */
  readonly peak: { readonly hits: number; readonly key: string; readonly at: string } | null
  readonly timeline: CountsReport | null
}

export interface LimitReport {
  readonly requestsPerUnit: number
  readonly unit: string | null
  readonly windowSeconds: number
  readonly algorithm: string
  readonly unlimited: boolean
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly name: string
}

export interface KeyReport {
  readonly key: string
  readonly rule: string
  readonly refused: number
  readonly first: string
  readonly last: string
}

export interface CountsReport {
  readonly allowed: readonly number[]
  readonly refused: readonly number[]
}

export interface TimelineReport extends CountsReport {
  readonly start: string
  readonly bucketSeconds: number
}

export interface ReportSettings {
  readonly rules: string
  readonly logs: readonly string[]
  /** The number of most refused keys to list. */
  readonly top: number
}

export function toReport(
  simulation: Simulation,
  log: LogSummary,
  { rules, logs, top }: ReportSettings,
): Report {
  const { timeline, refusedKeys } = simulation
  return {
    rules,
    logs,
    isCut: log.isCut,
    lines: {
      total: log.lines,
      unreadable: log.unreadable,
      withoutDescriptors: log.withoutDescriptors,
      late: log.late,
    },
    unreadableLines: log.examples,
    from: toTime(log.firstMs),
    to: toTime(log.lastMs),
    requests: {
      total: simulation.requests,
      refused: simulation.refused,
      shadowRefused: simulation.shadowRefused,
      withoutRule: simulation.withoutRule,
      unknownDomain: simulation.withUnknownDomain,
      failed: simulation.failed,
    },
    failure: simulation.failed === 0 ? null : simulation.failure,
    perRule: toRuleReports(simulation),
    refusedKeys: refusedKeys.top(top).map(toKeyReport),
    refusedKeysMissing: refusedKeys.mostMissed,
    unknownDomains: [...simulation.unknownDomains]
      .map(([domain, { value }]) => ({ domain, requests: value }))
      .sort((a, b) => b.requests - a.requests)
      .slice(0, top),
    timeline:
      timeline.length === 0
        ? null
        : {
            start: toIsoText(timeline.startSeconds * 1000),
            bucketSeconds: timeline.bucketSeconds,
            ...toCounts(simulation.series, timeline),
          },
  }
}

function toRuleReports({ rules, timeline }: Simulation): RuleReport[] {
  const met = rules.met.map((rule) => toRuleReport(rule, timeline))
  met.sort((a, b) => toRank(b) - toRank(a) || b.requests.total - a.requests.total)
  const unmet = new Set(rules.paths())
  for (const { path } of met) unmet.delete(path)
  return [...met, ...[...unmet].map(toUnmetReport)]
}

function toRank({ requests }: RuleReport): number {
  return requests.refused + requests.shadowRefused
}

function toRuleReport(rule: ReplayedRule, timeline: Timeline): RuleReport {
  const { requests, series } = rule
  return {
    path: rule.path,
    limit: toLimitReport(rule.limit),
    requests: {
      total: requests,
      allowed: rule.allowed,
      nearLimit: rule.near,
      refused: rule.refused,
      shadowRefused: rule.shadowRefused,
    },
    hits: {
      total: rule.totalHits,
      withinLimit: rule.withinLimit,
      nearLimit: rule.nearLimit,
      overLimit: rule.overLimit,
      shadowMode: rule.shadowMode,
    },
    shareRefused: requests === 0 ? 0 : (rule.refused + rule.shadowRefused) / requests,
    firstRefusal: toTime(rule.firstRefusalMs),
    lastRefusal: toTime(rule.lastRefusalMs),
    peak:
      rule.peakHits === 0
        ? null
        : { hits: rule.peakHits, key: toKey(rule.peakKey), at: toIsoText(rule.peakMs) },
    timeline: series === undefined ? null : toCounts(series, timeline),
  }
}

function toUnmetReport(path: string): RuleReport {
  return {
    path,
    limit: null,
    requests: { total: 0, allowed: 0, nearLimit: 0, refused: 0, shadowRefused: 0 },
    hits: { total: 0, withinLimit: 0, nearLimit: 0, overLimit: 0, shadowMode: 0 },
    shareRefused: 0,
    firstRefusal: null,
    lastRefusal: null,
    peak: null,
    timeline: null,
  }
}

function toLimitReport(limit: Limit): LimitReport {
  return {
    requestsPerUnit: limit.requestsPerUnit,
    unit: limit.unit?.name.toLowerCase() ?? null,
    windowSeconds: limit.windowSeconds,
    algorithm: limit.algorithm,
    unlimited: limit.unlimited,
    shadowMode: limit.shadowMode,
    quotaMode: limit.quotaMode,
    name: limit.name,
  }
}

function toKeyReport({ key, rule, refused, firstMs, lastMs }: RefusedKey): KeyReport {
  return {
    key: toKey(key),
    rule: rule.path,
    refused,
    first: toIsoText(firstMs),
    last: toIsoText(lastMs),
  }
}

/** Removes the underscore before the start of the window. */
function toKey(key: string): string {
  return key.replace(/_$/, '')
}

function toCounts({ allowed, refused }: Series, { length }: Timeline): CountsReport {
  return { allowed: [...allowed.subarray(0, length)], refused: [...refused.subarray(0, length)] }
}

function toTime(ms: number): string | null {
  return Number.isNaN(ms) ? null : toIsoText(ms)
}

/** `100/minute`, `20/5 minutes sliding shadow`. */
export function toLimitText(limit: LimitReport | null): string {
  if (limit === null) return ''
  if (limit.unlimited || limit.unit === null) return 'unlimited'
  const units = limit.windowSeconds / (unitByName(limit.unit)?.seconds ?? limit.windowSeconds)
  const window = units === 1 ? limit.unit : `${units} ${limit.unit}s`
  const marks = [
    limit.algorithm === 'sliding_window' ? ' sliding' : '',
    limit.shadowMode ? ' shadow' : '',
    limit.quotaMode ? ' quota' : '',
  ]
  return `${limit.requestsPerUnit}/${window}${marks.join('')}`
}
