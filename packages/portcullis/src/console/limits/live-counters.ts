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

/** A level of the keys of a rule: a fixed text, and for some rules `_` and a value. */
interface KeyLevel {
  readonly text: string
  readonly value: 'none' | 'optional' | 'required'
}

interface DetailedRule {
  readonly statisticsKey: string
  readonly levels: readonly KeyLevel[]
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
      const keyLevels = toKeyLevels(domain, levels)
      if (keyLevels.some(({ value }) => value !== 'none')) {
        detailed.push({ statisticsKey: rule.statisticsKey, levels: keyLevels })
      }
    }
    for (const nested of rule.rules) visit(nested, levels, domain)
  }
  for (const { domain, rules } of domains) for (const rule of rules) visit(rule, [], domain)

  return (counts) => {
    const sums = new Map<string, RuleCounts>()
    for (const [key, each] of counts) {
      const owner = ruleKeys.has(key)
        ? key
        : detailed.find((each) => matchesLevels(key, each.levels))?.statisticsKey
      if (owner !== undefined) sums.set(owner, add(sums.get(owner) ?? noCounts, each))
    }
    return sums
  }
}

function toKeyLevels(domain: string, rules: readonly ShownRule[]): readonly KeyLevel[] {
  const isDetailed = rules.at(-1)?.detailedMetric === true
  const levels = rules.map(({ key, value, valueToMetric, shareThreshold }): KeyLevel => {
    const isOpen = value === '' || (value.includes('*') && !shareThreshold)
    if (!isOpen || !(isDetailed || valueToMetric)) {
      return { text: toStatisticsKey(toLevel(key, value)), value: 'none' }
    }
    return { text: toStatisticsKey(key), value: isDetailed ? 'required' : 'optional' }
  })
  return [{ text: toStatisticsKey(domain), value: 'none' }, ...levels]
}

/**
 * Whether a key consists of these levels, with dots between them. Clients choose the values, which can contain dots and
 * the texts of other levels. A regular expression could therefore take very long; this takes time in proportion to the
 * dots.
 */
function matchesLevels(key: string, levels: readonly KeyLevel[]): boolean {
  /** Where the next level can begin. */
  let starts = new Set([0])
  /** Whether the levels so far can be the whole key. */
  let isWhole = false
  for (const { text, value } of levels) {
    const ends = [...starts].filter((at) => key.startsWith(text, at)).map((at) => at + text.length)
    const values = value === 'none' ? [] : ends.filter((at) => key[at] === '_')
    const isFixed = value !== 'required'
    isWhole = values.length > 0 || (isFixed && ends.includes(key.length))
    starts = new Set(isFixed ? ends.filter((at) => key[at] === '.').map((at) => at + 1) : [])
    // A value can be empty and can end before any dot.
    const [firstValue] = values
    if (firstValue === undefined) continue
    for (let at = key.indexOf('.', firstValue); at !== -1; at = key.indexOf('.', at + 1)) {
      starts.add(at + 1)
    }
  }
  return isWhole
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
