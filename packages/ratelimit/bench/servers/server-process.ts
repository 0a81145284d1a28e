import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Target } from '../load/connection.ts'
import { type Listeners, type ServerSettings, toEnvironment } from './environment.ts'
import { findFreePorts } from './free-port.ts'

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number
  readonly target: Target
  readonly listeners: Listeners
  /** For messages to a module that was imported into our server. */
  readonly child: ChildProcess
}

export interface Program {
  readonly file: string
  readonly args: readonly string[]
}

const main = join(import.meta.dirname, '../../src/main.ts')
const flags = ['--disable-warning=ExperimentalWarning']

/** @param nodeArgs for the runtime, such as a module to import first. */
export const ourProgram = (...nodeArgs: readonly string[]): Program => ({
  file: process.execPath,
  args: [...flags, ...nodeArgs, main, 'serve'],
})

export const peerProgram = (file: string): Program => ({ file, args: [] })

export interface Launch extends Omit<ServerSettings, 'listeners'> {
  readonly program: Program
  /** Takes what the server prints, and is shown when it does not start. */
  readonly logFile: string
  /** More variables, for both programs alike. */
  readonly env?: Readonly<Record<string, string>>
  /** Resolves to true when the server answers as it should. */
  readonly isReady: (target: Target) => Promise<boolean>
  readonly patienceMs?: number
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a server on free ports and waits until it answers. */
export async function startServer(launch: Launch): Promise<ServerProcess> {
  const { program, logFile, isReady, patienceMs = 60_000 } = launch
  const [grpc = 0, http = 0, debug = 0, prometheus = 0] = await findFreePorts(4)
  const listeners = { grpc, http, debug, prometheus }
  const log = openSync(logFile, 'w')
  const child = spawn(program.file, program.args, {
    env: { ...toEnvironment({ ...launch, listeners }), ...launch.env },
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
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

  const target = { host: '127.0.0.1', port: grpc }
  const endsAtMs = performance.now() + patienceMs
  let lastFault = 'it does not answer as it should'
  while (child.exitCode === null && child.signalCode === null && performance.now() < endsAtMs) {
    try {
      if (await isReady(target)) {
        return { pid, target, listeners, child, [Symbol.asyncDispose]: stop }
      }
    } catch (error) {
      lastFault = error instanceof Error ? error.message : String(error)
    }
    await Promise.race([wait(50), exit])
  }
  const hasEnded = child.exitCode !== null || child.signalCode !== null
  await stop()
  const command = [program.file, ...program.args].join(' ')
  const why = hasEnded ? 'ended before it was ready' : `was not ready in time (${lastFault})`
  throw new Error(`${command} ${why}. The end of its log:\n${tailOf(logFile)}`)
}

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-8).join('\n')
}
