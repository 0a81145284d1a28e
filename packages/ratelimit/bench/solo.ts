import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Child, requestFrom } from '@portcullis/bench-kit/child'
import { runLoad } from '@portcullis/bench-kit/load-process'
import type { LoadJob, LoadOutcome, Pace } from './load/job.ts'
import { replyTimeoutSeconds } from './load/start-load.ts'
import { createRequest, type Values } from './requests.ts'
import { type RuleFolder, writeRules } from './rule-files.ts'
import { answersByRule } from './servers/contestants.ts'
import type { MemoryReading, PauseReading } from './servers/inspect.ts'
import { readLimit } from './servers/probe.ts'
import { ourProgram, type ServerProcess, startServer } from './servers/server-process.ts'

/** The memory of the in-process store. */
export interface MemoryResult {
  readonly counters: number
  readonly bytesPerCounter: number
  readonly residentBytesPerCounter: number
}

/** The longest time that the event loop was blocked during an operation. */
export interface Pause extends PauseReading {
  readonly name: PauseName
  readonly label: string
}

export type PauseName = 'quiet' | 'reload' | 'statistics' | 'growth' | 'sweep'

/** A server that reports internal values. */
interface OpenServer {
  readonly process: ServerProcess
  readonly rules: RuleFolder
  request<Answer>(message: 'memory' | 'reset' | 'pauses'): Promise<Answer>
  run(values: Values, pace: Pace): Promise<LoadOutcome>
}

const inspect = new URL('./servers/inspect.ts', import.meta.url).href

async function withServer<Result>(
  rules: number,
  load: Child,
  use: (server: OpenServer) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  try {
    const ruleFolder = await writeRules(folder, rules)
    await using server = await startServer({
      program: ourProgram('--expose-gc', '--import', inspect),
      logFile: join(folder, 'server.log'),
      rules: ruleFolder,
      store: undefined,
      localCacheBytes: 0,
      env: { STATS_FLUSH_INTERVAL: '1s' },
      isReady: (target) => answersByRule(target, rules),
    })
    let firstUnique = 0
    return await use({
      process: server,
      rules: ruleFolder,
      request: (message) => requestFrom(server.child, 'our server', message, replyTimeoutSeconds),
      async run(values, pace) {
        const job: LoadJob = {
          target: server.target,
          requests: { values, descriptors: 1, rules },
          hasChangingHeaders: false,
          firstUnique,
          connections: 8,
          pace,
        }
        firstUnique += 100_000_000
        const { outcome } = await runLoad<LoadOutcome>(load, job)
        if (outcome.errors > 0) throw new Error(`${outcome.errors} calls failed`)
        return outcome
      },
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function measureMemory(counters: number, load: Child): Promise<MemoryResult> {
  return withServer(10, load, async ({ request, run }) => {
    const fill = (calls: number) => run('unique-hour', { kind: 'count', streams: 64, calls })
    // Compiled code, buffers and the first tables must not be counted.
    await fill(20_000)
    const before = await request<MemoryReading>('memory')
    await fill(counters)
    const after = await request<MemoryReading>('memory')
    return {
      counters,
      bytesPerCounter: (after.liveBytes - before.liveBytes) / counters,
      residentBytesPerCounter: (after.residentBytes - before.residentBytes) / counters,
    }
  })
}

export interface PausePlan {
  readonly rules: number
  readonly counters: number
  /**
   * The number of attempts for each pause; the shortest one is used, because a busy machine only adds time.
   */
  readonly tries: number
}

const callsPerSecond = 1000

export async function measurePauses(
  { rules, counters, tries }: PausePlan,
  load: Child,
  onProgress: (what: string) => void,
): Promise<readonly Pause[]> {
  return withServer(rules, load, async (server) => {
    const steady = (seconds: number) =>
      server.run('many', { kind: 'open', perSecond: callsPerSecond, seconds })
    await steady(2)

    const observe = async (
      name: PauseName,
      label: string,
      provoke: () => Promise<unknown>,
    ): Promise<Pause> => {
      const readings: PauseReading[] = []
      for (let count = 0; count < tries; count++) {
        onProgress(label)
        await server.request('reset')
        await provoke()
        readings.push(await server.request<PauseReading>('pauses'))
      }
      const [calmest] = readings.toSorted((a, b) => a.longestMs - b.longestMs)
      if (!calmest) throw new Error('A pause must be tried at least once')
      return { name, label, ...calmest }
    }
    let limit = 1_000_000
    const count = rules.toLocaleString('en-US')
    const millions = `${(counters / 1e6).toFixed(1)} M counters`
    return [
      await observe('quiet', 'nothing but 1,000 calls a second', () => steady(2)),
      await observe('reload', `reload of ${count} rules`, () =>
        Promise.all([steady(4), reload(server, rules, ++limit)]),
      ),
      await observe('statistics', `statistics of ${count} rules`, () =>
        Promise.all([steady(3), readStatistics(server)]),
      ),
      await observe('growth', `${millions} made at full speed`, async () => {
        await untilMinuteHasTimeFor(25)
        await server.run('unique-minute', { kind: 'count', streams: 64, calls: counters })
      }),
      await observe('sweep', `${millions} expire at once`, async () => {
        const { expired } = await fillMinute(server, counters)
        await server.request('reset')
        await steady(expired + 10)
      }),
    ]
  })
}

async function reload({ process, rules }: OpenServer, count: number, limit: number): Promise<void> {
  await writeRules(rules.root, count, limit)
  const { bytes } = createRequest({ values: 'many', descriptors: 1, rules: count }, 0)
  const endsAtMs = performance.now() + 60_000
  while ((await readLimit(process.target, bytes)) !== limit) {
    if (performance.now() > endsAtMs) throw new Error('The server did not load the new rules')
    await wait(100)
  }
}

async function readStatistics({ process }: OpenServer): Promise<void> {
  for (let count = 0; count < 2; count++) {
    const response = await fetch(`http://127.0.0.1:${process.listeners.debug}/stats`)
    if (!response.ok) throw new Error(`/stats returned ${response.status}`)
    await response.arrayBuffer()
  }
}

/** Resolves with the seconds until all these counters expire. */
async function fillMinute(server: OpenServer, counters: number): Promise<{ expired: number }> {
  await untilMinuteHasTimeFor(25)
  await server.run('unique-minute', { kind: 'count', streams: 64, calls: counters })
  return { expired: 60 - ((Date.now() / 1000) % 60) }
}

async function untilMinuteHasTimeFor(seconds: number): Promise<void> {
  const left = 60 - ((Date.now() / 1000) % 60)
  if (left < seconds) await wait(left * 1000)
}
