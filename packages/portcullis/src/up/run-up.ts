import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandIo, usesColor } from '@portcullis/service-kit/cli/command'
import { toCallName } from './call-name.ts'
import { checkFolder, takeFolder } from './data-folder.ts'
import { findOpenPorts } from './free-ports.ts'
import type { UpOptions } from './options.ts'
import type { UpContext } from './part.ts'
import { parts } from './parts/index.ts'
import { type PartName, type Ports, toListenerNames } from './ports.ts'
import { toReadyText } from './ready-text.ts'
import { provideSecrets, secretsFile } from './secrets.ts'
import { type RunningParts, startAll } from './start-all.ts'

/** Runs `up` from the first port check to the end of the last process. @throws {UpRefusal} */
export async function runUp(options: UpOptions, version: string, io: CommandIo): Promise<number> {
  const { folder, has, host, publicUrl, allowedHosts } = options
  checkFolder(folder)
  const ports = await findOpenPorts({ ...options, callName: toCallName(io.env) })
  using lock = takeFolder(folder, options.isFresh)
  const isFirstStart = !existsSync(join(folder, secretsFile))
  const secrets = provideSecrets(folder)
  const signals = watchSignals()
  const { stopping } = signals
  const showProgress = createProgress(io)
  const warn = (part: PartName, message: string) => {
    showProgress('')
    io.stderr.write(`${part}: ${message}\n`)
  }
  const context = {
    host,
    ...(publicUrl !== undefined && { publicUrl }),
    allowedHosts,
    ports,
    folder,
    secrets,
    version,
    env: io.env,
    has,
    stopping,
    warn,
  }

  const print = (text: string) => signals.isHungUp || io.stdout.write(text)
  const running = await startAll(context, (awaited) => showProgress(toProgress(awaited)))
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
    .finally(() => showProgress(''))
  if (running instanceof Error) {
    if (!stopping.aborted) io.stderr.write(`${running.message}\nAll parts were stopped.\n`)
    else print('Stopped.\n')
    return stopping.aborted ? 0 : 1
  }
  lock.publishPorts(toOpenPorts(context))
  print(toReadyText({ ...context, isFirstStart }, usesColor(io)))
  const isLost = await waitForTheEnd(running, stopping, io)
  signals.stop()
  await running.stop()
  print('Stopped.\n')
  return isLost ? 1 : 0
}

/** @returns whether a part ended unexpectedly. */
async function waitForTheEnd(
  running: RunningParts,
  stopping: AbortSignal,
  io: CommandIo,
): Promise<boolean> {
  const stopped = Promise.withResolvers<undefined>()
  const onStopping = () => stopped.resolve(undefined)
  stopping.addEventListener('abort', onStopping, { once: true })
  if (stopping.aborted) onStopping()
  const lost = await Promise.race([running.lost, stopped.promise])
  if (lost === undefined) {
    // The terminal has printed ^C without a line break.
    if (io.isTerminal && stopping.reason?.message === 'SIGINT') io.stdout.write('\n')
    return false
  }
  const { title } = parts[lost.part]
  io.stderr.write(`${title} ended unexpectedly (${lost.reason}). Stopping all other parts.\n`)
  return true
}

/** Prints a line that is overwritten; prints nothing if the output is not a terminal. */
function createProgress({ isTerminal, stdout }: CommandIo): (text: string) => void {
  return (text) => {
    if (isTerminal) stdout.write(`\r\x1b[2K${text}`)
  }
}

function toProgress(awaited: readonly PartName[]): string {
  if (awaited.length === 0) return ''
  return `Starting: ${awaited.map((name) => parts[name].title).join(', ')}…`
}

function toOpenPorts({ ports, has }: Pick<UpContext, 'ports' | 'has'>): Partial<Ports> {
  return Object.fromEntries(toListenerNames(has).map((name) => [name, ports[name]]))
}

export interface StopSignals {
  /** Aborted on the first signal. */
  readonly stopping: AbortSignal
  /** Has the same effect as a signal. */
  stop(): void
  /** Whether the terminal was closed, so that nothing can be printed. */
  readonly isHungUp: boolean
}

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * The first signal starts an orderly shutdown, a second one ends the process at once. The handlers stay until
 * the end: an unhandled signal would end the process before everything has stopped.
 */
function watchSignals(): StopSignals {
  const controller = new AbortController()
  let isHungUp = false
  const onSignal = (signal: NodeJS.Signals) => {
    // When a terminal is closed, npm forwards the signal too, so a second SIGHUP is not an impatient user.
    if (signal === 'SIGHUP') isHungUp = true
    else if (controller.signal.aborted) process.exit(130)
    controller.abort(new Error(signal))
  }
  for (const name of names) process.on(name, onSignal)
  return {
    stopping: controller.signal,
    stop: () => controller.abort(),
    get isHungUp() {
      return isHungUp
    },
  }
}
