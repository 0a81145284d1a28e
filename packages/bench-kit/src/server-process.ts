import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Where a server listens. */
export interface Target {
  readonly host: string
  readonly port: number
}

export interface Program {
  readonly file: string
  readonly args: readonly string[]
  /** Where it finds its own files. */
  readonly folder?: string
}

/** A file of this repository, on the Node that runs the benchmark. */
export const toNodeProgram = (...args: readonly string[]): Program => ({
  file: process.execPath,
  args: ['--disable-warning=ExperimentalWarning', ...args],
})

export interface Launch<Readiness> {
  readonly program: Program
  /** Nothing of the caller's environment gets in beside this but what programs need to run. */
  readonly env: Readonly<Record<string, string>>
  /** Takes what the server prints, and is shown when it does not start. */
  readonly logFile: string
  /** Whether messages can be sent to a module of ours in it. */
  readonly hasChannel?: boolean
  readonly patienceMs?: number
  /** What it says when it is asked whether it is ready; undefined, or an error, while it is not. */
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

/** The servers end with this process, which needs it to end and not just to be gone. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
}

/** Starts a server and waits until it is ready. */
export async function startServerProcess<Readiness>(
  launch: Launch<Readiness>,
): Promise<ServerProcess<Readiness>> {
  const { program, logFile, patienceMs = 60_000 } = launch
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
  const endsAtMs = performance.now() + patienceMs
  let lastFault = 'it does not answer as it should'
  while (!hasEnded() && performance.now() < endsAtMs) {
    try {
      const readiness = await launch.readReadiness()
      if (readiness !== undefined) return { pid, child, readiness, [Symbol.asyncDispose]: stop }
    } catch (error) {
      lastFault = error instanceof Error ? error.message : String(error)
    }
    await Promise.race([wait(50), exit])
  }
  const why = hasEnded() ? 'ended before it was ready' : `was not ready in time (${lastFault})`
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
