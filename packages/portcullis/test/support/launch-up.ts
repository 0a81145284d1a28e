import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const main = join(import.meta.dirname, '../../src/main.ts')

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface LaunchedUp {
  readonly pid: number
  /** Rejects if the process ends before it is ready. */
  readonly ready: Promise<void>
  /** Resolves when the process has ended and its output is closed. */
  readonly ended: Promise<Ended>
  output(): string
  kill(signal: NodeJS.Signals): void
  /** Sends SIGINT, unless the process has ended already. */
  stop(): Promise<Ended>
}

export interface LaunchSettings {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Runs `portcullis COMMAND …` to its end. */
export async function runPortcullis(
  args: readonly string[],
  settings: LaunchSettings = {},
): Promise<Ended> {
  const program = launch(args, settings)
  program.ready.catch(() => {})
  return program.ended
}

/** Starts `portcullis up …`. The caller must stop it or wait for its end. */
export function launchUp(args: readonly string[], settings: LaunchSettings = {}): LaunchedUp {
  return launch(['up', ...args], settings)
}

function launch(args: readonly string[], { env = {}, cwd }: LaunchSettings): LaunchedUp {
  // These variables would make it report to the test runner, or assume that npm started it.
  const { NODE_TEST_CONTEXT: _, npm_lifecycle_event: __, ...inherited } = process.env
  const child = spawn(process.execPath, [main, ...args], {
    ...(cwd !== undefined && { cwd }),
    env: { ...inherited, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  const ready = Promise.withResolvers<void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (stdout.includes('Press Ctrl-C to stop.')) ready.resolve()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code]): Ended => {
    ready.reject(new Error(`portcullis ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`))
    return { code, stdout, stderr }
  })
  return {
    pid: child.pid ?? 0,
    ready: ready.promise,
    ended,
    output: () => stdout,
    kill: (signal) => child.kill(signal),
    stop() {
      if (child.exitCode === null) child.kill('SIGINT')
      return ended
    },
  }
}
