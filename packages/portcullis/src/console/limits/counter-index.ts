import { toLevel, toStatisticsKey } from '@portcullis/ratelimit/rules'
import type { RuleBook, ShownRule } from './rule-book.ts'
import { noCounts, type RuleCounts } from './statistics.ts'

/** Sums statistics by rule. */
export type SumByRule = (counts: ReadonlyMap<string, RuleCounts>) => Map<string, RuleCounts>

interface DetailedRule {
  readonly statisticsKey: string
  readonly pattern: RegExp
}

/**
 * Most rules count under one key. Those with `detailed_metric` or `value_to_metric` count under one key
 * per value of the requests: whatever fits them, and is nobody's own, is theirs.
 */
export function createSumByRule({ domains }: RuleBook): SumByRule {
  const own = new Set<string>()
  const detailed: DetailedRule[] = []
  const visit = (rule: ShownRule, above: readonly ShownRule[], domain: string) => {
    const levels = [...above, rule]
    if (rule.limit !== undefined) {
      own.add(rule.statisticsKey)
      const pattern = toPattern(domain, levels)
      if (pattern !== undefined) detailed.push({ statisticsKey: rule.statisticsKey, pattern })
    }
    for (const nested of rule.rules) visit(nested, levels, domain)
  }
  for (const { domain, rules } of domains) for (const rule of rules) visit(rule, [], domain)

  return (counts) => {
    const sums = new Map<string, RuleCounts>()
    for (const [key, each] of counts) {
      const owner = own.has(key)
        ? key
        : detailed.find(({ pattern }) => pattern.test(key))?.statisticsKey
      if (owner !== undefined) sums.set(owner, add(sums.get(owner) ?? noCounts, each))
    }
    return sums
  }
}

/** Undefined where the rule has one key only. */
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
