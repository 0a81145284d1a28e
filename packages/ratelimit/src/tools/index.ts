// The API for programs that show, check and explain rules, such as consoles, editors and CI pipelines.

export type { Entry } from '../engine.ts'
export type {
  Attempt,
  ExplainedLevel,
  Explanation,
  Outcome,
  Place,
  RuleSet,
} from '../rules/index.ts'
export {
  isPolicyTest,
  type RuleDirectory,
  type RuleFile,
  readRuleDirectory,
  toLevel,
  toLimitText,
  toStatisticsKey,
  type Unit,
  unitByName,
} from '../rules/index.ts'
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
export {
  checkPolicyTests,
  type PolicyTestFailure,
  type PolicyTestOptions,
  type PolicyTestReport,
  type PolicyTestResult,
  runPolicyTests,
} from './policy-tests/run-tests.ts'
export {
  type CompareRulesOptions,
  compareRules,
  type DecisionChange,
  type DescriptorDecision,
  parseRecordedRequest,
  type RuleComparison,
} from './replay/compare-rules.ts'
export type { RecordedRequest } from './replay/recorded-request.ts'
