import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  noRow,
  type PackedRules,
  packRules,
  RuleLimit,
  RuleMatch,
  RuleTable,
} from '../../hot/index.ts'
import type { Descriptor } from '../../protocol/message.ts'
import type { RuleCounters, RuleCountersByKey } from '../../stats/rule-counters.ts'
import { toStatisticsKey } from '../../stats/statistics-key.ts'
import type { Limit, Match, RuleSet } from '../model/rule.ts'
import { type Explanation, explainDescriptor } from './explain.ts'
import { type IgnoredOverride, toOverrideLimit } from './override.ts'

interface SnapshotParts {
  readonly rules: PackedRules
  readonly counters: RuleCountersByKey
  readonly onIgnoredOverride: IgnoredOverride
}

/** The rules of one load. Nothing about it ever changes: a reload makes another one. */
export class RuleSnapshot {
  readonly #table: RuleTable
  /** By row, of the rules that were met once: most of many never are. */
  readonly #matches: (RuleMatch | undefined)[]
  readonly #counters: RuleCountersByKey
  readonly #onIgnoredOverride: IgnoredOverride

  constructor({ rules, counters, onIgnoredOverride }: SnapshotParts) {
    this.#table = new RuleTable(rules)
    this.#matches = new Array(this.#table.rowCount).fill(undefined)
    this.#counters = counters
    this.#onIgnoredOverride = onIgnoredOverride
  }

  get domainCount(): number {
    return this.#table.domainCount
  }

  get ruleCount(): number {
    return this.#table.rowCount - this.#table.domainCount
  }

  domainNames(): readonly string[] {
    return this.#table.domainNames()
  }

  hasDomain(domain: string): boolean {
    return this.#table.findDomain(domain) !== noRow
  }

