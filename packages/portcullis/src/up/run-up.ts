import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandIo, usesColor } from '@portcullis/service-kit/command'
import { toCallName } from './call-name.ts'
import { findOpenPorts } from './closed-doors.ts'
import { checkFolder, takeFolder } from './data-folder.ts'
import type { UpOptions } from './options.ts'
import type { World } from './part.ts'
import { parts } from './parts/index.ts'
import { type PartName, type Ports, toDoorNames } from './ports.ts'
import { toReadyText } from './ready-text.ts'
import { provideSecrets, secretsFile } from './secrets.ts'
import { type RunningParts, startAll } from './start-all.ts'

/** From the first look at the ports to the last process. @throws {UpRefusal} */
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
  const complain = (part: PartName, words: string) => {
    showProgress('')
    io.stderr.write(`${part}: ${words}\n`)
  }
  const world = {
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
    complain,
  }

  const say = (text: string) => signals.isHungUp || io.stdout.write(text)
  const running = await startAll(world, (awaited) => showProgress(toProgress(awaited)))
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
    .finally(() => showProgress(''))
  if (running instanceof Error) {
    if (!stopping.aborted) io.stderr.write(`${running.message}\nNothing is left running.\n`)
    else say('Stopped.\n')
    return stopping.aborted ? 0 : 1
  }
  lock.tell(toOpenPorts(world))
  say(toReadyText({ ...world, isFirstStart }, usesColor(io)))
  const isLost = await waitForTheEnd(running, stopping, io)
  signals.stop()
  await running.stop()
  say('Stopped.\n')
  return isLost ? 1 : 0
}

/** @returns whether a part has ended by itself */
async function waitForTheEnd(
  running: RunningParts,
  stopping: AbortSignal,
  io: CommandIo,
): Promise<boolean> {
  const told = Promise.withResolvers<undefined>()
  const onStopping = () => told.resolve(undefined)
  stopping.addEventListener('abort', onStopping, { once: true })
  if (stopping.aborted) onStopping()
  const lost = await Promise.race([running.lost, told.promise])
  if (lost === undefined) {
    // The terminal has shown ^C, and stands behind it.
    if (io.isTerminal && stopping.reason?.message === 'SIGINT') io.stdout.write('\n')
    return false
  }
  const { title } = parts[lost.part]
  io.stderr.write(`${title} is gone (${lost.reason}); everything else stops too.\n`)
  return true
}

/** One line that is overwritten; nothing where nobody looks. */
function createProgress({ isTerminal, stdout }: CommandIo): (text: string) => void {
  return (text) => {
    if (isTerminal) stdout.write(`\r\x1b[2K${text}`)
  }
}

function toProgress(awaited: readonly PartName[]): string {
  if (awaited.length === 0) return ''
  return `Starting: ${awaited.map((name) => parts[name].title).join(', ')}…`
}

function toOpenPorts({ ports, has }: Pick<World, 'ports' | 'has'>): Partial<Ports> {
  return Object.fromEntries(toDoorNames(has).map((name) => [name, ports[name]]))
}

export interface StopSignals {
  /** Fires at the first signal. */
  readonly stopping: AbortSignal
  /** As if a signal had come. */
  stop(): void
  /** The terminal is gone: there is nobody to read what we say. */
  readonly isHungUp: boolean
}

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Ctrl-C, a supervisor, a terminal that is closed: the first stops us, the second at once. We listen to the
 * very end: a signal that nobody listens to would end us without what remains to be done.
 */
export function watchSignals(): StopSignals {
  const controller = new AbortController()
  let isHungUp = false
  const onSignal = (signal: NodeJS.Signals) => {
    // A closed terminal tells npm too, which passes it on: that is no impatience.
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
