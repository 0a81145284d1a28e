import { join } from 'node:path'
import type { Command, CommandIo } from '@portcullis/service-kit/command'
import { parseConfig } from '../config/config.ts'
import { compileRules } from '../rules/match/compile.ts'
import type { RuleSnapshot } from '../rules/match/snapshot.ts'
import { readRuleDirectory } from '../rules/sources/file/rule-directory.ts'
import { parseRuleFiles } from '../rules/yaml/parse.ts'
import { RuleCounters } from '../stats/instruments.ts'
import { toAnswers } from '../tools/explain/explain-answer.ts'
import { toText } from '../tools/explain/explain-text.ts'
import { parseExplainArguments } from './explain-arguments.ts'

const usage = `Usage: ratelimit explain DIR -domain DOMAIN -descriptors KEY=VALUE[,KEY=VALUE…]

Shows which rule of a directory a descriptor meets and why, and where its hits are counted.

  -domain DOMAIN       the domain of the request
  -descriptors ENTRIES one descriptor; may be repeated: limits can replace each other
  --now SECONDS        the Unix time to look at, instead of the present
  --merge              several files may define one domain (or MERGE_DOMAIN_CONFIG=true)
  --json               one JSON object instead of text

The environment counts as for serve: CACHE_KEY_PREFIX, MERGE_DOMAIN_CONFIG.
Exit code: 0 explained, 1 faults in the rules, 2 wrong usage or a directory that cannot be read.
`

export const explain: Command = {
  summary: 'show which rule a descriptor meets, and why',
  usage,
  async run(args, io) {
    const request = parseExplainArguments(args)
    if (typeof request === 'string') {
      io.stderr.write(`${request}\n\n${usage}`)
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
    else io.stdout.write(toText(answers, io.isTerminal && !io.env['NO_COLOR']))
    return 0
  },
}

/** The rules, or the exit code. */
async function loadRules(
  directory: string,
  mergeDomains: boolean,
  io: CommandIo,
): Promise<RuleSnapshot | number> {
  const content = await readRuleDirectory(directory, { ignoreDotFiles: false }).catch(toReason)
  if (typeof content === 'string') {
    io.stderr.write(`The directory ${directory} cannot be read: ${content}\n`)
    return 2
  }
  const files = content.files.map(({ name, text }) => ({ name: join(directory, name), text }))
  for (const { name, reason } of content.unreadable) {
    io.stderr.write(`${join(directory, name)} is left out, it cannot be read: ${reason}\n`)
  }
  const { rules, faults } = parseRuleFiles(files, { mergeDomains })
  const [first] = faults
  if (first !== undefined) {
    const { file, line, column } = first.place
    io.stderr.write(`${file}:${line}:${column}: ${first.message}\n`)
    io.stderr.write(`Rules with faults are never used: 'ratelimit check ${directory}' shows all.\n`)
    return 1
  }
  if (files.length === 0) io.stderr.write(`${directory} holds no *.yaml file.\n`)
  const nothing = new RuleCounters()
  return compileRules(rules, { forRule: () => nothing, forRequest: () => nothing })
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
