import type { Descriptor } from '../protocol/message.ts'
import type { RuleCountersByKey } from '../stats/rule-counters.ts'
import { type Explanation, explainDescriptor } from './explain.ts'
import { type IgnoredOverride, toOverrideLimit } from './override.ts'
import type { Match } from './rule.ts'
import { toLine, toLoadLine } from './rule-line.ts'
import { toRequestPath, toStatisticsKey } from './statistics-key.ts'
import { findRule, type RuleNode, type Siblings } from './tree.ts'

export interface SnapshotParts {
  readonly domains: ReadonlyMap<string, Siblings>
  /** In the order of the configuration. */
  readonly nodes: readonly RuleNode[]
  readonly counters: RuleCountersByKey
  readonly onIgnoredOverride: IgnoredOverride
}

/** The rules of one load. Nothing about it ever changes: a reload makes another one. */
export class RuleSnapshot {
  readonly #domains: ReadonlyMap<string, Siblings>
  readonly #nodes: readonly RuleNode[]
  readonly #counters: RuleCountersByKey
  readonly #onIgnoredOverride: IgnoredOverride

  constructor({ domains, nodes, counters, onIgnoredOverride }: SnapshotParts) {
    this.#domains = domains
    this.#nodes = nodes
    this.#counters = counters
    this.#onIgnoredOverride = onIgnoredOverride
  }

  get domainCount(): number {
    return this.#domains.size
  }

  get ruleCount(): number {
    return this.#nodes.length
  }

  hasDomain(domain: string): boolean {
    return this.#domains.has(domain)
  }

  /**
   * What limits the descriptor; undefined when nothing does. Allocates nothing, unless the caller
   * sent a limit or the rule wants statistics by value.
   */
  match(domain: string, descriptor: Descriptor): Match | undefined {
    const top = this.#domains.get(domain)
    if (top === undefined) return undefined
    if (descriptor.limit !== undefined) {
      const sent = this.#matchOverride(domain, descriptor)
      if (sent !== undefined) return sent
    }
    const rule = findRule(top, descriptor.entries)
    if (rule === undefined || rule.match === undefined) return undefined
    if (!rule.namesValues) return rule.match
    const key = toStatisticsKey(toRequestPath(rule, descriptor.entries))
    const { limit, sharedValues } = rule.match
    return { limit, counters: this.#counters.forRequest(key), sharedValues }
  }

  /**
   * Whether `match` gives the very same for such a descriptor every time. Not where statistics go by
   * what the request says: they are kept in a bounded number, so their counters may change.
   */
  isLasting(domain: string, { entries, limit }: Descriptor): boolean {
    const top = this.#domains.get(domain)
    if (top === undefined || limit !== undefined) return false
    return findRule(top, entries)?.namesValues !== true
  }

  /** One line per rule with a limit, in the order of the configuration, made as they are asked for. */
  *describe(): Generator<string> {
    for (const { match } of this.#nodes) {
      if (match !== undefined) yield toLine(match.limit)
    }
  }

  /** What the log says at level debug while rules are loaded, in the order of the configuration. */
  *describeLoad(): Generator<string> {
    const unseen = new Set(this.#domains.keys())
    for (const node of this.#nodes) {
      const { domain } = node
      if (unseen.delete(domain)) yield `loading domain: ${domain}`
      yield toLoadLine(node)
    }
    for (const domain of unseen) yield `loading domain: ${domain}`
  }

  /** What `match` does, told step by step. Counts nothing. */
  explain(domain: string, descriptor: Descriptor): Explanation {
    return explainDescriptor(this.#domains, domain, descriptor)
  }

  #matchOverride(domain: string, { entries, limit }: Descriptor): Match | undefined {
    if (limit === undefined) return undefined
    const sent = toOverrideLimit(domain, entries, limit)
    if (sent === undefined) {
      this.#onIgnoredOverride(domain, limit)
      return undefined
    }
    const counters = this.#counters.forRequest(toStatisticsKey(sent.path))
    return { limit: sent, counters, sharedValues: undefined }
  }
}
