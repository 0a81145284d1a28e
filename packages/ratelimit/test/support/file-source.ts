import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { RuleSnapshot } from '../../src/rules/match/snapshot.ts'
import { type FileSourceOptions, openFileSource } from '../../src/rules/sources/file/file-source.ts'
import type { LoadFailure } from '../../src/rules/sources/source.ts'
import { RuleStatistics } from '../../src/stats/rule-statistics.ts'
import { collectLog } from './collected-log.ts'
import { toDescriptor } from './nested-rules.ts'

/** A rule file with one limit, which is identified by its number of requests. */
export function toRuleFile(requests: number, domain = 'd'): string {
  return `domain: ${domain}
descriptors:
  - key: k
    rate_limit: { unit: minute, requests_per_unit: ${requests} }
`
}

/** Creates a folder that is deleted after the test. */
export async function makeDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rules-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Replaces the text of a file atomically. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const beside = `${dirname(path)}.new`
  await writeFile(beside, text)
  await rename(beside, path)
}

/** A file source with its log lines, snapshots and statistics. */
export interface WatchedSource {
  readonly snapshots: RuleSnapshot[]
  readonly failures: LoadFailure[]
  readonly lines: string[]
  readonly statistics: FileSourceOptions['statistics']
  readonly firstAttempt: Promise<void>
  /** The number of requests of the rule in force; undefined without one. */
  requests(domain?: string): number | undefined
  close(): Promise<void>
}

type Settings = Pick<FileSourceOptions, 'root' | 'watchRoot'> & Partial<FileSourceOptions>

/** Opens a source that is closed after the test, and waits for its first attempt. */
export async function openSource(t: TestContext, settings: Settings): Promise<WatchedSource> {
  const snapshots: RuleSnapshot[] = []
  const failures: LoadFailure[] = []
  const { log, lines } = collectLog()
  const statistics = {
    loadAttempts: { value: 0 },
    loadFailures: { value: 0 },
    fileCount: { value: 0 },
  }
  const source = openFileSource({
    subdirectory: '',
    appDirectory: 'config',
    ignoreDotFiles: false,
    mergeDomains: false,
    debounceMs: 20,
    pollMs: 50,
    log,
    counters: new RuleStatistics(1_000, () => {}),
    statistics,
    onSnapshot: (snapshot) => snapshots.push(snapshot),
    onFailure: (failure) => failures.push(failure),
    ...settings,
  })
  const close = async () => source[Symbol.asyncDispose]()
  t.after(close)
  await source.firstAttempt
  const { firstAttempt } = source
  const requests = (domain = 'd') =>
    snapshots.at(-1)?.match(domain, toDescriptor('k=v'))?.limit.requestsPerUnit
  return { snapshots, failures, lines, statistics, firstAttempt, requests, close }
}

/** Waits until the condition is true. The time limit is only for failing tests. */
export async function until(isTrue: () => boolean, what: string): Promise<void> {
  const giveUpMs = performance.now() + 120_000
  while (!isTrue()) {
    if (performance.now() > giveUpMs) throw new Error(`Timed out waiting until ${what}`)
    await wait(5)
  }
}

/** Waits long enough for an event to arrive. On a slow machine this can only hide an error. */
export async function letEventsPass(): Promise<void> {
  await wait(250)
}
