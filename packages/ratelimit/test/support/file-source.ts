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

/** A rule file whose only limit is told apart by its number of requests. */
export function toRuleFile(requests: number, domain = 'd'): string {
  return `domain: ${domain}
descriptors:
  - key: k
    rate_limit: { unit: minute, requests_per_unit: ${requests} }
`
}

/** A directory of its own, gone after the test. */
export async function makeDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rules-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Gives a file its new text in one step: nobody can see it half-written. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const beside = `${dirname(path)}.new`
  await writeFile(beside, text)
  await rename(beside, path)
}

/** A file source, with what it told and counted. */
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

/** Waits until something holds. The limit is only for a test that fails. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const giveUpMs = performance.now() + 120_000
  while (!holds()) {
    if (performance.now() > giveUpMs) throw new Error(`Waited in vain until ${what}`)
    await wait(5)
  }
}

/** Long enough for an event to arrive, were there one. A slow machine can only hide a mistake. */
export async function letEventsPass(): Promise<void> {
  await wait(250)
}
