import { setTimeout as sleep } from 'node:timers/promises'
import { PartStartError } from './errors.ts'
import type { RunningPart, World } from './part.ts'
import { parts } from './parts/index.ts'
import { type PartName, partNames } from './ports.ts'

interface LostPart {
  readonly part: PartName
  readonly reason: string
}

export interface RunningParts {
  /** Resolves when all have stopped, or had the time to. */
  stop(): Promise<void>
  /** The first that ends without being told to. */
  readonly lost: Promise<LostPart>
}

/** People are promised two seconds; what is left then ends with this process. */
const stopMs = 1_700

/** @param onProgress is told which parts are still awaited */
export async function startAll(
  settings: Omit<World, 'mailbox'>,
  onProgress: (awaited: readonly PartName[]) => void,
): Promise<RunningParts> {
  const failing = new AbortController()
  const stopping = AbortSignal.any([settings.stopping, failing.signal])
  const world: World = { ...settings, stopping }
  const running = new Map<PartName, RunningPart>()
  const starting = new Map<PartName, Promise<void>>()
  const lost = Promise.withResolvers<LostPart>()

  const start = async (name: PartName) => {
    const { start: startPart, after } = parts[name]
    if (after !== undefined) await starting.get(after)
    const part = await startPart(world)
    running.set(name, part)
    void part.lost?.then((reason) => lost.resolve({ part: name, reason }))
    onProgress(wanted.filter((other) => !running.has(other)))
  }
  const stop = async () => {
    const stopped = Promise.allSettled([...running.values()].map((part) => part.stop()))
    await Promise.race([stopped, sleep(stopMs, undefined, { ref: false })])
  }

  // Those that wait for none come first, so that the others find them.
  const wanted = partNames.filter((name) => settings.has.has(name)).toSorted(byNeed)
  onProgress(wanted)
  for (const name of wanted) {
    const started = start(name).catch((error: unknown) => {
      // The first to fail is the one to tell of: the others only stop because of it.
      failing.abort(toStartError(name, error))
      throw error
    })
    starting.set(name, started)
  }
  await Promise.allSettled(starting.values())
  if (stopping.aborted) {
    await stop()
    throw stopping.reason
  }
  return { stop, lost: lost.promise }
}

function byNeed(one: PartName, other: PartName): number {
  return Number(parts[one].after !== undefined) - Number(parts[other].after !== undefined)
}

function toStartError(name: PartName, error: unknown): PartStartError {
  const { code, port, message }: { code?: unknown; port?: unknown; message?: unknown } =
    error instanceof Error ? error : { message: error }
  const words = code === 'EADDRINUSE' ? `somebody has just taken its port ${port}.` : message
  const { title } = parts[name]
  return new PartStartError(`${title} did not start: ${words || 'it did not say why.'}`, {
    cause: error,
  })
}
