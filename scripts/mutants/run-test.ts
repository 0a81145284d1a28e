import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { Mutant } from './mutant.ts'

export interface TestRun {
  readonly root: string
  readonly test: string
  readonly limitMs: number
  /** If undefined, the code is unchanged. */
  readonly mutant?: Mutant
  readonly env?: Readonly<Record<string, string>>
}

export interface TestOutcome {
  readonly status: 'passed' | 'failed' | 'timeout'
  /** Tests that ran and passed; skipped tests do not count. */
  readonly passedTests: number
  readonly ms: number
  readonly output: string
}

const running = new Set<number>()
process.once('exit', () => {
  for (const pid of running) killGroup(pid)
})

/** Runs one test file in its own process, and ends everything that it started. */
export async function runTest({ root, test, limitMs, mutant, env }: TestRun): Promise<TestOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'mutant-'))
  // Servers may run as another user, who needs access to the folders that tests create here.
  chmodSync(folder, 0o755)
  const start = performance.now()
  const child = spawn(
    process.execPath,
    [`--test-reporter=${urlOf('first-failure-reporter')}`, test],
    {
      cwd: root,
      env: { ...inherited(), ...env, ...toEnvironment(root, mutant), TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  )
  const { pid = 0 } = child
  running.add(pid)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    killGroup(pid)
  }, limitMs)
  try {
    const printed = Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = await once(child, 'exit')
    const ms = performance.now() - start
    // Processes that the test left behind would keep the pipes open.
    killGroup(pid)
    const output = (await printed).join('\n')
    const passedTests = Number(/^passed: (\d+)$/m.exec(output)?.[1] ?? 0)
    const status = isLate ? 'timeout' : code === 0 ? 'passed' : 'failed'
    return { status, passedTests, ms, output }
  } finally {
    clearTimeout(timer)
    running.delete(pid)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A nested test process would report to the outer one. */
function inherited(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT, NODE_V8_COVERAGE, ...env } = process.env
  return env
}

function toEnvironment(root: string, mutant: Mutant | undefined): Record<string, string> {
  const preload = { NODE_OPTIONS: `--import=${urlOf('load-mutant')}` }
  if (!mutant) return preload
  const { file, start, end, replacement } = mutant
  const url = pathToFileURL(join(root, file)).href
  return { ...preload, PORTCULLIS_MUTANT: JSON.stringify({ url, start, end, replacement }) }
}

const urlOf = (name: string) => new URL(`${name}.ts`, import.meta.url).href

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has already ended.
  }
}
