import { toArgumentError, toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import type { Command, CommandIo } from '@portcullis/service-kit/cli/command'
import { toCountText } from '@portcullis/service-kit/text/format'
import { parseConfig } from '../config/config.ts'
import { readRuleDirectory } from '../rules/sources/file/rule-directory.ts'
import { findCollidingKeys } from '../tools/check/colliding-keys.ts'
import type { Finding } from '../tools/check/fault-report.ts'
import {
  byPlace,
  type Inspection,
  inspectRuleFiles,
  toFinding,
  writeFindings,
} from '../tools/check/rule-files.ts'
import { toFlag, toUnreadable } from './command-texts.ts'

const usage = `Usage: ratelimit check DIR [--strict] [--merge] [--json]

Reads the rule files (*.yaml) in a folder and shows every error in them.
Policy tests (*.test.yaml) are not read: use ratelimit test.

Options:
  --strict  treat warnings as errors
  --merge   allow several files to define one domain, as with
            MERGE_DOMAIN_CONFIG=true
  --json    print one JSON object instead of text

-config_dir DIR and -merge_domain_configs are aliases of DIR and --merge.

MERGE_DOMAIN_CONFIG has the same effect as for serve. With
CACHE_KEY_FORMAT=compatible, check also warns about rules whose counters can
have the same name.

Exit codes: 0 if the rules have no errors, 1 otherwise, 2 for invalid arguments
or a folder that cannot be read.
`

export const check: Command = {
  summary: 'find all errors in a folder of rule files',
  usage,
  async run(args, io) {
    const request = parseArguments(args)
    if (typeof request === 'string') {
      io.stderr.write(toArgumentError('ratelimit check', request))
      return 2
    }
    const { directory, strict, merge, json } = request
    const content = await readRuleDirectory(directory, { ignoreDotFiles: false }).catch(
      (error: unknown) => toUnreadable(directory, error),
    )
    if (typeof content === 'string') {
      io.stderr.write(content)
      return 2
    }
    const { rules, decisions } = parseConfig(io.env).config
    const inspection = inspectRuleFiles(directory, content, merge ?? rules.mergesDomains)
    const result = decisions.keyFormat === 'compatible' ? withCollidingKeys(inspection) : inspection
    const isFine = strict
      ? result.findings.length === 0
      : result.findings.every(({ severity }) => severity === 'warning')
    if (json) writeJson(result, isFine, io)
    else writeText(result, isFine, io)
    return isFine ? 0 : 1
  },
}

/** In the key format of envoyproxy/ratelimit, counters of different rules can have the same key. */
function withCollidingKeys(result: Inspection): Inspection {
  const warnings = findCollidingKeys(result.rules).map((warning) => toFinding(warning, 'warning'))
  return { ...result, findings: [...result.findings, ...warnings].sort(byPlace) }
}

interface Request {
  directory: string
  strict: boolean
  /** When undefined, the environment decides. */
  merge: boolean | undefined
  json: boolean
}

const switches: ReadonlyMap<string, 'strict' | 'merge' | 'json'> = new Map([
  ['strict', 'strict'],
  ['merge', 'merge'],
  ['merge_domain_configs', 'merge'],
  ['json', 'json'],
])

/** Accepts one or two dashes and `-flag=value`, like envoyproxy/ratelimit. Returns a string for an error. */
function parseArguments(args: readonly string[]): Request | string {
  const request: Request = { directory: '', strict: false, merge: undefined, json: false }
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name, value] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg) ?? []
    const field = name === undefined ? undefined : switches.get(name)
    if (field !== undefined) {
      if (value !== undefined && value !== 'true' && value !== 'false') {
        return toValueFault(toFlag(arg), 'true or false', value)
      }
      request[field] = value !== 'false'
    } else if (name === undefined || name === 'config_dir') {
      const directory = name === undefined ? arg : (value ?? rest.shift() ?? '')
      if (directory === '') return `${toFlag(arg) || 'check'} needs a folder.`
      if (request.directory !== '') {
        return `Unexpected argument ${JSON.stringify(directory)}: check takes one folder.`
      }
      request.directory = directory
    } else {
      return `Unknown option ${toFlag(arg)}.`
    }
  }
  return request.directory === '' ? 'The folder of the rules is missing.' : request
}

function writeText(result: Inspection, isFine: boolean, io: CommandIo): void {
  writeFindings(result.findings, result.texts, io)
  const count = (severity: Finding['severity']) =>
    result.findings.filter((finding) => finding.severity === severity).length
  const counts = [toCountText(count('fault'), 'error'), toCountText(count('warning'), 'warning')]
  io.stdout.write(`${counts.join(' and ')} in ${toCountText(result.fileCount, 'file')}\n`)
  if (!isFine) return
  const { domains, rules } = result.rules
  io.stdout.write(
    `${toCountText(domains.length, 'domain')} with ${toCountText(rules.length, 'rule')}\n`,
  )
  io.stdout.write('all rate limit configs ok\n')
}

function writeJson(result: Inspection, isFine: boolean, io: CommandIo): void {
  const { fileCount, rules, findings } = result
  const counts = { files: fileCount, domains: rules.domains.length, rules: rules.rules.length }
  io.stdout.write(`${JSON.stringify({ ok: isFine, ...counts, findings }, undefined, 2)}\n`)
}
