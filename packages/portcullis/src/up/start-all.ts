import { setTimeout as sleep } from 'node:timers/promises'
import { PartStartError } from './errors.ts'
import type { RunningPart, UpContext } from './part.ts'
import { parts } from './parts/index.ts'
import { type PartName, partNames } from './ports.ts'

interface LostPart {
  readonly part: PartName
  readonly reason: string
}

export interface RunningParts {
  /** Resolves when all parts have stopped, or after a timeout. */
  stop(): Promise<void>
  /** The first part that ends unexpectedly. */
  readonly lost: Promise<LostPart>
}

/** `up` promises to stop within two seconds; anything left then ends with this process. */
const stopMs = 1_700

/** @param onProgress is called with the parts that have not started yet */
export async function startAll(
  settings: Omit<UpContext, 'mailbox'>,
  onProgress: (awaited: readonly PartName[]) => void,
): Promise<RunningParts> {
  const failing = new AbortController()
  const stopping = AbortSignal.any([settings.stopping, failing.signal])
  const context: UpContext = { ...settings, stopping }
  const running = new Map<PartName, RunningPart>()
  const starting = new Map<PartName, Promise<void>>()
  const lost = Promise.withResolvers<LostPart>()

  const start = async (name: PartName) => {
    const { start: startPart, after } = parts[name]
    if (after !== undefined) await starting.get(after)
    const part = await startPart(context)
    running.set(name, part)
    void part.lost?.then((reason) => lost.resolve({ part: name, reason }))
    onProgress(wanted.filter((other) => !running.has(other)))
  }
  const stop = async () => {
    const stopped = Promise.allSettled([...running.values()].map((part) => part.stop()))
    await Promise.race([stopped, sleep(stopMs, undefined, { ref: false })])
  }

  // Parts without dependencies come first, so that the others find them in the map.
  const wanted = partNames.filter((name) => settings.has.has(name)).toSorted(byNeed)
  onProgress(wanted)
  for (const name of wanted) {
    const started = start(name).catch((error: unknown) => {
      // Only the first failure is reported; the other parts fail as a consequence.
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
  const reason = code === 'EADDRINUSE' ? `port ${port} is in use.` : message
  const { title } = parts[name]
  return new PartStartError(`${title} failed to start: ${reason || 'no reason was given.'}`, {
    cause: error,
  })
}
