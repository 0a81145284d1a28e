// For programs that show, check and explain rules: consoles, editors, pipelines.

export type { Entry } from '../protocol/message.ts'
export type { Attempt, ExplainedLevel, Explanation, Outcome } from '../rules/match/explain.ts'
export type { Place, RuleSet } from '../rules/model/rule.ts'
export { toLimitText, type Unit, unitByName } from '../rules/model/rule.ts'
export { toLevel, toStatisticsKey } from '../rules/model/statistics-key.ts'
export {
  isPolicyTest,
  type RuleDirectory,
  type RuleFile,
  readRuleDirectory,
} from '../rules/sources/file/rule-directory.ts'
export { type CheckedRules, checkRules, type RuleFinding } from './check/rule-files.ts'
export type { Answer as ExplainedDescriptor, CounterPlace } from './explain/explain-answer.ts'
export { explainEntries } from './explain/explain-answer.ts'
export { parseRuleLine, type RuleLine, toRuleLines } from './explain/rule-lines.ts'
export {
  type RuleTreeDomain,
  type RuleTreeLimit,
  type RuleTreeNode,
  toRuleTree,
} from './explain/rule-tree.ts'
