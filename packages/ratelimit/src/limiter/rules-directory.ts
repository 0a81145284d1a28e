import type { Log } from '@portcullis/service-kit/log'
import type { RuleSnapshot } from '../rules/match/snapshot.ts'
import type { RuleSource } from '../rules/sources/source.ts'
import type { Statistics } from '../stats/registry.ts'
import type { RulesDirectory } from './rules-input.ts'

export interface DirectoryParts {
  readonly statistics: Statistics
  readonly log: Log
  readonly onSnapshot: (rules: RuleSnapshot) => void
  readonly onFailure: (reason: string) => void
}

/**
 * Loads the rule files of a directory, now and whenever they change. What reads files is loaded only for
 * limiters that need it.
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
  const { openFileSource } = await import('../rules/sources/file/file-source.ts')
  const { basename, dirname, resolve } = await import('node:path')
  const path = resolve(directory)
  return openFileSource({
    root: dirname(path),
    subdirectory: '',
    appDirectory: basename(path),
    watchRoot: false,
    ignoreDotFiles: true,
    mergeDomains,
    advice: 'name another one in the option rules: { directory }',
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
