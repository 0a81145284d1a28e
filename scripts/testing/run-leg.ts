import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCommonPostgres } from './common-postgres.ts'
import type { Counts } from './counts-reporter.ts'
import { type Leg, root } from './matrix.ts'

export interface RunOptions {
  readonly files: readonly string[]
  /** `spec` tells of every test, `quiet` only of failures. */
  readonly reporter: 'spec' | 'quiet'
  /** How long a test file may take. */
  readonly timeoutMs: number
  /** How many files run at a time; without it, as many as keep the cores busy. */
  readonly concurrency?: number
  /** Where tests note the programs they missed. */
  readonly missesFile: string
  /** More arguments for `node --test`. */
  readonly nodeArgs: readonly string[]
}

export interface LegResult extends Counts {
  readonly seconds: number
  /** Those that failed at first, and not when they ran alone. */
  readonly unsteadyFiles?: readonly string[]
}

const nothingRan: Counts = { passed: 0, failed: 1, skipped: 0, failedFiles: [] }

/** Only a test that never gives way to a timer gets here; the other limits are shorter. */
const legLimitMs = 15 * 60_000

// At a terminal, Ctrl-C reaches the group of the terminal by itself, so the tests stay in it.
const isOwnGroup = !process.stdin.isTTY && process.platform !== 'win32'
const stopSignals: readonly NodeJS.Signals[] = isOwnGroup ? ['SIGTERM', 'SIGINT'] : ['SIGTERM']

/** Runs the files with `node --test` and counts what came out. */
export async function runLeg(leg: Leg, options: RunOptions): Promise<LegResult> {
  let node: string
  try {
    node = leg.node()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return { ...nothingRan, seconds: 0 }
  }
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
  const countsFile = join(folder, 'counts.json')
  const start = performance.now()
  await using postgres = await openCommonPostgres(options.files)
  const child = spawn(node, nodeArgsOf(leg, options, countsFile), {
    cwd: root,
    env: {
      ...process.env,
      ...leg.env,
      ...postgres.env,
      // Every file runs in a process of its own: without it each would strip and compile all it loads.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/portcullis-test'),
      PORTCULLIS_TEST_MISSES: options.missesFile,
      // Later than the limit of the tests, which know better what hangs, and of which a process has many.
      PORTCULLIS_TEST_TIME_LIMIT_MS: `${Math.max(options.timeoutMs + 5_000, 1.7 * options.timeoutMs)}`,
    },
    stdio: 'inherit',
    detached: isOwnGroup,
  })
  const signalAll = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined) process.kill(isOwnGroup ? -child.pid : child.pid, signal)
  }
  for (const signal of stopSignals) process.on(signal, signalAll)
  const limitMs = Math.max(legLimitMs, options.timeoutMs + 60_000)
  const lastResort = setTimeout(() => {
    console.error(`${leg.title} was ended: it took more than ${limitMs / 60_000} minutes.`)
    signalAll('SIGKILL')
  }, limitMs)
  try {
    const [code] = await once(child, 'exit')
    const counts = readCounts(countsFile)
    const seconds = (performance.now() - start) / 1000
    // A run that ended badly although no test failed did not run all of them.
    const failed = code === 0 ? counts.failed : Math.max(1, counts.failed)
    return { ...counts, failed, seconds }
  } finally {
    clearTimeout(lastResort)
    for (const signal of stopSignals) process.off(signal, signalAll)
    rmSync(folder, { recursive: true })
  }
}

function nodeArgsOf(leg: Leg, options: RunOptions, countsFile: string): string[] {
  const reporters = {
    [options.reporter === 'spec' ? 'spec' : './scripts/testing/quiet-reporter.ts']: 'stdout',
    './scripts/testing/counts-reporter.ts': countsFile,
  }
  return [
    ...leg.nodeArgs,
    '--import=./scripts/testing/time-limit.ts',
    '--test',
    // Node's own default leaves one core out. Tests of servers mostly wait: more files than cores at
    // a time keep the cores busy.
    `--test-concurrency=${options.concurrency ?? availableParallelism() + 3}`,
    `--test-timeout=${options.timeoutMs}`,
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
