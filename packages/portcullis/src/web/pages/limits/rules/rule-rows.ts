import type { LiveCounts, RuleBook, ShownRule } from '../../../../console/routes/limits.ts'

/** A rule with its position in the tree. */
export interface RuleRow {
  readonly rule: ShownRule
  readonly domain: string
  /** From the top level of the domain to the rule itself. */
  readonly levels: readonly ShownRule[]
}

export interface DomainRows {
  readonly domain: string
  /** Counts all rules, including those that do not match the search. */
  readonly limitCount: number
  readonly rows: readonly RuleRow[]
}

/** Flattens the tree in reading order. A search keeps the matching rules and their parents. */
export function toDomainRows({ domains }: RuleBook, search: string): DomainRows[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return domains.flatMap(({ domain, rules }) => {
    const all = toRows(domain, rules, [])
    const found = new Set(all.filter((row) => isFound(row, words)).flatMap(({ levels }) => levels))
    const isEmptyFound = words.every((word) => domain.toLowerCase().includes(word))
    const rows = all.filter(({ rule }) => found.has(rule))
    if (rows.length === 0 && !isEmptyFound) return []
    const limitCount = all.filter(({ rule }) => rule.limit !== undefined).length
    return [{ domain, limitCount, rows }]
  })
}

function toRows(
  domain: string,
  rules: readonly ShownRule[],
  above: readonly ShownRule[],
): RuleRow[] {
  return rules.flatMap((rule) => {
    const levels = [...above, rule]
    return [{ rule, domain, levels }, ...toRows(domain, rule.rules, levels)]
  })
}

function isFound({ rule }: RuleRow, words: readonly string[]): boolean {
  const text = [rule.path, rule.limitText, rule.limit?.name, rule.place?.file]
    .join(' ')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Such as `path = /admin/*`, or only the key if any value matches. */
export function toRuleLabel({ key, value }: ShownRule): string {
  return value === '' ? key : `${key} = ${value}`
}

export const noLiveCounts: LiveCounts = {
  total: 0,
  within: 0,
  near: 0,
  over: 0,
  shadow: 0,
  ratePerSecond: 0,
}

/** Two rules may count under the same key, which is added only once. */
export function sumCounts(
  rows: readonly RuleRow[],
  counts: Readonly<Record<string, LiveCounts>>,
): LiveCounts {
  const sum = { ...noLiveCounts }
  for (const key of new Set(rows.map(({ rule }) => rule.statisticsKey))) {
    const each = counts[key]
    if (each === undefined) continue
    sum.total += each.total
    sum.within += each.within
    sum.near += each.near
    sum.over += each.over
    sum.shadow += each.shadow
    sum.ratePerSecond += each.ratePerSecond
  }
  return sum
}
