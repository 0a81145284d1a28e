import { toLoadError } from '../rules/model/fault.ts'
import type { RuleSet } from '../rules/model/rule.ts'
import { parseRuleFiles } from '../rules/yaml/parse.ts'

/** The rules as text: one file or several, with names for what is said about them. */
export type RulesText = string | Readonly<Record<string, string>>

/** A directory of `*.yaml` files, read now and whenever they change. */
export interface RulesDirectory {
  /** The path, relative to the working directory of the process. */
  readonly directory: string
  /** Whether several files may hold rules of one domain. */
  readonly mergeDomains?: boolean
}

/** Rules of the service: YAML text, texts by name, or a directory. */
export type RulesInput = RulesText | RulesDirectory

export function isDirectory(input: RulesInput): input is RulesDirectory {
  return typeof input === 'object' && 'directory' in input
}

/** Something is wrong in the rules. The message tells all of it, a line each. */
export class RulesError extends Error {
  override readonly name = 'RulesError'
}

/** @throws {RulesError} */
export function parseRulesText(input: RulesText): RuleSet {
  const files = Object.entries(typeof input === 'string' ? { rules: input } : input).map(
    ([name, text]) => ({ name, text }),
  )
  const { rules, faults } = parseRuleFiles(files, { mergeDomains: files.length > 1 })
  if (faults.length > 0) {
    const lines = faults.map((fault) =>
      fault.hint === undefined ? toLoadError(fault) : `${toLoadError(fault)}: ${fault.hint}`,
    )
    throw new RulesError(`The rate limit rules cannot be used:\n${lines.join('\n')}`)
  }
  return rules
}
