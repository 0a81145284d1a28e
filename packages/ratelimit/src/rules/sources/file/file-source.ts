import { createOverrideWarning } from '../../match/override.ts'
import type { RuleSnapshot } from '../../match/snapshot.ts'
import type { RuleFile } from '../../yaml/parse.ts'
import type { RuleSource, RuleSourceParts } from '../source.ts'
import { parseAndCompile, readConsistently, toLoadFailure } from './load-files.ts'
import { createLoadLog } from './load-log.ts'
import { toBrokenFaults } from './rule-directory.ts'
import { type RulePlaceSettings, toRulePlace } from './rule-place.ts'
import { createOneAtATime, openWatch, type WatchFiles } from './watch.ts'

export interface FileSourceOptions extends RulePlaceSettings, RuleSourceParts {
  /** RUNTIME_IGNOREDOTFILES */
  readonly ignoreDotFiles: boolean
  /** RUNTIME_FILE_LIMIT_BYTES */
  readonly fileLimitBytes?: number
  /** MERGE_DOMAIN_CONFIG: whether several files may contain rules for one domain. */
  readonly mergeDomains: boolean
  readonly statistics: FileSourceStatistics
  readonly debounceMs?: number
  /** Whether the process may exit while the files are watched. Default: false. */
  readonly isBackground?: boolean
  readonly pollMs?: number
  /** Replaces Node's `watch` in tests. */
  readonly watchFiles?: WatchFiles
}

/** `runtime.load_attempts`, `runtime.load_failures` and `runtime.num_values`. */
export interface FileSourceStatistics {
  readonly loadAttempts: { value: number }
  readonly loadFailures: { value: number }
  /** The number of rule files in the last load. */
  readonly fileCount: { value: number }
}

/** Parsing this much text takes less time than starting a thread. */
const mostCharactersHere = 64 * 1024

/** Loads the rule files of a folder, now and whenever they change. */
export function openFileSource(options: FileSourceOptions): RuleSource {
  const { onSnapshot, onFailure, counters, statistics, mergeDomains, ignoreDotFiles } = options
  const { debounceMs = 100, pollMs = 1_000, watchFiles, log, fileLimitBytes } = options
  const { isBackground = false } = options
  const place = toRulePlace(options)
  const loadLog = createLoadLog(log, place)
  const onIgnoredOverride = createOverrideWarning((message) => log.warning(message))
  const closing = new AbortController()
  const { signal } = closing
  const firstAttempt = Promise.withResolvers<void>()
  let isFirst = true

  async function load(): Promise<void> {
    statistics.loadAttempts.value += 1
    try {
      const snapshot = await loadSnapshot()
      signal.throwIfAborted()
      onSnapshot(snapshot)
      loadLog.success()
    } catch (error) {
      if (signal.aborted) return
      const failure = toLoadFailure(error)
      if (failure.faults.length === 0) statistics.loadFailures.value += 1
      loadLog.failure(failure)
      onFailure(failure)
    } finally {
      isFirst = false
      firstAttempt.resolve()
    }
  }

  async function loadSnapshot(): Promise<RuleSnapshot> {
    const directory = await readConsistently(place, {
      ignoreDotFiles,
      retryMs: debounceMs,
      signal,
      ...(fileLimitBytes !== undefined && { fileLimitBytes }),
    })
    const brokenFiles = toBrokenFaults(directory, place.toMessageName)
    statistics.loadFailures.value += directory.unreadable.length - brokenFiles.length
    statistics.fileCount.value = directory.files.length
    loadLog.directory(directory)
    const files = directory.files.map((file) => ({
      ...file,
      name: place.toMessageName(file.name),
    }))
    // There are no decisions to block before the first load is complete.
    const isInBackground = !isFirst || countCharacters(files) > mostCharactersHere
    const compiling = { mergeDomains, isInBackground, counters, onIgnoredOverride, signal }
    const { snapshot, warnings } = await parseAndCompile(files, { ...compiling, brokenFiles })
    await loadLog.rules(snapshot, warnings)
    return snapshot
  }

  const loads = createOneAtATime(load)
  const watch = openWatch({
    ...place.watched,
    onChange: () => loads.request(),
    debounceMs,
    pollMs,
    log,
    isBackground,
    ...(watchFiles && { watchFiles }),
  })
  return {
    firstAttempt: firstAttempt.promise,
    async [Symbol.asyncDispose]() {
      closing.abort()
      watch[Symbol.dispose]()
      await loads.close()
      firstAttempt.resolve()
    },
  }
}

function countCharacters(files: readonly RuleFile[]): number {
  return files.reduce((sum, { text }) => sum + text.length, 0)
}
