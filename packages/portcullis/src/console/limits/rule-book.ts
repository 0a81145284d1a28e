import {
  checkRules,
  parseRuleLine,
  type RuleFinding,
  type RuleSet,
  type RuleTreeLimit,
  type RuleTreeNode,
  readRuleDirectory,
  toLimitText,
  toRuleLines,
  toRuleTree,
  toStatisticsKey,
  unitByName,
} from '@portcullis/ratelimit/rules'
import { toReason } from '@portcullis/service-kit/text/reason'
import { ConsoleError } from '../errors.ts'
import type { RatelimitTarget } from '../settings.ts'
import { readDebugPage } from './statistics.ts'

/** The rules as far as the console can read them. */
export interface RuleBook {
  /** Files have nested rules with line numbers; the service returns a flat list. */
  readonly source: 'files' | 'service'
  readonly domains: readonly ShownDomain[]
  /** A warning to display. */
  readonly notice: string | undefined
}

export interface ShownDomain {
  readonly domain: string
  readonly rules: readonly ShownRule[]
}

export interface ShownRule {
  /** In a flat list, everything after the domain. */
  readonly key: string
  /** Empty: any value. */
  readonly value: string
  readonly path: string
  readonly statisticsKey: string
  readonly limit: RuleTreeLimit | undefined
  /** Human-readable, such as `5 per minute`; empty if the rule has no limit. */
  readonly limitText: string
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  /** Whether the rule has separate statistics per value. */
  readonly detailedMetric: boolean
  readonly valueToMetric: boolean
  readonly shareThreshold: boolean
  readonly place: { readonly file: string; readonly line: number } | undefined
  readonly rules: readonly ShownRule[]
}

/** The current content of the files in a folder. */
interface DirectoryRules {
  readonly rules: RuleSet
  readonly findings: readonly RuleFinding[]
}

/** Reads the rules from the files if a folder is configured, otherwise from the service. */
export async function readRuleBook(target: RatelimitTarget): Promise<RuleBook> {
  const { rulesDirectory, debugUrl } = target
  if (rulesDirectory === undefined) return await readServiceRules(debugUrl)
  const { rules, findings } = await readDirectoryRules(rulesDirectory)
  const fault = findings.find(({ severity }) => severity === 'fault')
  if (fault !== undefined) {
    const where = fault.line === undefined ? fault.file : `${fault.file}, line ${fault.line}`
    const book = await readServiceRules(debugUrl)
    const inForce = book.domains.length > 0 ? 'The previous rules remain' : 'No rules are'
    const notice = `The rule files contain an error (${where}: ${fault.message}). ${inForce} in force.`
    return { ...book, notice }
  }
  return {
    source: 'files',
    domains: toRuleTree(rules).map((each) => ({ ...each, rules: each.rules.map(toShownRule) })),
    notice: await compareWithService(debugUrl, rules),
  }
}

/** @throws {ConsoleError} when the folder cannot be read. */
export async function readDirectoryRules(directory: string): Promise<DirectoryRules> {
  return checkRules(await readDirectory(directory))
}

/** @throws {ConsoleError} when the folder cannot be read. */
export async function readDirectory(directory: string) {
  try {
    return await readRuleDirectory(directory, { ignoreDotFiles: false })
  } catch (error) {
    const message = `The rule folder ${directory} cannot be read: ${toReason(error)}`
    throw new ConsoleError(500, 'directory_unreadable', message, error)
  }
}

function toShownRule(node: RuleTreeNode): ShownRule {
  return { ...node, limitText: describeLimit(node.limit), rules: node.rules.map(toShownRule) }
}

function describeLimit(limit: RuleTreeLimit | undefined): string {
  if (limit === undefined) return ''
  return toLimitText({ ...limit, unit: unitByName(limit.unit ?? '') })
}

async function readServiceRules(debugUrl: string): Promise<RuleBook> {
  const domains = new Map<string, ShownRule[]>()
  for (const line of (await readDebugPage(debugUrl, '/rlconfig')).split('\n')) {
    const rule = parseRuleLine(line)
    if (rule === undefined) continue
    // The list does not show which dots are part of names; few domains contain one.
    const dot = rule.path.indexOf('.')
    const domain = rule.path.slice(0, dot)
    const rules = domains.get(domain) ?? []
    domains.set(domain, rules)
    rules.push({
      ...rule,
      limitText: describeLimit(rule.limit),
      key: rule.path.slice(dot + 1),
      value: '',
      statisticsKey: toStatisticsKey(rule.path),
      detailedMetric: false,
      valueToMetric: false,
      shareThreshold: false,
      place: undefined,
      rules: [],
    })
  }
  const shown = [...domains].map(([domain, rules]) => ({ domain, rules: splitValues(rules) }))
  return { source: 'service', domains: shown, notice: undefined }
}

/** Next to a rule `user`, a rule `user_7` most likely is the one for the value 7. */
function splitValues(rules: readonly ShownRule[]): ShownRule[] {
  const keys = new Set(rules.map(({ key }) => key))
  return rules.map((rule) => {
    const { key } = rule
    for (let end = key.indexOf('_'); end !== -1; end = key.indexOf('_', end + 1)) {
      const start = key.slice(0, end)
      if (keys.has(start)) return { ...rule, key: start, value: key.slice(end + 1) }
    }
    return rule
  })
}

async function compareWithService(debugUrl: string, rules: RuleSet): Promise<string | undefined> {
  try {
    const inForce = (await readDebugPage(debugUrl, '/rlconfig')).split('\n').filter(Boolean)
    const written = toRuleLines(rules)
    if (inForce.sort().join('\n') === written.sort().join('\n')) return undefined
    return 'The rules in force differ from these files. The service may not have loaded them yet, or it reads another folder.'
  } catch (error) {
    if (!(error instanceof ConsoleError)) throw error
    return error.message
  }
}
