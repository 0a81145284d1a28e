import { compileRules } from '../rules/compile.ts'
import type { RuleSet } from '../rules/rule.ts'
import type { RuleSnapshot } from '../rules/snapshot.ts'
import { RuleCounters } from '../stats/rule-counters.ts'

/** For looking at rules only: nobody asks what they counted. */
export function compileToRead(rules: RuleSet): RuleSnapshot {
  const nothing = new RuleCounters()
  return compileRules(rules, { forRule: () => nothing, forRequest: () => nothing })
}
