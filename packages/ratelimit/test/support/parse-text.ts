import assert from 'node:assert/strict'
import { toLoadError } from '../../src/rules/model/fault.ts'
import type { RuleRecord } from '../../src/rules/model/rule.ts'
import { type ParsedRules, parseRuleFiles } from '../../src/rules/yaml/parse.ts'

/** Parses one file named `a.yaml`. */
export function parseText(text: string): ParsedRules {
  return parseRuleFiles([{ name: 'a.yaml', text }], { mergeDomains: false })
}

/** The rules of a file that must be valid. */
export function rulesOf(text: string): readonly RuleRecord[] {
  const { rules, faults } = parseText(text)
  assert.deepEqual(faults, [])
  return rules.rules
}

/** The faults of a file in the format of the log. */
export function faultsOf(text: string): string[] {
  return parseText(text).faults.map(toLoadError)
}

export function warningsOf(text: string): string[] {
  return parseText(text).warnings.map(toLoadError)
}
