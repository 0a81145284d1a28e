import { RuleCounters } from '../../engine.ts'
import { compileRules, type RuleSet, type RuleSnapshot, unitByName } from '../../rules/index.ts'
import type { RuleTreeLimit } from './rule-tree.ts'

/** What `/rlconfig` says when exactly these rules are in force. */
export function toRuleLines(rules: RuleSet): string[] {
  return [...compileToRead(rules).describe()]
}

/** For looking at rules only: nobody asks what they counted. */
export function compileToRead(rules: RuleSet): RuleSnapshot {
  const nothing = new RuleCounters()
  return compileRules(rules, { forRule: () => nothing, forRequest: () => nothing })
}

/** A line of `/rlconfig`, of our service or of envoyproxy/ratelimit. */
export interface RuleLine {
  /** `domain.key[_value].key[_value]…`: where one part ends and the next begins is not told. */
  readonly path: string
  /** The limit of the rule. */
  readonly limit: RuleTreeLimit
  /** Whether hits are counted and never refused. */
  readonly shadowMode: boolean
  /** Whether being over is reported without refusing. */
  readonly quotaMode: boolean
}

// A path may hold whatever a value may, so it ends at the last place that looks like a limit.
const pattern =
  /^(?<path>.+): unit=(?<unit>\w+) requests_per_unit=(?<requests>\d+), shadow_mode: (?<shadow>true|false)(?:, quota_mode: (?<quota>true|false))?(?: unit_multiplier=(?<multiplier>\d+))?(?: algorithm=(?<algorithm>\w+))?$/

/** Undefined for a line that is none. */
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
      // No limit has such a unit.
      unlimited: unit === undefined,
      name: '',
      replaces: [],
    },
    shadowMode: found['shadow'] === 'true',
    quotaMode: found['quota'] === 'true',
  }
}