  /**
   * What limits the descriptor; undefined when nothing does. Allocates nothing, unless a rule is
   * met for the first time, the caller sent a limit or the rule wants statistics by value.
   */
  match(domain: string, descriptor: Descriptor): Match | undefined {
    const table = this.#table
    const top = table.findDomain(domain)
    if (top === noRow) return undefined
    if (descriptor.limit !== undefined) {
      const sent = this.#matchOverride(domain, descriptor)
      if (sent !== undefined) return sent
    }
    const row = table.find(top, descriptor.entries)
    if (row === noRow) return undefined
    const match = this.#matchOf(row)
    if (match === undefined || !table.namesValues(row)) return match
    const key = toStatisticsKey(table.requestPathOf(row, descriptor.entries))
    const { limit, sharedValues } = match
    return { limit, counters: this.#counters.forRequest(key), sharedValues }
  }

  /** Whether a rule says something about such entries, even if only that they have no limit. */
  hasRule(domain: string, entries: Descriptor['entries']): boolean {
    const table = this.#table
    const top = table.findDomain(domain)
    const row = top === noRow ? noRow : table.find(top, entries)
    if (row === noRow) return false
    return table.hasLimit(row) || !table.hasChildren(row)
  }

  /**
   * Whether `match` gives the very same for such a descriptor every time. Not where statistics go by
   * what the request says: they are kept in a bounded number, so their counters may change.
   */
  isLasting(domain: string, { entries, limit }: Descriptor): boolean {
    const table = this.#table
    const top = table.findDomain(domain)
    if (top === noRow || limit !== undefined) return false
    const row = table.find(top, entries)
    return row === noRow || !table.namesValues(row)
  }

  /**
   * Makes the counters of some rules: they are listed before anybody meets the rules.
   * @param from the place of the first rule in the configuration. @param to that behind the last.
   */
  openCounters(from: number, to: number): void {
    const table = this.#table
    const { domainCount, rowCount } = table
    const end = Math.min(to + domainCount, rowCount)
    for (let row = from + domainCount; row < end; row += 1) {
      if (table.hasLimit(row)) this.#countersOf(row)
    }
  }

  /** One line per rule with a limit, in the order of the configuration, made as they are asked for. */
  *describe(): Generator<string> {
    const table = this.#table
    for (let row = table.domainCount; row < table.rowCount; row += 1) {
      if (table.hasLimit(row)) yield toLine(new RuleLimit(table, row))
    }
  }

  /** What the log says at level debug while rules are loaded, in the order of the configuration. */
  *describeLoad(): Generator<string> {
    const table = this.#table
    let told = 0
    for (let row = table.domainCount; row < table.rowCount; row += 1) {
      // Domains stand in the order of their first rules.
      if (table.domainOf(row) === told) yield this.#describeDomain(told++)
      yield toLoadLine(table, row)
    }
    while (told < table.domainCount) yield this.#describeDomain(told++)
  }

  /** What `match` does, told step by step. Counts nothing. */
  explain(domain: string, descriptor: Descriptor): Explanation {
    return explainDescriptor(this.#table, domain, descriptor)
  }

  #describeDomain(row: number): string {
    return `loading domain: ${this.#table.keyOf(row)}`
  }

  /** Undefined for a rule without a limit. */
  #matchOf(row: number): RuleMatch | undefined {
    const known = this.#matches[row]
    if (known !== undefined) return known
    const table = this.#table
    if (!table.hasLimit(row)) return undefined
    const match = new RuleMatch(table, row, this.#countersOf(row))
    this.#matches[row] = match
    return match
  }

  #countersOf(row: number): RuleCounters {
    return this.#counters.forRule(toStatisticsKey(this.#table.pathOf(row)))
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

/** In one go, for sets that are small or that nobody waits for. */
export function compileRules(
  set: RuleSet,
  counters: RuleCountersByKey,
  onIgnoredOverride: IgnoredOverride = () => {},
): RuleSnapshot {
  const snapshot = new RuleSnapshot({ rules: packRules(set), counters, onIgnoredOverride })
  snapshot.openCounters(0, snapshot.ruleCount)
  return snapshot
}

/** Less than a millisecond of work. */
const rulesPerTurn = 500

/** The same for rules that another thread has packed, while decisions go on. */
export async function compileInTurns(
  parts: SnapshotParts,
  signal: AbortSignal,
): Promise<RuleSnapshot> {
  const snapshot = new RuleSnapshot(parts)
  for (let from = 0; from < snapshot.ruleCount; from += rulesPerTurn) {
    await nextTurn(undefined, { signal })
    snapshot.openCounters(from, from + rulesPerTurn)
  }
  return snapshot
}

/** One line of /rlconfig. */
function toLine(limit: Limit): string {
  return (
    `${limit.path}: unit=${unitOf(limit)} requests_per_unit=${requestsOf(limit)}, ` +
    `shadow_mode: ${limit.shadowMode}, quota_mode: ${limit.quotaMode}${extensionsOf(limit)}`
  )
}

/** One line of the log at level debug. */
function toLoadLine(table: RuleTable, row: number): string {
  const line = `loading descriptor: key=${table.pathOf(row)}`
  if (!table.hasLimit(row)) return line
  const limit = new RuleLimit(table, row)
  return (
    `${line} ratelimit={requests_per_unit=${requestsOf(limit)}, unit=${unitOf(limit)}, ` +
    `unlimited=${limit.unlimited}, shadow_mode=${limit.shadowMode}, ` +
    `quota_mode=${limit.quotaMode}${extensionsOf(limit)}}`
  )
}

function unitOf({ unit }: Limit): string {
  return unit?.name ?? 'UNKNOWN'
}

function requestsOf({ unlimited, requestsPerUnit }: Limit): number {
  return unlimited ? 0 : requestsPerUnit
}

/** Only where a rule uses them: who reads these lines of envoyproxy/ratelimit reads ours as well. */
function extensionsOf({ unit, windowSeconds, algorithm }: Limit): string {
  const multiplier = unit === undefined ? 1 : windowSeconds / unit.seconds
  const length = multiplier === 1 ? '' : ` unit_multiplier=${multiplier}`
  return algorithm === 'fixed_window' ? length : `${length} algorithm=${algorithm}`
}
