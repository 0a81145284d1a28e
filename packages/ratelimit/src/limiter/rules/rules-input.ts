import type { Log } from '@portcullis/service-kit/log/log'
import type { RuleSnapshot } from '../../rules/match/snapshot.ts'
import { toLoadError } from '../../rules/model/fault.ts'
import type { RuleSet } from '../../rules/model/rule.ts'
import type { RuleSource } from '../../rules/sources/source.ts'
import { parseRuleFiles } from '../../rules/yaml/parse.ts'
import type { Statistics } from '../../stats/registry.ts'

/** The rules as text: one file, or several by the names that messages use. */
export type RulesText = string | Readonly<Record<string, string>>

/** A folder of `*.yaml` files, read now and whenever they change. */
export interface RulesDirectory {
  /** The path, relative to the working directory of the process. */
  readonly directory: string
  /** Whether several files may contain rules for one domain. */
  readonly mergeDomains?: boolean
}

/** Rules of the service: YAML text, texts by name, or a folder. */
export type RulesInput = RulesText | RulesDirectory

export function isDirectory(input: RulesInput): input is RulesDirectory {
  return typeof input === 'object' && 'directory' in input
}

/** The rules are invalid. The message lists every error, one per line. */
export class RulesError extends Error {
  override readonly name = 'RulesError'
}

/** @throws RulesError */
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

export interface DirectoryParts {
  readonly statistics: Statistics
  readonly log: Log
  readonly onSnapshot: (rules: RuleSnapshot) => void
  readonly onFailure: (reason: string) => void
}

/**
 * Loads the rule files of a folder, now and whenever they change. The modules for files are loaded only
 * for limiters that need them.
 */
export function openDirectory(input: RulesDirectory, parts: DirectoryParts): RuleSource {
  const opening = openSource(input, parts)
  return {
    firstAttempt: opening.then((source) => source.firstAttempt),
    async [Symbol.asyncDispose]() {
      const source = await opening
      await source[Symbol.asyncDispose]()
    },
  }
}

async function openSource(
  { directory, mergeDomains = false }: RulesDirectory,
  { statistics, log, onSnapshot, onFailure }: DirectoryParts,
): Promise<RuleSource> {
  const { openFileSource } = await import('../../rules/sources/file/file-source.ts')
  const { basename, dirname, resolve } = await import('node:path')
  const path = resolve(directory)
  return openFileSource({
    root: dirname(path),
    subdirectory: '',
    appDirectory: basename(path),
    watchRoot: false,
    ignoreDotFiles: true,
    mergeDomains,
    advice: 'set another one in the option rules: { directory }',
    isBackground: true,
    log,
    counters: statistics.rules,
    onSnapshot,
    onFailure: ({ message }) => onFailure(`The rate limit rules cannot be used: ${message}`),
    statistics: {
      loadAttempts: statistics.counter('runtime.load_attempts'),
      loadFailures: statistics.counter('runtime.load_failures'),
      fileCount: { value: 0 },
    },
  })
}
