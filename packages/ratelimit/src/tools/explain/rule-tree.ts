import {
  type Algorithm,
  type LimitRecord,
  type Place,
  type RuleRecord,
  type RuleSet,
  toLevel,
  toStatisticsKey,
  type Unit,
  unitByName,
} from '../../rules/index.ts'

/** The rules of a domain, nested as in the files, as plain data. */
export interface RuleTreeDomain {
  /** The name of the domain. */
  readonly domain: string
  /** The rules at its top level, in the order of the files. */
  readonly rules: readonly RuleTreeNode[]
}

/** A rule with the rules below it. */
export interface RuleTreeNode {
  /** The key that a descriptor entry must have. */
  readonly key: string
  /** Empty for any value. */
  readonly value: string
  /** `domain.key[_value].key[_value]…`, as written. */
  readonly path: string
  /** The part of the names of its statistics after `ratelimit.service.rate_limit.`. */
  readonly statisticsKey: string
  /** Undefined if the rule has no limit: it allows all requests, or only contains other rules. */
  readonly limit: RuleTreeLimit | undefined
  /** Whether requests are only counted and never refused (`shadow_mode`). */
  readonly shadowMode: boolean
  /** Whether the limit refuses only together with all other limits in quota mode (`quota_mode`). */
  readonly quotaMode: boolean
  /** Whether each value has its own statistics (`detailed_metric`). */
  readonly detailedMetric: boolean
  /** Whether the value is part of the name of the statistics (`value_to_metric`). */
  readonly valueToMetric: boolean
  /** Whether all values that match share one counter (`share_threshold`). */
  readonly shareThreshold: boolean
  /** The place of the rule in its file. */
  readonly place: Place
  /** The rules below it. */
  readonly rules: readonly RuleTreeNode[]
}

/** The limit of a rule. */
export interface RuleTreeLimit {
  /** The number of requests that a window allows. */
  readonly requestsPerUnit: number
  /** Undefined exactly when the limit is unlimited. */
  readonly unit: Unit['name'] | undefined
  /** The length of a window; 0 when the limit is unlimited. */
  readonly windowSeconds: number
  /** How requests are counted. */
  readonly algorithm: Algorithm
  /** Whether everything is allowed. */
  readonly unlimited: boolean
  /** The name that `replaces` of other limits refers to; empty when it has none. */
  readonly name: string
  /** Names of limits that do not apply when this one does. */
  readonly replaces: readonly string[]
}

interface Growing extends RuleTreeNode {
  readonly rules: RuleTreeNode[]
}

/** Returns the domains in the order of the files, including domains without rules. */
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
