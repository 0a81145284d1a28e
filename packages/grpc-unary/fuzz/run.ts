import { setImmediate as nextTurn } from 'node:timers/promises'
import { fail } from './failure.ts'
import { FrameFuzzer } from './frame-fuzzer.ts'
import { measureHeapBytes } from './heap.ts'
import { HpackFuzzer } from './hpack-fuzzer.ts'

/** The fuzzing targets, by their name on the command line. */
export const targets = {
  frames: (seed: number) => new FrameFuzzer(seed),
  hpack: (seed: number) => new HpackFuzzer(seed),
} as const

export type Target = keyof typeof targets

export interface Progress {
  readonly target: Target
  readonly inputs: number
  readonly seconds: number
  /** The CPU time of this process. */
  readonly cpuSeconds: number
  readonly heapBytes: number
}

export interface FuzzOptions {
  readonly seed: number
  readonly inputs: number
  /** Stops earlier after this time. */
  readonly minutes?: number
  /** The number of the first input. */
  readonly first?: number
  readonly progress?: (progress: Progress) => void
}

/** Sockets and timers need turns of the event loop; without them, work would pile up. */
const INPUTS_PER_TURN = 256

const INPUTS_PER_PROGRESS = 1 << 17

/** The memory after this many inputs is the baseline for later measurements. */
const WARM_UP_INPUTS = 1 << 13

const MAX_GROWTH_BYTES = 12 * 2 ** 20

/** Runs one target and returns the number of inputs without a failure; a failure is thrown. */
export async function fuzz(target: Target, options: FuzzOptions): Promise<number> {
  const { seed, inputs, minutes = Number.POSITIVE_INFINITY, first = 0, progress } = options
  const fuzzer = targets[target](seed)
  const beganMs = performance.now()
  const beganCpu = process.cpuUsage()
  const endMs = beganMs + minutes * 60_000
  let baseBytes = Number.POSITIVE_INFINITY
  let done = 0

  const reportProgress = async (): Promise<void> => {
    const bytes = await measureHeapBytes()
    const { user, system } = process.cpuUsage(beganCpu)
    const seconds = (performance.now() - beganMs) / 1000
    const cpuSeconds = (user + system) / 1e6
    progress?.({ target, inputs: done, seconds, cpuSeconds, heapBytes: bytes })
    if (bytes > baseBytes + MAX_GROWTH_BYTES) {
      fail(`${target}, seed ${seed}: the heap grew from ${baseBytes} to ${bytes} bytes`)
    }
  }
  while (done < inputs && performance.now() < endMs) {
    const end = Math.min(inputs, done + INPUTS_PER_TURN)
    for (; done < end; done++) fuzzer.run(first + done)
    await nextTurn()
    if (done === WARM_UP_INPUTS) baseBytes = await measureHeapBytes()
    if (done % INPUTS_PER_PROGRESS === 0) await reportProgress()
  }
  await reportProgress()
  return done
}
