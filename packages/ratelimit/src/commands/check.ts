import { join } from 'node:path'
import type { RuleFault } from '../rules/fault.ts'
import { colourPalette, type Finding, plainPalette, toReport } from '../rules/fault-report.ts'
import { parseRuleFiles } from '../rules/parse.ts'
import { type RuleDirectory, readRuleDirectory } from '../rules/sources/rule-directory.ts'
import type { Command, CommandIo } from './command.ts'

const usage = `Usage: ratelimit check DIR [--strict] [--merge] [--json]

Reads the rule files (*.yaml) of a directory and shows all that is wrong in them.

  --strict  warnings count as faults
  --merge   several files may define one domain, as with MERGE_DOMAIN_CONFIG=true
  --json    one JSON object instead of text

-config_dir DIR and -merge_domain_configs mean the same as DIR and --merge.
Exit code: 0 fine, 1 faults, 2 wrong usage or a directory that cannot be read.
`

export const check: Command = {
  summary: 'find all faults in a directory of rule files',
  usage,
  async run(args, io) {
    const request = parseArguments(args)
    if (typeof request === 'string') {
      io.stderr.write(`${request}\n\n${usage}`)
      return 2
    }
    const { directory, strict, merge, json } = request
    const content = await readRuleDirectory(directory, { ignoreDotFiles: false }).catch(toError)
    if (content instanceof Error) {
      io.stderr.write(`error opening directory ${directory}: ${content.message}\n`)
      return 2
    }
    const result = inspect(directory, content, merge)
    const isFine = strict
      ? result.findings.length === 0
      : result.findings.every(({ severity }) => severity === 'warning')
    if (json) writeJson(result, isFine, io)
    else writeText(result, isFine, io)
    return isFine ? 0 : 1
  },
}

interface Request {
  directory: string
  strict: boolean
  merge: boolean
  json: boolean
}

const switches: ReadonlyMap<string, 'strict' | 'merge' | 'json'> = new Map([
  ['strict', 'strict'],
  ['merge', 'merge'],
  ['merge_domain_configs', 'merge'],
  ['json', 'json'],
])

/** One or two dashes and `-flag=value`, as envoyproxy/ratelimit takes them. A text is a problem. */
function parseArguments(args: readonly string[]): Request | string {
  const request: Request = { directory: '', strict: false, merge: false, json: false }
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name, value] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg) ?? []
    const field = name === undefined ? undefined : switches.get(name)
    if (field !== undefined) {
      if (value !== undefined && value !== 'true' && value !== 'false') {
        return `${arg}: true or false is expected`
      }
      request[field] = value !== 'false'
    } else if (name === undefined || name === 'config_dir') {
      const directory = name === undefined ? arg : (value ?? rest.shift() ?? '')
      if (directory === '') return `${arg} needs a directory`
      if (request.directory !== '') return 'only one directory can be checked at a time'
      request.directory = directory
    } else {
      return `unknown option ${arg}`
    }
  }
  return request.directory === '' ? 'the directory to check is missing' : request
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

interface Inspection {
  readonly fileCount: number
  readonly domainCount: number
  readonly ruleCount: number
  /** In the order of files and lines. */
  readonly findings: readonly Finding[]
  readonly texts: ReadonlyMap<string, string>
}

function inspect(directory: string, content: RuleDirectory, mergeDomains: boolean): Inspection {
  const pathOf = (name: string) => join(directory, name)
  const files = content.files.map(({ name, text }) => ({ name: pathOf(name), text }))
  const { rules, faults, warnings } = parseRuleFiles(files, { mergeDomains })
  const findings: Finding[] = [
    ...faults.map((fault) => toFinding(fault, 'fault')),
    ...warnings.map((warning) => toFinding(warning, 'warning')),
    ...content.unreadable.map(({ name, reason }) =>
      toFileFinding('fault', pathOf(name), `error reading file ${pathOf(name)}: ${reason}`),
    ),
    ...content.skipped.map(({ name, reason }) =>
      toFileFinding('warning', pathOf(name), `${pathOf(name)}: ${reason}`),
    ),
  ]
  if (files.length === 0 && findings.length === 0) {
    findings.push(toFileFinding('warning', directory, `${directory} holds no *.yaml file`))
  }
  return {
    fileCount: files.length,
    domainCount: rules.domains.length,
    ruleCount: rules.rules.length,
    findings: findings.sort(byPlace),
    texts: new Map(files.map(({ name, text }) => [name, text])),
  }
}

function toFinding({ message, place, hint }: RuleFault, severity: Finding['severity']): Finding {
  const { file, line, column } = place
  return { severity, path: file, line, column, message, ...(hint === undefined ? {} : { hint }) }
}

function toFileFinding(severity: Finding['severity'], path: string, message: string): Finding {
  return { severity, path, message }
}

function byPlace(a: Finding, b: Finding): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}

function writeText(result: Inspection, isFine: boolean, io: CommandIo): void {
  const palette = io.isTerminal && !io.env['NO_COLOR'] ? colourPalette : plainPalette
  const lines = new Map<string, readonly string[]>()
  for (const finding of result.findings) {
    const { path, line } = finding
    const text = lines.get(path) ?? result.texts.get(path)?.split(/\r\n?|\n/)
    if (text !== undefined) lines.set(path, text)
    const source = line === undefined ? undefined : text?.[line - 1]
    io.stdout.write(`${toReport(finding, source, palette)}\n`)
  }
  const count = (severity: Finding['severity']) =>
    result.findings.filter((finding) => finding.severity === severity).length
  const counts = [toCount(count('fault'), 'fault'), toCount(count('warning'), 'warning')]
  io.stdout.write(`${counts.join(' and ')} in ${toCount(result.fileCount, 'file')}\n`)
  if (!isFine) return
  const domains = toCount(result.domainCount, 'domain')
  io.stdout.write(`${domains} with ${toCount(result.ruleCount, 'rule')}\n`)
  io.stdout.write('all rate limit configs ok\n')
}

function toCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function writeJson(result: Inspection, isFine: boolean, io: CommandIo): void {
  const { fileCount, domainCount, ruleCount, findings } = result
  const counts = { files: fileCount, domains: domainCount, rules: ruleCount }
  io.stdout.write(`${JSON.stringify({ ok: isFine, ...counts, findings }, undefined, 2)}\n`)
}
