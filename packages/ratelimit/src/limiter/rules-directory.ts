import { basename, dirname, resolve } from 'node:path'
import type { Log } from '@portcullis/service-kit/log'
import type { RuleSnapshot } from '../rules/snapshot.ts'
import { openFileSource } from '../rules/sources/file.ts'
import type { RuleSource } from '../rules/sources/source.ts'
import type { Statistics } from '../stats/registry.ts'
import type { RulesDirectory } from './rules-input.ts'

export interface DirectoryParts {
  readonly statistics: Statistics
  readonly log: Log
  readonly onSnapshot: (rules: RuleSnapshot) => void
  readonly onFailure: (reason: string) => void
}

/** Loads the rule files of a directory, now and whenever they change. */
export function openDirectory(
  { directory, mergeDomains = false }: RulesDirectory,
  { statistics, log, onSnapshot, onFailure }: DirectoryParts,
): RuleSource {
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
