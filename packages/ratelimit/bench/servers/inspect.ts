// Imported into the server before it starts, to report values that are not visible from outside.

import { PerformanceObserver } from 'node:perf_hooks'

export interface MemoryReading {
  /** The memory in use after a garbage collection, on the heap and outside it. */
  readonly liveBytes: number
  readonly residentBytes: number
}

/** The maximum of each value since the last reset; they need not belong to the same pause. */
export interface PauseReading {
  /** The time that the event loop was blocked. */
  readonly longestMs: number
  /** CPU time of the thread within one turn, which does not depend on other processes. */
  readonly longestCpuMs: number
  /** The longest garbage collection. */
  readonly longestGcMs: number
}

const tickMs = 1

/** Ticks as often as the event loop allows, and measures the time between ticks. */
class PauseWatch {
  #reading: PauseReading = { longestMs: 0, longestCpuMs: 0, longestGcMs: 0 }
  #lastMs = performance.now()
  #lastCpuMs = toMs(process.threadCpuUsage())

  constructor() {
    setInterval(() => this.#tick(), tickMs).unref()
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        const longestGcMs = Math.max(this.#reading.longestGcMs, duration)
        this.#reading = { ...this.#reading, longestGcMs }
      }
    })
    observer.observe({ entryTypes: ['gc'] })
  }

  reset(): void {
    this.#reading = { longestMs: 0, longestCpuMs: 0, longestGcMs: 0 }
  }

  read(): PauseReading {
    return this.#reading
  }

  #tick(): void {
    const ms = performance.now()
    const cpuMs = toMs(process.threadCpuUsage())
    const { longestMs, longestCpuMs, longestGcMs } = this.#reading
    this.#reading = {
      longestMs: Math.max(longestMs, ms - this.#lastMs - tickMs),
      longestCpuMs: Math.max(longestCpuMs, cpuMs - this.#lastCpuMs),
      longestGcMs,
    }
    this.#lastMs = ms
    this.#lastCpuMs = cpuMs
  }
}

function toMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000
}

const watch = new PauseWatch()

const answers: { readonly [question: string]: () => object } = {
  memory(): MemoryReading {
    // Collects twice, because the second run frees the objects that the first one finalized.
    globalThis.gc?.()
    globalThis.gc?.()
    const { heapUsed, external, rss } = process.memoryUsage()
    return { liveBytes: heapUsed + external, residentBytes: rss }
  },
  reset() {
    watch.reset()
    return {}
  },
  pauses: () => watch.read(),
}

process.on('message', (question: string) => {
  process.send?.(answers[question]?.() ?? { failure: `Unknown question "${question}"` })
})
process.channel?.unref()
