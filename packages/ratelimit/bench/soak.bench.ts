import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Child } from '@portcullis/bench-kit/child'
import { createCommand } from '@portcullis/bench-kit/command'
import { runLoad } from '@portcullis/bench-kit/load-process'
import { parseChoice, parseCount, parseOptions, parsePositive } from '@portcullis/bench-kit/options'
import { listProcesses, readResidentMegabytes } from '@portcullis/bench-kit/process-usage'
import { createProgress } from '@portcullis/bench-kit/progress'
import type { LoadJob, LoadOutcome, Pace } from './load/job.ts'
import { startLoad } from './load/start-load.ts'
import { writeRules } from './rule-files.ts'
import { answersByRule } from './servers/contestants.ts'
import { ourProgram, type ServerProcess, startServer } from './servers/server-process.ts'
import { createStores } from './servers/stores.ts'

const help = `Usage: npm run bench -- soak [OPTION…]

Runs half of the maximum load of the service for minutes, with new rules every
second. There must be no errors, every file must be loaded, and memory must not
grow.

Options:
  --seconds N   duration; default: 300
  --rules N     number of rules that are loaded every second; default: 1000
  --store NAME  redis (a separate server) or memory; default: redis
  --workers N   number of processes that share the ports; default: 1
  --help        show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

/** Memory is compared between the second and the last fifth, because code is compiled in the first. */
const stretches = 25
const mostGrowth = 0.1

interface Sample {
  readonly calls: number
  readonly errors: number
  readonly p99Ms: number
  readonly residentMegabytes: number
}

const options = {
  seconds: { type: 'string', default: '300' },
  rules: { type: 'string', default: '1000' },
  store: { type: 'string', default: 'redis' },
  workers: { type: 'string', default: '1' },
} as const

type Settings = ReturnType<typeof parseSettings>

/** @throws UsageError */
function parseSettings(args: readonly string[]) {
  const values = parseOptions(args, options)
  return {
    isHelpWanted: values.help,
    seconds: parsePositive('seconds', values.seconds),
    rules: parseCount('rules', values.rules),
    store: parseChoice('store', values.store, ['redis', 'memory']),
    workers: parseCount('workers', values.workers),
  }
}

/** Resolves to the exit code: 1 if something failed or grew. */
export const run = createCommand({ name: 'soak', help, parse: parseSettings, run: soak })

async function soak({ seconds, rules, store, workers }: Settings): Promise<number> {
  const progress = createProgress()
  using load = startLoad()
  await using stores = createStores(undefined)
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-soak-'))
  try {
    const ruleFolder = await writeRules(folder, rules)
    await using server = await startServer({
      program: ourProgram(),
      logFile: join(folder, 'server.log'),
      rules: ruleFolder,
      store: await stores.addressOf(store),
      localCacheBytes: 0,
      env: { WORKERS: `${workers}` },
      isReady: (target) => answersByRule(target, rules),
    })
    const send = createSender(server, load, rules)
    progress.note('finding the maximum load')
    await send({ kind: 'closed', streams: 64, seconds: 3 })
    const most = await send({ kind: 'closed', streams: 64, seconds: 5 })
    const perSecond = Math.floor(most.calls / most.seconds / 2)

    const reloads = reloadEverySecond(folder, rules)
    const loadsBefore = await readLoads(server)
    const samples: Sample[] = []
    for (let stretch = 0; stretch < stretches; stretch += 1) {
      progress.show(stretch, stretches, `${perSecond} calls a second, new rules every second`)
      const outcome = await send({ kind: 'batched', perSecond, seconds: seconds / stretches })
      samples.push({ ...outcome, residentMegabytes: await readMegabytes(server.pid) })
    }
    const written = await reloads.stop()
    const { successes, failures } = await untilLoaded(server, loadsBefore, written)
    progress.end()
    return report({ samples, perSecond, written, loaded: successes, failures })
  } finally {
    progress.end()
    await rm(folder, { recursive: true, force: true })
  }
}

function createSender({ target }: ServerProcess, load: Child, rules: number) {
  return async (pace: Pace): Promise<LoadOutcome> => {
    const job: LoadJob = {
      target,
      requests: { values: 'many', descriptors: 1, rules },
      hasChangingHeaders: false,
      firstUnique: 0,
      connections: 8,
      pace,
    }
    return (await runLoad<LoadOutcome>(load, job)).outcome
  }
}

/** Writes a different version of the rules every second. */
function reloadEverySecond(folder: string, rules: number) {
  let written = 0
  let isStopped = false
  const run = async () => {
    while (!isStopped) {
      await writeRules(folder, rules, 3_000_000_000 + written)
      written += 1
      await wait(1_000)
    }
    return written
  }
  const ended = run()
  return {
    stop() {
      isStopped = true
      return ended
    },
  }
}

interface Loads {
  readonly successes: number
  readonly failures: number
}

async function readLoads({ listeners }: ServerProcess): Promise<Loads> {
  const text = await (await fetch(`http://127.0.0.1:${listeners.debug}/stats`)).text()
  const read = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1])
  return {
    successes: read('ratelimit.service.config_load_success'),
    failures: read('ratelimit.service.config_load_error'),
  }
}

async function untilLoaded(server: ServerProcess, before: Loads, written: number): Promise<Loads> {
  for (let tries = 0; ; tries += 1) {
    const now = await readLoads(server)
    const successes = now.successes - before.successes
    if (successes >= written || tries === 50) {
      return { successes, failures: now.failures - before.failures }
    }
    await wait(100)
  }
}

async function readMegabytes(pid: number): Promise<number> {
  const pids = await listProcesses(pid)
  const sizes = await Promise.all(pids.map((one) => readResidentMegabytes(one).catch(() => 0)))
  return sizes.reduce((sum, size) => sum + size, 0)
}

interface Soaked {
  readonly samples: readonly Sample[]
  readonly perSecond: number
  readonly written: number
  readonly loaded: number
  readonly failures: number
}

function report({ samples, perSecond, written, loaded, failures }: Soaked): number {
  const fifth = Math.floor(samples.length / 5)
  const median = (part: readonly Sample[]) =>
    part.map((sample) => sample.residentMegabytes).toSorted((a, b) => a - b)[
      Math.floor(part.length / 2)
    ] ?? 0
  const early = median(samples.slice(fifth, 2 * fifth))
  const late = median(samples.slice(-fifth))
  const calls = samples.reduce((sum, sample) => sum + sample.calls, 0)
  const errors = samples.reduce((sum, sample) => sum + sample.errors, 0)
  const p99Ms = Math.max(...samples.map((sample) => sample.p99Ms))
  const growth = late / early - 1
  console.log(`calls           ${calls.toLocaleString('en-US')} (${perSecond} a second)
errors          ${errors}
slowest p99     ${p99Ms.toFixed(1)} ms
rules           ${written} versions written, ${loaded} loads, ${failures} failed
memory          ${early.toFixed(0)} MB in the second fifth, ${late.toFixed(0)} MB in the last (${(growth * 100).toFixed(1)} %)
errors over time ${samples.map((sample) => sample.errors).join(' ')}
MB over time    ${samples.map((sample) => Math.round(sample.residentMegabytes)).join(' ')}`)
  const isFine = errors === 0 && failures === 0 && loaded >= written && growth < mostGrowth
  console.log(isFine ? 'Nothing failed and nothing grew.' : 'The soak test failed.')
  return isFine ? 0 : 1
}
