import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The repository root, from which programs are run, as a reader of the docs would. */
export const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: string[]]

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  /** What the program has printed so far. */
  output(): string
  /** Sends a signal and waits for the process to exit. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

export type Environment = Readonly<Record<string, string>>

/** Runs a program until it exits, with a limit of one minute. */
export async function runProgram(command: Command, env: Environment = {}): Promise<Ended> {
  const { child, ended } = launch(command, env)
  const timer = setTimeout(() => child.kill(), 60_000)
  return ended.finally(() => clearTimeout(timer))
}

/** Starts a server, waits until it is ready, and stops it after the test. */
export async function startProgram(
  t: TestContext,
  command: Command,
  options: {
    readonly env?: Environment
    readonly isReady: (output: string) => boolean | Promise<boolean>
  },
): Promise<Running> {
  const { child, ended, output } = launch(command, options.env ?? {})
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  t.after(() => stop())
  while (!(await options.isReady(output()))) {
    if (child.exitCode !== null) {
      throw new Error(`${command.join(' ')} ended with ${child.exitCode}:\n${output()}`)
    }
    await sleep(20)
  }
  return { output, stop }
}

/** Whether a process listens on a port of this machine. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, 'localhost')
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}

function launch([program, ...args]: Command, env: Environment) {
  // If inherited, this variable would make a test runner among the programs report to ours.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const child = spawn(program, args, {
    cwd: root,
    env: { ...inherited, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code]): Ended => ({ code, stdout, stderr }))
  return { child, ended, output: () => stdout + stderr }
}
