import type { Algorithm, LimitRecord, Place, RuleRecord, RuleSet } from '../rules/rule.ts'
import { toLevel, toStatisticsKey } from '../rules/statistics-key.ts'
import { type Unit, unitByName } from '../rules/units.ts'

/** Rules as people write them, nested, as plain data. */
export interface RuleTreeDomain {
  readonly domain: string
  readonly rules: readonly RuleTreeNode[]
}

export interface RuleTreeNode {
  readonly key: string
  /** Empty: any value. */
  readonly value: string
  /** `domain.key[_value].key[_value]…`, as written. */
  readonly path: string
  /** What its statistics are called, between `ratelimit.service.rate_limit.` and their own names. */
  readonly statisticsKey: string
  /** Undefined where the rule has none: it lets pass, or only holds others. */
  readonly limit: RuleTreeLimit | undefined
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly detailedMetric: boolean
  readonly valueToMetric: boolean
  readonly shareThreshold: boolean
  readonly place: Place
  readonly rules: readonly RuleTreeNode[]
}

export interface RuleTreeLimit {
  readonly requestsPerUnit: number
  /** Undefined exactly when the limit is unlimited. */
  readonly unit: Unit['name'] | undefined
  readonly windowSeconds: number
  readonly algorithm: Algorithm
  readonly unlimited: boolean
  readonly name: string
  readonly replaces: readonly string[]
}

interface Growing extends RuleTreeNode {
  readonly rules: RuleTreeNode[]
}

/** In the order of the files; a domain without rules is there too. */
export function toRuleTree({ domains, rules }: RuleSet): RuleTreeDomain[] {
  const tops = new Map<string, RuleTreeNode[]>(domains.map((domain) => [domain, []]))
  const nodes: Growing[] = []
  for (const rule of rules) {
    const parent = nodes[rule.parent]
    const node = toNode(rule, parent?.path ?? rule.domain)
    nodes.push(node)
    const siblings = parent?.rules ?? tops.get(rule.domain)
    siblings?.push(node)
  }
  return [...tops].map(([domain, top]) => ({ domain, rules: top }))
}

function toNode(rule: RuleRecord, above: string): Growing {
  const { key, value, shadowMode, quotaMode, detailedMetric, valueToMetric } = rule
  const { shareThreshold, place } = rule
  const path = `${above}.${toLevel(key, value)}`
  return {
    key,
    value,
    path,
    statisticsKey: toStatisticsKey(path),
    limit: rule.limit && toLimit(rule.limit),
    shadowMode,
    quotaMode,
    detailedMetric,
    valueToMetric,
    shareThreshold,
    place,
    rules: [],
  }
}

function toLimit(limit: LimitRecord): RuleTreeLimit {
  const { requestsPerUnit, unit, unitMultiplier, algorithm, unlimited, name, replaces } = limit
  const windowSeconds = unit === undefined ? 0 : (unitByName(unit)?.seconds ?? 0) * unitMultiplier
  return { requestsPerUnit, unit, windowSeconds, algorithm, unlimited, name, replaces }
}
