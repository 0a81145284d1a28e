import { CounterKeyTemplate } from '../../decide/counter-key.ts'
import type { DecisionParts } from '../../decide/decision.ts'
import { findReplaced } from '../../decide/match.ts'
import { type Charge, type Tallies, Tally } from '../../decide/tally.ts'
import type { Entry } from '../../protocol/message.ts'
import type { RuleSnapshot } from '../../rules/match/snapshot.ts'
import type { Match } from '../../rules/model/rule.ts'
import { matchesWildcard } from '../../rules/model/wildcard.ts'
import { toKeyText } from '../limit-request.ts'
import type { KeyValues } from './limits.ts'
import { type Charging, everythingMatched, type MatchedRequest } from './matched-request.ts'
import type { KeyLimits, LimitNode, ParsedLimits } from './parse-limits.ts'

/** Limits from objects, prepared for decisions: a limit applies if all of its keys have a value. */
export class KeyedLimits {
  readonly domain: string
  readonly #limits: ParsedLimits
  readonly #rules: RuleSnapshot
  /** Whether a limit may replace another. */
  readonly #replaces: boolean
  /** By the index of the node. */
  readonly #prepared: (PreparedLimit | undefined)[] = []

  constructor(limits: ParsedLimits, domain: string, rules: RuleSnapshot) {
    this.#limits = limits
    this.#replaces = limits.rules.rules.some(
      ({ limit }) => limit !== undefined && limit.replaces.length > 0,
    )
    this.domain = domain
    this.#rules = rules
  }

  /**
   * Finds the limits that apply to a request. Hot path.
   * @throws TypeError when a value is neither a string nor a number
   */
  match(parts: DecisionParts, values: KeyValues, charging: Charging): MatchedRequest {
    const found: Found = { tallies: [], keys: [], nodes: this.#replaces ? [] : undefined }
    let unmatched: Entry[] | undefined
    const { top, keys: known } = this.#limits
    let given = 0
    for (const key in values) {
      const value = toKeyText(key, values[key])
      if (value === undefined) continue
      given += 1
      const rules = top.get(key)
      if (rules !== undefined) this.#collect(parts, charging, rules, value, values, noValues, found)
      else if (!known.has(key)) (unmatched ??= []).push({ key, value })
    }
    if (found.tallies.length === 0 && unmatched === undefined && given > 0) {
      unmatched = []
      for (const key in values) unmatched.push({ key, value: `${values[key]}` })
    }
    const { keys } = found
    const tallies = found.nodes === undefined ? found.tallies : this.#withoutReplaced(found)
    const { domain } = this
    if (unmatched === undefined) {
      return { domain, tallies, keys, ...everythingMatched }
    }
    // Unknown keys are reported like a descriptor that no rule applies to.
    return {
      domain,
      tallies: [...tallies, undefined],
      keys: [...keys, unmatched.map(({ key }) => key)],
      isMatched: [...keys.map(() => true), false],
      unmatched: [unmatched],
    }
  }

  #collect(
    parts: DecisionParts,
    charging: Charging,
    rules: KeyLimits,
    value: string,
    values: KeyValues,
    before: readonly string[],
    found: Found,
  ): void {
    const node = findNode(rules, value)
    if (node === undefined) return
    const path = before.length === 0 ? [value] : [...before, value]
    if (node.hasLimit) {
      const prepared = this.#prepare(parts, node, path)
      found.tallies.push(prepared && toTally(prepared, path, charging))
      found.keys.push(node.keys)
      found.nodes?.push(node)
    }
    if (node.per === undefined) return
    for (const [key, below] of node.per) {
      const text = toKeyText(key, values[key])
      if (text !== undefined) this.#collect(parts, charging, below, text, values, path, found)
    }
  }

  /** Returns the limit of a key if it is the same for every value; undefined if there are several or none. */
  findOnly(parts: DecisionParts, key: string, value: string): PreparedLimit | undefined {
    const rules = this.#limits.top.get(key)
    const node = rules?.any
    if (rules === undefined || node === undefined) return undefined
    const isOnly = node.hasLimit && node.per === undefined && rules.byValue.size === 0
    return isOnly ? this.#prepare(parts, node, [value]) : undefined
  }

  #withoutReplaced({ tallies, nodes = [] }: Found): Tallies {
    const matches = nodes.map(({ index }) => this.#prepared[index]?.match)
    const replaced = findReplaced(matches)
    return tallies.map((tally, at) => {
      const match = matches[at]
      return match !== undefined && replaced?.has(match) === true ? undefined : tally
    })
  }

  #prepare(
    { settings }: DecisionParts,
    node: LimitNode,
    values: readonly string[],
  ): PreparedLimit | undefined {
    const known = this.#prepared[node.index]
    if (known !== undefined) return known
    const match = this.#rules.match(this.domain, {
      entries: node.keys.map((key, at) => ({ key, value: values[at] ?? '' })),
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    })
    if (match === undefined) return undefined
    const { limit, counters, sharedValues } = match
    const { unit, windowSeconds } = limit
    const prepared: PreparedLimit = {
      match,
      keys:
        unit === undefined
          ? undefined
          : new CounterKeyTemplate(settings, this.domain, node.keys, {
              windowSeconds,
              sharedValues,
            }),
      charge: {
        unitSeconds: windowSeconds,
        unit: unit?.wire ?? 0,
        requestsPerUnit: limit.requestsPerUnit,
        name: limit.name,
        isQuota: limit.quotaMode || settings.isQuotaMode,
        isShadowRule: limit.shadowMode,
        isSliding: limit.algorithm === 'sliding_window',
        counters,
        metadata: undefined,
      },
    }
    this.#prepared[node.index] = prepared
    return prepared
  }
}

/** The part that is the same for all requests that a limit applies to. */
export interface PreparedLimit {
  readonly match: Match
  /** Undefined for a limit that counts nothing. */
  readonly keys: CounterKeyTemplate | undefined
  readonly charge: Omit<Charge, 'key' | 'charge' | 'isRefund'>
}

interface Found {
  readonly tallies: (Tally | undefined)[]
  /** By the index of the tally. */
  readonly keys: (readonly string[])[]
  /** By the index of the tally, when a limit may replace another. */
  readonly nodes: LimitNode[] | undefined
}

const noValues: readonly string[] = []

/** The exact value is tried first, then patterns in their order, then the key alone. */
function findNode(rules: KeyLimits, value: string): LimitNode | undefined {
  if (rules.byValue.size === 0) return rules.any
  const exact = rules.byValue.get(value)
  if (exact !== undefined) return exact
  for (const { wildcard, node } of rules.patterns) if (matchesWildcard(wildcard, value)) return node
  return rules.any
}

function toTally(
  { keys, charge: fixed }: PreparedLimit,
  values: readonly string[],
  { hits, isRefund }: Charging,
): Tally {
  return new Tally({
    key: keys?.toKey(values) ?? '',
    charge: hits,
    isRefund,
    unitSeconds: fixed.unitSeconds,
    unit: fixed.unit,
    requestsPerUnit: fixed.requestsPerUnit,
    name: fixed.name,
    isQuota: fixed.isQuota,
    isShadowRule: fixed.isShadowRule,
    isSliding: fixed.isSliding,
    counters: fixed.counters,
    metadata: fixed.metadata,
  })
}
