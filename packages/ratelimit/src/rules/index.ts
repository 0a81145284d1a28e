/**
 * The parts of the rules that the tools may use: to read them, to explain matches, and to show them. The service
 * itself imports the files directly.
 */

export { toLevel, toStatisticsKey } from '../stats/statistics-key.ts'
export { TextLines } from '../yaml/text-lines.ts'
export { toNumber, type YamlMap, type YamlNode } from '../yaml/yaml-node.ts'
export { readYaml } from '../yaml/yaml-reader.ts'
export type {
  Attempt,
  ExplainedLevel,
  ExplainedRule,
  Explanation,
  Outcome,
} from './match/explain.ts'
export { compileRules, type RuleSnapshot } from './match/snapshot.ts'
export type { RuleFault } from './model/fault.ts'
export {
  type Algorithm,
  type Limit,
  type LimitRecord,
  type Match,
  type Place,
  type RuleRecord,
  type RuleSet,
  toLimitText,
  type Unit,
  unitByName,
  unitByWire,
  units,
} from './model/rule.ts'
export {
  isPolicyTest,
  type RuleDirectory,
  readRuleDirectory,
  readText,
  toBrokenFaults,
  toReadError,
} from './sources/file/rule-directory.ts'
export { FaultList } from './yaml/fault-list.ts'
export { describe, isNull } from './yaml/field-reader.ts'
export { parseRuleFiles, type RuleFile } from './yaml/parse.ts'
