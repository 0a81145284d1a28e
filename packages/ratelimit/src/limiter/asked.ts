import { toCounterKey } from '../decide/counter-key.ts'
import type { DecisionParts } from '../decide/decision.ts'
import { findReplaced } from '../decide/replaces.ts'
import { type Tallies, Tally } from '../decide/tally.ts'
import { toTallies } from '../decide/to-tallies.ts'
import type { Entry, RateLimitRequest } from '../protocol/message.ts'
import type { Match } from '../rules/rule.ts'
import type { RuleSnapshot } from '../rules/snapshot.ts'
import { matchesWildcard } from '../rules/wildcard.ts'
import { toKeyText } from './limit-request.ts'
import type { KeyValues } from './limits.ts'
import type { KeyLimits, LimitLevel, LimitNode, ParsedLimits } from './parse-limits.ts'

/** What a caller asks, with the limits that apply to it. */
export interface Asked {
  readonly domain: string
  readonly tallies: Tallies
  /** By the index of the tally. */
  readonly keys: readonly (readonly string[])[]
  /** By the index of the tally: whether a rule applies. An index that it does not have is matched. */
  readonly isMatched: readonly boolean[]
  /** What no rule applies to. */
  readonly unmatched: readonly (readonly Entry[])[]
}

/** How the hits of a call are counted. */
export interface Charging {
  readonly hits: number
  readonly isRefund: boolean
}

const alwaysMatched: readonly boolean[] = []
const nothing: readonly (readonly Entry[])[] = []

/** The limits that apply to each descriptor of a request. */
export function askRules(
  parts: DecisionParts,
  rules: RuleSnapshot,
  request: RateLimitRequest,
): Asked {
  const { domain, descriptors } = request
  const tallies = toTallies(parts, rules, request)
  const isMatched: boolean[] = []
  const unmatched: (readonly Entry[])[] = []
  for (const [index, { entries }] of descriptors.entries()) {
    const isKnown = tallies[index] !== undefined || rules.hasRule(domain, entries)
    isMatched.push(isKnown)
    // Without entries all values were undefined: the caller left the descriptor out.
    if (!isKnown && entries.length > 0) unmatched.push(entries)
  }
  const keys = descriptors.map(({ entries }) => entries.map(({ key }) => key))
  return { domain, tallies, keys, isMatched, unmatched }
}

/** The limits of objects, ready for decisions: every limit applies whose keys all have a value. */
export class KeyedLimits {
  readonly #limits: ParsedLimits
  readonly #domain: string
  readonly #rules: RuleSnapshot
  /** By the index of the node. */
  readonly #matches: (Match | undefined)[] = []

  constructor(limits: ParsedLimits, domain: string, rules: RuleSnapshot) {
    this.#limits = limits
    this.#domain = domain
    this.#rules = rules
  }

  /** @throws {TypeError} where a value is not a text or a number. */
  ask(parts: DecisionParts, values: KeyValues, charging: Charging): Asked {
    const found: Found = { nodes: [], entries: [] }
    const unmatched: Entry[] = []
    const { top, keys: known } = this.#limits
    let given = 0
    for (const key in values) {
      const value = toKeyText(key, values[key])
      if (value === undefined) continue
      given += 1
      const rules = top.get(key)
      if (rules !== undefined) collect(rules, key, value, values, [], found)
      else if (!known.has(key)) unmatched.push({ key, value })
    }
    const { nodes, entries } = found
    if (nodes.length === 0 && unmatched.length === 0 && given > 0) {
      for (const key in values) unmatched.push({ key, value: `${values[key]}` })
    }
    const matches = nodes.map((node, index) => this.#match(node, entries[index] ?? []))
    const replaced = findReplaced(matches)
    const tallies: (Tally | undefined)[] = []
    for (let i = 0; i < nodes.length; i += 1) {
      const match = matches[i]
      const isCounted = match !== undefined && replaced?.has(match) !== true
      tallies.push(
        isCounted ? toTally(parts, this.#domain, entries[i] ?? [], match, charging) : undefined,
      )
    }
    const asked = { domain: this.#domain, tallies, keys: nodes.map(({ keys }) => keys) }
    if (unmatched.length === 0) return { ...asked, isMatched: alwaysMatched, unmatched: nothing }
    // An unknown key is a descriptor that no rule applies to.
    return {
      ...asked,
      tallies: [...tallies, undefined],
      keys: [...asked.keys, unmatched.map(({ key }) => key)],
      isMatched: [...nodes.map(() => true), false],
      unmatched: [unmatched],
    }
  }

  #match(node: LimitNode, entries: readonly Entry[]): Match | undefined {
    const known = this.#matches[node.index]
    if (known !== undefined) return known
    const match = this.#rules.match(this.#domain, {
      entries,
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    })
    this.#matches[node.index] = match
    return match
  }
}

interface Found {
  readonly nodes: LimitNode[]
  readonly entries: (readonly Entry[])[]
}

function collect(
  rules: KeyLimits,
  key: string,
  value: string,
  values: KeyValues,
  before: readonly Entry[],
  found: Found,
): void {
  const node = findNode(rules, value)
  if (node === undefined) return
  const entries = before.length === 0 ? [{ key, value }] : [...before, { key, value }]
  if (node.hasLimit) {
    found.nodes.push(node)
    found.entries.push(entries)
  }
  if (node.per !== undefined) collectLevel(node.per, values, entries, found)
}

function collectLevel(
  level: LimitLevel,
  values: KeyValues,
  before: readonly Entry[],
  found: Found,
): void {
  for (const [key, rules] of level) {
    const value = toKeyText(key, values[key])
    if (value !== undefined) collect(rules, key, value, values, before, found)
  }
}

/** The exact value is tried first, then patterns in their order, then the key alone. */
function findNode(rules: KeyLimits, value: string): LimitNode | undefined {
  if (rules.byValue.size === 0) return rules.any
  const exact = rules.byValue.get(value)
  if (exact !== undefined) return exact
  for (const { wildcard, node } of rules.patterns) if (matchesWildcard(wildcard, value)) return node
  return rules.any
}

function toTally(
  { settings }: DecisionParts,
  domain: string,
  entries: readonly Entry[],
  { limit, counters, sharedValues }: Match,
  { hits, isRefund }: Charging,
): Tally {
  const { unit, windowSeconds } = limit
  const descriptor = { entries, limit: undefined, hitsAddend: hits, isNegativeHits: isRefund }
  return new Tally({
    key:
      unit === undefined
        ? ''
        : toCounterKey(settings, domain, descriptor, { windowSeconds, sharedValues }),
    unitSeconds: windowSeconds,
    unit: unit?.wire ?? 0,
    requestsPerUnit: limit.requestsPerUnit,
    name: limit.name,
    charge: hits,
    isRefund,
    isQuota: limit.quotaMode || settings.isQuotaMode,
    isShadowRule: limit.shadowMode,
    isSliding: limit.algorithm === 'sliding_window',
    counters,
    metadata: undefined,
  })
}
