import type { RuleFault, RuleRecord, RuleSet } from '../../rules/index.ts'

/** A text with wildcards, each of which stands for any characters. */
type Pattern = readonly (string | typeof anything)[]
const anything = Symbol('anything')

interface KeyedRule {
  readonly rule: RuleRecord
  readonly names: string
  /** The form of its keys in the store, up to the window. */
  readonly pattern: Pattern
}

const maxWarnings = 20
/** The maximum number of comparisons. */
const maxPairs = 500_000

/**
 * Finds pairs of rules whose counters can have the same name with CACHE_KEY_FORMAT=compatible, because a `_`
 * in a value looks the same as the separator between entries.
 */
export function findCollidingKeys({ rules }: RuleSet): RuleFault[] {
  const keyed = rules.flatMap((rule) => (rule.limit?.unit ? [toKeyed(rule, rules)] : []))
  const warnings: RuleFault[] = []
  let pairs = 0
  for (const [at, later] of keyed.entries()) {
    for (const earlier of keyed.slice(0, at)) {
      pairs += 1
      if (pairs > maxPairs || warnings.length >= maxWarnings) return warnings
      // Rules with the same keys differ in their values, and so do their counters.
      if (earlier.names === later.names) continue
      if (canMatchSameText(earlier.pattern, later.pattern)) warnings.push(toWarning(earlier, later))
    }
  }
  return warnings
}

function toKeyed(rule: RuleRecord, rules: readonly RuleRecord[]): KeyedRule {
  const path: RuleRecord[] = []
  for (let each: RuleRecord | undefined = rule; each !== undefined; each = rules[each.parent]) {
    path.unshift(each)
  }
  const pattern = [
    `${rule.domain}_`,
    ...path.flatMap((each) => [`${each.key}_`, ...toValue(each), '_']),
  ]
  return { rule, names: JSON.stringify([rule.domain, ...path.map(({ key }) => key)]), pattern }
}

function toValue({ value, shareThreshold }: RuleRecord): Pattern {
  if (value === '') return [anything]
  if (shareThreshold || !value.includes('*')) return [value]
  return value.split('*').flatMap((text, at) => (at === 0 ? [text] : [anything, text]))
}

/** Whether there is a text that matches both patterns. */
function canMatchSameText(a: Pattern, b: Pattern): boolean {
  const [left, right] = [toSymbols(a), toSymbols(b)]
  // By position in `left`: whether its beginning and the beginning of `right` can match the same text.
  let row = [true]
  for (const symbol of left) row.push((row.at(-1) ?? false) && symbol === anything)
  for (const other of right) {
    const next = [(row[0] ?? false) && other === anything]
    for (const [i, symbol] of left.entries()) {
      const isEither = symbol === anything || other === anything
      const skips = isEither && ((next[i] ?? false) || (row[i + 1] ?? false))
      next.push(skips || ((row[i] ?? false) && (isEither || symbol === other)))
    }
    row = next
  }
  return row.at(-1) ?? false
}

function toSymbols(pattern: Pattern): Pattern {
  return pattern.flatMap((part): Pattern => (part === anything ? [part] : [...part]))
}

function toWarning(earlier: KeyedRule, later: KeyedRule): RuleFault {
  const { file, line } = earlier.rule.place
  return {
    message: `counters of this rule can have the same name as those of the rule at ${file}:${line}`,
    place: later.rule.place,
    hint: 'this happens with values that contain _; CACHE_KEY_FORMAT=exact prevents it',
  }
}
