import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type { Counts } from './counts-reporter.ts'
import type { Leg } from './legs.ts'
import { root } from './test-files.ts'

export interface RunOptions {
  readonly leg: Leg
  /** Paths for `node --test`. */
  readonly files: readonly string[]
  /** `spec` prints every test, `quiet` only failures. */
  readonly reporter: 'spec' | 'quiet'
  /** How many files run at a time. Default: as many as keep the cores busy. */
  readonly concurrency?: number
  /** Additional environment variables for the tests. */
  readonly env: Readonly<Record<string, string>>
  /** Additional arguments for `node --test`. */
  readonly nodeArgs: readonly string[]
}

export interface LegResult extends Counts {
  readonly seconds: number
  /** Files that failed, and then passed when run alone. */
  readonly flakyFiles?: readonly string[]
}

const nothingRan: Counts = {
  passed: 0,
  failed: 1,
  skipped: 0,
  skipReasons: {},
  failedFiles: [],
  failures: [],
  failedProcesses: [],
}

// In a terminal, Ctrl-C reaches the whole process group, so the tests stay in it.
const isOwnGroup = !process.stdin.isTTY && process.platform !== 'win32'
const stopSignals: readonly NodeJS.Signals[] = isOwnGroup ? ['SIGTERM', 'SIGINT'] : ['SIGTERM']

/** Runs the files with `node --test` and counts the results. */
export async function runLeg(options: RunOptions): Promise<LegResult> {
  const { leg } = options
  let node: string
  try {
    node = leg.node()
  } catch (error) {
    console.error(toMessage(error))
    return { ...nothingRan, seconds: 0 }
  }
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
  const countsFile = join(folder, 'counts.json')
  const start = performance.now()
  const child = spawn(node, toNodeArgs(options, countsFile), {
    cwd: root,
    env: {
      ...process.env,
      ...leg.env,
      ...options.env,
      // Without it, each test process would strip types and compile everything that it loads.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/portcullis-test'),
      PORTCULLIS_TEST_HANG_LIMIT_MS: `${leg.hangLimitMs}`,
    },
    stdio: 'inherit',
    detached: isOwnGroup,
  })
  const signalAll = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined) process.kill(isOwnGroup ? -child.pid : child.pid, signal)
  }
  for (const signal of stopSignals) process.on(signal, signalAll)
  try {
    const [code] = await once(child, 'exit')
    if (code !== 0) killRest(signalAll)
    const counts = readCounts(countsFile)
    const seconds = (performance.now() - start) / 1000
    // A run that exits with an error although no test failed has not run all of them.
    const failed = code === 0 ? counts.failed : Math.max(1, counts.failed)
    return { ...counts, failed, seconds }
  } finally {
    for (const signal of stopSignals) process.off(signal, signalAll)
    rmSync(folder, { recursive: true })
  }
}

/** Ends the test processes that were still running when a run was ended early. */
function killRest(signalAll: (signal: NodeJS.Signals) => void): void {
  try {
    if (isOwnGroup) signalAll('SIGKILL')
  } catch {
    // The group is empty, because all test processes have ended.
  }
}

function toNodeArgs({ leg, ...options }: RunOptions, countsFile: string): string[] {
  const reporters = {
    [options.reporter === 'spec' ? 'spec' : './scripts/testing/quiet-reporter.ts']: 'stdout',
    './scripts/testing/counts-reporter.ts': countsFile,
  }
  return [
    ...leg.nodeArgs,
    '--import=./scripts/testing/process-guard.ts',
    '--test',
    // Node's own default leaves one core unused. Tests of servers mostly wait, so running more
    // files than cores keeps the cores busy.
    `--test-concurrency=${options.concurrency ?? availableParallelism() + 4}`,
    ...Object.entries(reporters).flatMap(([reporter, destination]) => [
      `--test-reporter=${reporter}`,
      `--test-reporter-destination=${destination}`,
    ]),
    ...options.nodeArgs,
    ...options.files,
  ]
}

function readCounts(file: string): Counts {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return nothingRan
  }
}
