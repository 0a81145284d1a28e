import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { Account } from './account.ts'
import type { Guard } from './guard.ts'
import { listProcesses } from './processes.ts'
import { waitFor } from './wait-for.ts'

export interface Launch {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
  readonly logFile: string
  /** The signal that ends the program; SIGKILL if it has nothing to save. */
  readonly stopSignal: NodeJS.Signals
  readonly account?: Account | undefined
}

export interface ServerProcess {
  readonly pid: number
  readonly launch: Launch
  hasEnded(): boolean
  /** Suspends and resumes the process and its children, also those in their own groups. */
  freeze(): void
  thaw(): void
  /** Resolves when the process has ended. */
  stop(): Promise<void>
  /** Sends this signal to the program itself, but not to its children. */
  shutDown(signal: NodeJS.Signals): Promise<void>
}

const killAfterMs = 5000

export async function startProcess(launch: Launch, guard: Guard): Promise<ServerProcess> {
  const { program, args, folder, logFile, stopSignal, account } = launch
  // The output goes to a file instead of a pipe, which would keep the test process alive.
  const log = openSync(logFile, 'a')
  const child = spawn(program, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', log, log],
    ...(account && { uid: account.uid, gid: account.gid }),
  })
  closeSync(log)
  const exit = once(child, 'exit')
  await Promise.race([once(child, 'spawn'), exit])
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} did not start`)
  guard.addProcess(pid, stopSignal)
  child.once('exit', () => guard.forgetProcess(pid, stopSignal))
  child.unref()

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const signal = (name: NodeJS.Signals) => {
    if (!hasEnded()) process.kill(-pid, name)
  }
  const frozen = new Set<number>()
  const freeze = () => {
    // The parent first, so that it starts no more children.
    signal('SIGSTOP')
    for (const one of hasEnded() ? [] : childrenOf(pid)) {
      guard.addFrozen(one)
      frozen.add(one)
      signalOne(one, 'SIGSTOP')
    }
  }
  const thaw = () => {
    for (const one of frozen) signalOne(one, 'SIGCONT')
    frozen.clear()
    signal('SIGCONT')
  }
  const end = async (sendSignal: () => void) => {
    if (hasEnded()) return
    child.ref()
    sendSignal()
    thaw()
    const last = setTimeout(signal, killAfterMs, 'SIGKILL')
    await exit
    clearTimeout(last)
  }
  return {
    pid,
    launch,
    hasEnded,
    freeze,
    thaw,
    stop: () => end(() => signal(stopSignal)),
    shutDown: (name) => end(() => void child.kill(name)),
  }
}

function childrenOf(parent: number): readonly number[] {
  return listProcesses().flatMap((one) => (one.parent === parent ? [one.pid] : []))
}

function signalOne(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has already ended.
  }
}

/** The port was free before and is taken now, so another port should be tried. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError'
  readonly code = 'port_taken'
}

/** Waits until the probe is true; rejects with the end of the log if the process ends before. */
export async function waitUntilReady(
  { launch, hasEnded }: ServerProcess,
  probe: () => Promise<boolean>,
): Promise<void> {
  let isReady = false
  try {
    await waitFor('was not ready', async () => {
      isReady = !hasEnded() && (await probe())
      return isReady || hasEnded()
    })
  } catch (error) {
    throw failureOf(launch, error instanceof Error ? error.message : 'was not ready')
  }
  if (!isReady) throw failureOf(launch, 'ended before it was ready')
}

function failureOf({ program, logFile }: Launch, what: string): Error {
  const log = readFileSync(logFile, 'utf8')
  const message = `${program} ${what}. The end of its log:\n${log.trim().split('\n').slice(-8).join('\n')}`
  return /address already in use/i.test(log) ? new PortTakenError(message) : new Error(message)
}
