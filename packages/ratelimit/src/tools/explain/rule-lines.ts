import { RuleCounters } from '../../engine.ts'
import { compileRules, type RuleSet, type RuleSnapshot, unitByName } from '../../rules/index.ts'
import type { RuleTreeLimit } from './rule-tree.ts'

/** The output of `/rlconfig` for these rules. */
export function toRuleLines(rules: RuleSet): string[] {
  return [...compileToRead(rules).describe()]
}

/** Compiles rules for reading only, with unused counters. */
export function compileToRead(rules: RuleSet): RuleSnapshot {
  const nothing = new RuleCounters()
  return compileRules(rules, { forRule: () => nothing, forRequest: () => nothing })
}

/** A line of `/rlconfig`, from this service or from envoyproxy/ratelimit. */
export interface RuleLine {
  /** `domain.key[_value].key[_value]…`; the boundaries between the parts are unknown. */
  readonly path: string
  /** The limit of the rule. */
  readonly limit: RuleTreeLimit
  /** Whether requests are only counted and never refused. */
  readonly shadowMode: boolean
  /** Whether the limit refuses only together with all other limits in quota mode. */
  readonly quotaMode: boolean
}

// A path may contain anything, so it ends at the last text that looks like a limit.
const pattern =
  /^(?<path>.+): unit=(?<unit>\w+) requests_per_unit=(?<requests>\d+), shadow_mode: (?<shadow>true|false)(?:, quota_mode: (?<quota>true|false))?(?: unit_multiplier=(?<multiplier>\d+))?(?: algorithm=(?<algorithm>\w+))?$/

/** Returns undefined for any other line. */
export function parseRuleLine(line: string): RuleLine | undefined {
  const found = pattern.exec(line)?.groups
  if (found === undefined) return undefined
  const unit = unitByName(found['unit'] ?? '')
  return {
    path: found['path'] ?? '',
    limit: {
      requestsPerUnit: Number(found['requests']),
      unit: unit?.name,
      windowSeconds: (unit?.seconds ?? 0) * Number(found['multiplier'] ?? 1),
      algorithm: found['algorithm'] === 'sliding_window' ? 'sliding_window' : 'fixed_window',
      // Only unlimited rules lack a known unit.
      unlimited: unit === undefined,
      name: '',
      replaces: [],
    },
    shadowMode: found['shadow'] === 'true',
    quotaMode: found['quota'] === 'true',
  }
}
