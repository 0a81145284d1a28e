import { join } from 'node:path'
import { type CommandIo, usesColor } from '@portcullis/service-kit/cli/command'
import {
  parseRuleFiles,
  type RuleDirectory,
  type RuleFault,
  type RuleSet,
  readRuleDirectory,
  toBrokenFaults,
} from '../../rules/index.ts'
import { colorPalette, type Finding, plainPalette, toReport } from './fault-report.ts'

/** The rule files of a folder, and the findings about them. */
export interface Inspection {
  readonly fileCount: number
  /** Empty if there are faults. */
  readonly rules: RuleSet
  /** In the order of files and lines. */
  readonly findings: readonly Finding[]
  /** By path. */
  readonly texts: ReadonlyMap<string, string>
}

/** Rejects when the folder cannot be read. */
export async function inspectRules(directory: string, mergeDomains: boolean): Promise<Inspection> {
  const content = await readRuleDirectory(directory, { ignoreDotFiles: false })
  return inspectRuleFiles(directory, content, mergeDomains)
}

export function inspectRuleFiles(
  directory: string,
  content: RuleDirectory,
  mergeDomains: boolean,
): Inspection {
  const pathOf = (name: string) => join(directory, name)
  const files = content.files.map(({ name, text }) => ({ name: pathOf(name), text }))
  const { rules, faults, warnings } = parseRuleFiles(files, { mergeDomains })
  const missing = content.unreadable.filter(({ brokenLine }) => brokenLine === undefined)
  const findings: Finding[] = [
    ...[...toBrokenFaults(content, pathOf), ...faults].map((fault) => toFinding(fault, 'fault')),
    ...warnings.map((warning) => toFinding(warning, 'warning')),
    ...missing.map(({ name, reason }) =>
      toFileFinding('fault', pathOf(name), `error reading file ${pathOf(name)}: ${reason}`),
    ),
    ...content.skipped.map(({ name, reason }) =>
      toFileFinding('warning', pathOf(name), `${pathOf(name)}: ${reason}`),
    ),
  ]
  if (files.length === 0 && findings.length === 0) {
    findings.push(toFileFinding('warning', directory, `${directory} contains no *.yaml files`))
  }
  return {
    fileCount: files.length,
    rules,
    findings: findings.sort(byPlace),
    texts: new Map(files.map(({ name, text }) => [name, text])),
  }
}

export function toFinding(fault: RuleFault, severity: Finding['severity']): Finding {
  const { message, place, hint } = fault
  const { file, line, column } = place
  return { severity, path: file, line, column, message, ...(hint === undefined ? {} : { hint }) }
}

export function toFileFinding(
  severity: Finding['severity'],
  path: string,
  message: string,
): Finding {
  return { severity, path, message }
}

/** Orders findings by file, line and column. */
export function byPlace(a: Finding, b: Finding): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}

/** Writes each finding with the line of the file that it refers to. */
export function writeFindings(
  findings: readonly Finding[],
  texts: ReadonlyMap<string, string>,
  io: CommandIo,
): void {
  const palette = usesColor(io) ? colorPalette : plainPalette
  const lines = new Map<string, readonly string[]>()
  for (const finding of findings) {
    const { path, line } = finding
    const text = lines.get(path) ?? texts.get(path)?.split(/\r\n?|\n/)
    if (text !== undefined) lines.set(path, text)
    const source = line === undefined ? undefined : text?.[line - 1]
    io.stdout.write(`${toReport(finding, source, palette)}\n`)
  }
}

/** A fault or a warning that `ratelimit check` finds. */
export interface RuleFinding {
  /** Rules with a fault are not used; a warning does not prevent that. */
  readonly severity: Finding['severity']
  /** The name of the file within its folder; empty for a finding about the folder. */
  readonly file: string
  /** Starts at 1; undefined for a finding about the whole file. */
  readonly line: number | undefined
  /** Starts at 1; undefined for a finding about the whole line or file. */
  readonly column: number | undefined
  /** The description of the error. */
  readonly message: string
  /** How to correct it, if the message alone does not say. */
  readonly hint: string | undefined
}

/** The result of {@link checkRules}. */
export interface CheckedRules {
  /** Empty if there are faults: such rules are never loaded. */
  readonly rules: RuleSet
  /** In the order of files and lines. */
  readonly findings: readonly RuleFinding[]
}

export interface CheckRulesOptions {
  /** Whether several files may contain rules for one domain, as with MERGE_DOMAIN_CONFIG=true. */
  readonly mergeDomains?: boolean
}

/** Checks the files of a folder together, as read from disk or as they would be after a change. */
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
