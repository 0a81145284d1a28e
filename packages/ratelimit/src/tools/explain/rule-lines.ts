import type { RuleSet } from '../../rules/model/rule.ts'
import { compileToRead } from './compile-to-read.ts'

/** What `/rlconfig` says when exactly these rules are in force. */
export function toRuleLines(rules: RuleSet): string[] {
  return [...compileToRead(rules).describe()]
}
