import { toLevel, toStatisticsKey } from '@portcullis/ratelimit/rules'
import { createLivePoll, type LivePoll } from './live-poll.ts'
import type { RuleBook, ShownRule } from './rule-book.ts'
import { type LimitStatistics, noCounts, type RuleCounts } from './statistics.ts'

export interface LiveCounts extends RuleCounts {
  /** Hits in the last second or so. */
  readonly ratePerSecond: number
}

/** The whole state rather than a difference, so that a missed event does no harm. */
export interface CounterUpdate {
  /** Changes when the service has loaded rules. */
  readonly loads: number
  /** By statistics key; rules that never counted are left out. */
  readonly rules: Readonly<Record<string, LiveCounts>>
}

interface LiveCountersParts {
  readonly readStatistics: () => Promise<LimitStatistics>
  readonly readRuleBook: () => Promise<RuleBook>
}

interface Reading {
  readonly atMs: number
  readonly loads: number
  readonly rules: ReadonlyMap<string, RuleCounts>
}

/** Reads the statistics of all rules while there are listeners. */
export function createLiveCounters(parts: LiveCountersParts): LivePoll<CounterUpdate> {
  let last: Reading | undefined
  let sumByRule: SumByRule | undefined
  return createLivePoll({
    async read() {
      const { loads, rules } = await parts.readStatistics()
      if (sumByRule === undefined || loads !== last?.loads) {
        sumByRule = createSumByRule(await parts.readRuleBook())
      }
      const reading = { atMs: performance.now(), loads, rules: sumByRule(rules) }
      const update = toUpdate(reading, last)
      last = reading
      return update
    },
    forget() {
      // An old reading would give the average rate since then instead of the current rate.
      last = undefined
    },
  })
}

function toUpdate(reading: Reading, before: Reading | undefined): CounterUpdate {
  const seconds = before === undefined ? 0 : (reading.atMs - before.atMs) / 1000
  const rules = [...reading.rules].map(([key, counts]): [string, LiveCounts] => {
    const more = counts.total - (before?.rules.get(key) ?? noCounts).total
    // The counters restart from 0 when the service restarts.
    const ratePerSecond = seconds === 0 ? 0 : Math.max(0, more) / seconds
    return [key, { ...counts, ratePerSecond }]
  })
  return { loads: reading.loads, rules: Object.fromEntries(rules) }
}

/** Sums statistics by rule. */
export type SumByRule = (counts: ReadonlyMap<string, RuleCounts>) => Map<string, RuleCounts>

interface DetailedRule {
  readonly statisticsKey: string
  readonly pattern: RegExp
}

/**
 * Most rules count under one key. Rules with `detailed_metric` or `value_to_metric` count under one key per
 * value: a key that matches their pattern, and is not the key of another rule, belongs to them.
 */
export function createSumByRule({ domains }: RuleBook): SumByRule {
  const ruleKeys = new Set<string>()
  const detailed: DetailedRule[] = []
  const visit = (rule: ShownRule, above: readonly ShownRule[], domain: string) => {
    const levels = [...above, rule]
    if (rule.limit !== undefined) {
      ruleKeys.add(rule.statisticsKey)
      const pattern = toPattern(domain, levels)
      if (pattern !== undefined) detailed.push({ statisticsKey: rule.statisticsKey, pattern })
    }
    for (const nested of rule.rules) visit(nested, levels, domain)
  }
  for (const { domain, rules } of domains) for (const rule of rules) visit(rule, [], domain)

  return (counts) => {
    const sums = new Map<string, RuleCounts>()
    for (const [key, each] of counts) {
      const owner = ruleKeys.has(key)
        ? key
        : detailed.find(({ pattern }) => pattern.test(key))?.statisticsKey
      if (owner !== undefined) sums.set(owner, add(sums.get(owner) ?? noCounts, each))
    }
    return sums
  }
}

/** Undefined if the rule has a single key. */
function toPattern(domain: string, levels: readonly ShownRule[]): RegExp | undefined {
  const isDetailed = levels.at(-1)?.detailedMetric === true
  const parts = levels.map(({ key, value, valueToMetric, shareThreshold }) => {
    const isOpen = value === '' || (value.includes('*') && !shareThreshold)
    const isNamed = isOpen && (isDetailed || valueToMetric)
    if (!isNamed) return toLiteral(toStatisticsKey(toLevel(key, value)))
    const start = toLiteral(toStatisticsKey(key))
    return isDetailed ? `${start}_.*` : `${start}(?:_.*)?`
  })
  if (parts.every((part) => !part.includes('.*'))) return undefined
  return new RegExp(`^${[toLiteral(toStatisticsKey(domain)), ...parts].join('\\.')}$`, 's')
}

function toLiteral(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function add(one: RuleCounts, other: RuleCounts): RuleCounts {
  return {
    total: one.total + other.total,
    within: one.within + other.within,
    near: one.near + other.near,
    over: one.over + other.over,
    shadow: one.shadow + other.shadow,
  }
}
