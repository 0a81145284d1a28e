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

/** The rules of one load. It is immutable: a reload creates another snapshot. */
export class RuleSnapshot {
  readonly #table: RuleTable
  /** By row, created at the first match, because most rules of a large configuration are never matched. */
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
   * Returns the limit of the descriptor; undefined if there is none. Allocates nothing, unless a rule matches
   * for the first time, the request contains a limit, or the rule has statistics by value.
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

  /** Whether a rule matches these entries, even if it is unlimited. */
  hasRule(domain: string, entries: Descriptor['entries']): boolean {
    const table = this.#table
    const top = table.findDomain(domain)
    const row = top === noRow ? noRow : table.find(top, entries)
    if (row === noRow) return false
    return table.hasLimit(row) || !table.hasChildren(row)
  }

  /**
   * Whether `match` returns the same object for such a descriptor every time. It does not if statistics are
   * named after request values: their number is bounded, so their counters may be replaced.
   */
  isLasting(domain: string, { entries, limit }: Descriptor): boolean {
    const table = this.#table
    const top = table.findDomain(domain)
    if (top === noRow || limit !== undefined) return false
    const row = table.find(top, entries)
    return row === noRow || !table.namesValues(row)
  }

  /**
   * Creates the counters of some rules, so that statistics list them before the rules are first matched.
   * @param from - the index of the first rule in the configuration
   * @param to - the index after the last rule
   */
  openCounters(from: number, to: number): void {
    const table = this.#table
    const { domainCount, rowCount } = table
    const end = Math.min(to + domainCount, rowCount)
    for (let row = from + domainCount; row < end; row += 1) {
      if (table.hasLimit(row)) this.#countersOf(row)
    }
  }

  /** Generates one line per rule with a limit, in the order of the configuration. */
  *describe(): Generator<string> {
    const table = this.#table
    for (let row = table.domainCount; row < table.rowCount; row += 1) {
      if (table.hasLimit(row)) yield toLine(new RuleLimit(table, row))
    }
  }

  /** Generates the log lines at level debug for a load, in the order of the configuration. */
  *describeLoad(): Generator<string> {
    const table = this.#table
    let nextDomain = 0
    for (let row = table.domainCount; row < table.rowCount; row += 1) {
      // Domains are in the order of their first rules.
      if (table.domainOf(row) === nextDomain) yield this.#describeDomain(nextDomain++)
      yield toLoadLine(table, row)
    }
    while (nextDomain < table.domainCount) yield this.#describeDomain(nextDomain++)
  }

  /** Explains the result of `match` step by step. Counts nothing. */
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

/** Compiles rules synchronously, for small sets, or if no decisions are waiting. */
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

/** Compiles rules that another thread has packed, without blocking decisions. */
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

/**
 * Shown only if a rule uses them, so that parsers for the lines of envoyproxy/ratelimit work here as well.
 */
function extensionsOf({ unit, windowSeconds, algorithm }: Limit): string {
  const multiplier = unit === undefined ? 1 : windowSeconds / unit.seconds
  const length = multiplier === 1 ? '' : ` unit_multiplier=${multiplier}`
  return algorithm === 'fixed_window' ? length : `${length} algorithm=${algorithm}`
}
