import { join } from 'node:path'
import { toArgumentError, toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import { type Command, type CommandIo, usesColor } from '@portcullis/service-kit/cli/command'
import { parseConfig } from '../config/config.ts'
import type { Descriptor, Entry } from '../protocol/message.ts'
import { compileRules, type RuleSnapshot } from '../rules/match/snapshot.ts'
import { readRuleDirectory } from '../rules/sources/file/rule-directory.ts'
import { parseRuleFiles } from '../rules/yaml/parse.ts'
import { RuleCounters } from '../stats/rule-counters.ts'
import { toAnswers } from '../tools/explain/explain-answer.ts'
import { toText } from '../tools/explain/explain-text.ts'
import { descriptorSyntax, toFlag, toUnreadable } from './command-texts.ts'

const usage = `Usage: ratelimit explain DIR -domain NAME -descriptors ENTRIES [OPTION…]

Shows which rule in a folder matches a descriptor and why, and which counter
its hits go to.

Options:
  -domain NAME          the domain of the request
  -descriptors ENTRIES  one descriptor, KEY=VALUE[,KEY=VALUE…]; repeatable,
                        because a limit can replace another
  --now SECONDS         the Unix time of the request; default: the current time
  --merge               allow several files to define one domain, as with
                        MERGE_DOMAIN_CONFIG=true
  --json                print one JSON object instead of text

CACHE_KEY_FORMAT, CACHE_KEY_PREFIX and MERGE_DOMAIN_CONFIG have the same effect
as for serve.

Exit codes: 0 on success, 1 for errors in the rules, 2 for invalid arguments or
a folder that cannot be read.
`

export const explain: Command = {
  summary: 'show which rule matches a descriptor, and why',
  usage,
  async run(args, io) {
    const request = parseExplainArguments(args)
    if (typeof request === 'string') {
      io.stderr.write(toArgumentError('ratelimit explain', request))
      return 2
    }
    const { rules, decisions } = parseConfig(io.env).config
    const mergeDomains = request.merge || rules.mergesDomains
    const loaded = await loadRules(request.directory, mergeDomains, io)
    if (typeof loaded === 'number') return loaded
    const answers = toAnswers(loaded, request, {
      cacheKeyPrefix: decisions.cacheKeyPrefix,
      keyFormat: decisions.keyFormat,
      nowSeconds: request.nowSeconds ?? Math.floor(Date.now() / 1000),
    })
    if (request.json) io.stdout.write(`${JSON.stringify(answers, undefined, 2)}\n`)
    else io.stdout.write(toText(answers, usesColor(io)))
    return 0
  },
}

/** Returns the rules, or an exit code when they cannot be used. */
async function loadRules(
  directory: string,
  mergeDomains: boolean,
  io: CommandIo,
): Promise<RuleSnapshot | number> {
  const content = await readRuleDirectory(directory, { ignoreDotFiles: false }).catch(
    (error: unknown) => toUnreadable(directory, error),
  )
  if (typeof content === 'string') {
    io.stderr.write(content)
    return 2
  }
  const files = content.files.map(({ name, text }) => ({ name: join(directory, name), text }))
  for (const { name, reason } of content.unreadable) {
    io.stderr.write(`${join(directory, name)} is skipped because it cannot be read: ${reason}\n`)
  }
  const { rules, faults } = parseRuleFiles(files, { mergeDomains })
  const [first] = faults
  if (first !== undefined) {
    const { file, line, column } = first.place
    io.stderr.write(`${file}:${line}:${column}: ${first.message}\n`)
    io.stderr.write(
      `The rules have errors and would not be loaded. To see all errors: ratelimit check ${directory}\n`,
    )
    return 1
  }
  if (files.length === 0) io.stderr.write(`The folder ${directory} contains no rules (*.yaml).\n`)
  // No statistics are shown, so all rules can share one object.
  const counters = new RuleCounters()
  return compileRules(rules, { forRule: () => counters, forRequest: () => counters })
}

export interface ExplainRequest {
  readonly directory: string
  readonly domain: string
  readonly descriptors: readonly Descriptor[]
  /** The Unix time of the request; when undefined, the current time. */
  readonly nowSeconds: number | undefined
  readonly merge: boolean
  readonly json: boolean
}

const switches = new Set(['json', 'merge'])
const valued = new Set(['domain', 'descriptors', 'now'])

/**
 * Accepts the same syntax as the client: one or two dashes, `-flag value` or `-flag=value`. Returns a string
 * for an error.
 */
function parseExplainArguments(args: readonly string[]): ExplainRequest | string {
  const given = parseFlags(args)
  if (typeof given === 'string') return given
  const { values, positional } = given
  const [directory, other] = positional
  if (directory === undefined) return 'The folder of the rules is missing.'
  if (other !== undefined) {
    return `Unexpected argument ${JSON.stringify(other)}: explain takes one folder.`
  }
  const domain = values.get('domain')?.at(-1)
  if (domain === undefined || domain === '') return '-domain is missing.'

  const descriptors: Descriptor[] = []
  for (const text of values.get('descriptors') ?? []) {
    const entries = parseEntries(text)
    if (entries === undefined) {
      return toValueFault('-descriptors', descriptorSyntax, text)
    }
    descriptors.push({ entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false })
  }
  if (descriptors.length === 0) return '-descriptors is missing.'

  const now = values.get('now')?.at(-1)
  if (now !== undefined && !/^\d{1,15}$/.test(now)) {
    return toValueFault('--now', 'a Unix time in whole seconds', now)
  }
  const nowSeconds = now === undefined ? undefined : Number(now)
  const isOn = (name: string) => values.has(name)
  return { directory, domain, descriptors, nowSeconds, merge: isOn('merge'), json: isOn('json') }
}

interface Flags {
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly positional: readonly string[]
}

function parseFlags(args: readonly string[]): Flags | string {
  const values = new Map<string, string[]>()
  const positional: string[] = []
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name, inline] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg) ?? []
    if (name === undefined) {
      positional.push(arg)
    } else if (switches.has(name)) {
      if (inline !== undefined) return `${toFlag(arg)} takes no value.`
      values.set(name, [])
    } else if (valued.has(name)) {
      const value = inline ?? rest.shift()
      if (value === undefined) return `${arg} needs a value.`
      values.set(name, [...(values.get(name) ?? []), value])
    } else {
      return `Unknown option ${toFlag(arg)}.`
    }
  }
  return { values, positional }
}

function parseEntries(text: string): Entry[] | undefined {
  const entries: Entry[] = []
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    if (at <= 0) return undefined
    entries.push({ key: pair.slice(0, at), value: pair.slice(at + 1) })
  }
  return entries
}
