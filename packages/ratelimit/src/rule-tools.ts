// For programs that show, check and explain rules: consoles, editors, pipelines.
export type { Answer as ExplainedDescriptor, CounterPlace } from './commands/explain-answer.ts'
export type { Entry } from './protocol/message.ts'
export { type CheckedRules, checkRules, type RuleFinding } from './rule-tools/check-rules.ts'
export { explainEntries } from './rule-tools/explain-entries.ts'
export { parseRuleLine, type RuleLine } from './rule-tools/parse-rule-line.ts'
export { toRuleLines } from './rule-tools/rule-lines.ts'
export {
  type RuleTreeDomain,
  type RuleTreeLimit,
  type RuleTreeNode,
  toRuleTree,
} from './rule-tools/rule-tree.ts'
export type { Attempt, ExplainedLevel, Explanation, Outcome } from './rules/explain.ts'
export { toLimitText } from './rules/limit-text.ts'
export type { Place, RuleSet } from './rules/rule.ts'
export {
  isPolicyTest,
  type RuleDirectory,
  type RuleFile,
  readRuleDirectory,
} from './rules/sources/rule-directory.ts'
export { toLevel, toStatisticsKey } from './rules/statistics-key.ts'
export { type Unit, unitByName } from './rules/units.ts'
