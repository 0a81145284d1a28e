import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { toReason } from '@portcullis/service-kit/text/reason'

/** The address of a server. */
export interface Target {
  readonly host: string
  readonly port: number
}

export interface Program {
  readonly file: string
  readonly args: readonly string[]
  /** The working directory of the program. */
  readonly folder?: string
}

/** A file of this repository, run by the Node of the benchmark. */
export const toNodeProgram = (...args: readonly string[]): Program => ({
  file: process.execPath,
  args: ['--disable-warning=ExperimentalWarning', ...args],
})

export interface Launch<Readiness> {
  readonly program: Program
  /** The environment of the server; only variables that programs need to run are added. */
  readonly env: Readonly<Record<string, string>>
  /** The file for the server's output, which is shown if it does not start. */
  readonly logFile: string
  /** Whether messages can be sent to the module that runs in it. */
  readonly hasChannel?: boolean
  /** How long the server may take to become ready. Default: one minute. */
  readonly startTimeoutMs?: number
  /** Checks whether the server is ready; resolves to undefined, or rejects, while it is not. */
  readReadiness(): Promise<Readiness | undefined>
}

export interface ServerProcess<Readiness> extends AsyncDisposable {
  readonly pid: number
  readonly child: ChildProcess
  readonly readiness: Readiness
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Exits on signals, so that the exit handlers can stop the servers. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
}

/** Starts a server and waits until it is ready. */
export async function startServerProcess<Readiness>(
  launch: Launch<Readiness>,
): Promise<ServerProcess<Readiness>> {
  const { program, logFile, startTimeoutMs = 60_000 } = launch
  const child = spawnServer(launch)
  const exit = once(child, 'exit').finally(() => running.delete(child))
  const { pid } = child
  if (pid === undefined) {
    const why = await exit.catch((error) => error.message)
    throw new Error(`${program.file} cannot be started: ${why}`)
  }
  running.add(child)
  const stop = async () => {
    child.kill('SIGKILL')
    await exit
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const endsAtMs = performance.now() + startTimeoutMs
  let lastFault = 'it did not respond as expected'
  while (!hasEnded() && performance.now() < endsAtMs) {
    try {
      const readiness = await launch.readReadiness()
      if (readiness !== undefined) return { pid, child, readiness, [Symbol.asyncDispose]: stop }
    } catch (error) {
      lastFault = toReason(error)
    }
    await Promise.race([wait(50), exit])
  }
  const why = hasEnded() ? 'exited before it was ready' : `was not ready in time (${lastFault})`
  await stop()
  const command = [program.file, ...program.args].join(' ')
  throw new Error(`${command} ${why}. The end of its log:\n${tailOf(logFile)}`)
}

function spawnServer({ program, env, logFile, hasChannel = false }: Launch<unknown>): ChildProcess {
  const log = openSync(logFile, 'w')
  try {
    return spawn(program.file, program.args, {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        NODE_ENV: 'production',
        ...env,
      },
      stdio: ['ignore', log, log, ...(hasChannel ? (['ipc'] as const) : [])],
      ...(program.folder !== undefined && { cwd: program.folder }),
    })
  } finally {
    closeSync(log)
  }
}

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-8).join('\n')
}
