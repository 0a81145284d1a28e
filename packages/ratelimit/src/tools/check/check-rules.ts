import type { RuleSet } from '../../rules/model/rule.ts'
import type { RuleDirectory } from '../../rules/sources/file/rule-directory.ts'
import type { Finding } from './fault-report.ts'
import { inspectRuleFiles } from './rule-files.ts'

/** A fault or a warning, as `ratelimit check` finds it. */
export interface RuleFinding {
  /** Rules with a fault are not used; a warning does not prevent that. */
  readonly severity: Finding['severity']
  /** The name of the file inside its directory; empty where it is about the directory. */
  readonly file: string
  /** From 1; undefined where it is about the file as a whole. */
  readonly line: number | undefined
  /** From 1; undefined where it is about the line or the file as a whole. */
  readonly column: number | undefined
  /** What is wrong. */
  readonly message: string
  /** What to do about it, where the message alone does not say. */
  readonly hint: string | undefined
}

/** The result of {@link checkRules}. */
export interface CheckedRules {
  /** Empty when there is any fault: such rules are never used. */
  readonly rules: RuleSet
  /** In the order of files and lines. */
  readonly findings: readonly RuleFinding[]
}

export interface CheckRulesOptions {
  /** Whether several files may hold rules of one domain, as with MERGE_DOMAIN_CONFIG=true. */
  readonly mergeDomains?: boolean
}

/** Checks the files of a directory together: read from disk, or as they would be after a change. */
export function checkRules(
  directory: RuleDirectory,
  { mergeDomains = false }: CheckRulesOptions = {},
): CheckedRules {
  const { rules, findings } = inspectRuleFiles('', directory, mergeDomains)
  return { rules, findings: findings.map(toRuleFinding) }
}

function toRuleFinding({ severity, path, line, column, message, hint }: Finding): RuleFinding {
  return { severity, file: path, line, column, message, hint }
}
