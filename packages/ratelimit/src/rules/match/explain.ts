import { noRow, RuleLimit, type RuleTable, toPlainLimit } from '../../hot/index.ts'
import type { Descriptor, Entry } from '../../protocol/message.ts'
import { toLevel, toStatisticsKey } from '../../stats/statistics-key.ts'
import type { Limit, Place } from '../model/rule.ts'
import { findNearMisses, toShortList } from './near-misses.ts'
import { toOverrideLimit } from './override.ts'
import { type RuleNode, type SameKeyRules, Siblings } from './tree.ts'

/** Explains which limit applies to a descriptor and why. Plain data, for people and programs. */
export interface Explanation {
  /** The domain of the request. */
  readonly domain: string
  /** The result for the descriptor. */
  readonly outcome: Outcome
  /** One per entry that was examined, up to the first level without a rule. */
  readonly levels: readonly ExplainedLevel[]
  /** The limit that applies; undefined if there is none. */
  readonly match: ExplainedMatch | undefined
  /** Rules that would have matched a similar descriptor; empty if a limit was found. */
  readonly nearMisses: readonly string[]
}

/** The possible results for a descriptor. */
export type Outcome =
  | 'limited'
  | 'unlimited'
  /** The request contains a limit. */
  | 'limited by the request'
  /** A rule without a limit and without nested rules. */
  | 'whitelisted'
  /** A rule that has only nested rules: the descriptor has too few entries. */
  | 'placeholder'
  | 'no rule'
  | 'unknown domain'

/** How one entry of a descriptor was matched. */
export interface ExplainedLevel {
  /** The key of the entry. */
  readonly key: string
  /** The value of the entry. */
  readonly value: string
  /** In the order they were tried; only the last one can be a match. */
  readonly attempts: readonly Attempt[]
  /** The rule that matched; undefined if none did. */
  readonly rule: ExplainedRule | undefined
}

/** One step of the search for a rule. */
export interface Attempt {
  /** What was compared. */
  readonly step: 'key' | 'exact value' | 'wildcard' | 'key alone'
  /** Whether this step found a rule. */
  readonly isMatch: boolean
  /** What was found, or why nothing was found, as text. */
  readonly reason: string
}

export interface ExplainedRule {
  readonly path: string
  readonly place: Place
}

export interface ExplainedMatch {
  readonly limit: Limit
  readonly statisticsKey: string
  readonly sharedValues: readonly (string | undefined)[] | undefined
  /** Undefined if the limit comes from the request. */
  readonly rule: ExplainedRule | undefined
}

export function explainDescriptor(
  table: RuleTable,
  domain: string,
  descriptor: Descriptor,
): Explanation {
  const top = table.findDomain(domain)
  const account = { domain, levels: [], match: undefined, nearMisses: [] }
  if (top === noRow) {
    const nearMisses = findNearMisses(table, domain, descriptor.entries)
    return { ...account, outcome: 'unknown domain', nearMisses }
  }
  const sent = explainOverride(domain, descriptor)
  if (sent !== undefined) return { ...account, outcome: 'limited by the request', match: sent }

  const { levels, leaf } = explainLevels(new Siblings(table, top), descriptor.entries)
  const match = leaf && explainMatch(table, leaf, descriptor.entries)
  if (match !== undefined) {
    const outcome = match.limit.unlimited ? 'unlimited' : 'limited'
    return { ...account, outcome, levels, match }
  }
  const outcome = toOutcomeWithoutLimit(leaf)
  const isMeant = outcome === 'whitelisted'
  const nearMisses = isMeant ? [] : findNearMisses(table, domain, descriptor.entries)
  return { ...account, outcome, levels, nearMisses }
}

function toOutcomeWithoutLimit(leaf: RuleNode | undefined): Outcome {
  if (leaf === undefined) return 'no rule'
  return leaf.children === undefined ? 'whitelisted' : 'placeholder'
}

function explainOverride(
  domain: string,
  { entries, limit }: Descriptor,
): ExplainedMatch | undefined {
  const sent = limit && toOverrideLimit(domain, entries, limit)
  if (sent === undefined) return undefined
  const statisticsKey = toStatisticsKey(sent.path)
  return { limit: sent, statisticsKey, sharedValues: undefined, rule: undefined }
}

function explainMatch(
  table: RuleTable,
  leaf: RuleNode,
  entries: readonly Entry[],
): ExplainedMatch | undefined {
  const { row, path, hasLimit } = leaf
  if (!hasLimit) return undefined
  const limit = new RuleLimit(table, row)
  const counted = table.namesValues(row) ? table.requestPathOf(row, entries) : path
  return {
    limit: toPlainLimit(limit),
    statisticsKey: toStatisticsKey(counted),
    sharedValues: limit.sharedValues,
    rule: toExplainedRule(leaf),
  }
}

/** Follows the same steps as `RuleTable.find`, and records each level. */
function explainLevels(
  top: Siblings,
  entries: readonly Entry[],
): { levels: ExplainedLevel[]; leaf: RuleNode | undefined } {
  const levels: ExplainedLevel[] = []
  let siblings: Siblings | undefined = top
  let leaf: RuleNode | undefined
  for (const entry of entries) {
    const { attempts, node } = explainLevel(siblings, entry)
    levels.push({ ...entry, attempts, rule: node && toExplainedRule(node) })
    leaf = node
    if (node === undefined) break
    siblings = node.children
  }
  return { levels, leaf }
}

interface TriedRule {
  readonly attempts: readonly Attempt[]
  readonly node: RuleNode | undefined
}

function explainLevel(siblings: Siblings | undefined, { key, value }: Entry): TriedRule {
  const attempts: Attempt[] = []
  const miss = (step: Attempt['step'], reason: string) =>
    attempts.push({ step, isMatch: false, reason })
  const hit = (step: Attempt['step'], reason: string, node: RuleNode): TriedRule => {
    attempts.push({ step, isMatch: true, reason })
    return { attempts, node }
  }

  if (siblings === undefined) {
    miss('key', 'the rule above has no nested rules, and the descriptor has more entries')
    return { attempts, node: undefined }
  }
  const rules = siblings.get(key)
  if (rules === undefined) {
    miss('key', `no rule at this level has the key '${key}'`)
    return { attempts, node: undefined }
  }

  const exact = rules.byValue.get(value)
  if (exact !== undefined) return hit('exact value', `the rule names the value '${value}'`, exact)
  miss('exact value', `no rule '${toLevel(key, value)}'`)

  const wildcard = rules.findPattern(value)
  if (wildcard !== undefined) {
    const pattern = wildcard.value
    return hit(
      'wildcard',
      `the pattern '${pattern}' matches${toEarlier(rules, wildcard)}`,
      wildcard,
    )
  }
  const patterns = rules.patterns.map((node) => node.value)
  if (patterns.length > 0) miss('wildcard', `no pattern matches: ${toShortList(patterns)}`)

  if (rules.any !== undefined) return hit('key alone', 'a rule without a value', rules.any)
  miss('key alone', `no rule '${key}' without a value`)
  return { attempts, node: undefined }
}

function toEarlier(rules: SameKeyRules, found: RuleNode): string {
  const order = rules.patterns.indexOf(found)
  if (order <= 0) return ''
  const earlier = rules.patterns.slice(0, order).map((node) => node.value)
  return `; earlier ones do not: ${toShortList(earlier)}`
}

function toExplainedRule({ path, place }: RuleNode): ExplainedRule {
  return { path, place }
}
