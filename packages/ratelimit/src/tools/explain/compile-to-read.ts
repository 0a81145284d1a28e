import { compileRules } from '../../rules/match/compile.ts'
import type { RuleSnapshot } from '../../rules/match/snapshot.ts'
import type { RuleSet } from '../../rules/model/rule.ts'
import { RuleCounters } from '../../stats/instruments.ts'

/** For looking at rules only: nobody asks what they counted. */
export function compileToRead(rules: RuleSet): RuleSnapshot {
  const nothing = new RuleCounters()
  return compileRules(rules, { forRule: () => nothing, forRequest: () => nothing })
}
