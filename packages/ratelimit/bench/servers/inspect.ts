// Imported into our server before it starts, to tell the benchmark what cannot be seen from outside.

import { PerformanceObserver } from 'node:perf_hooks'

export interface MemoryReading {
  /** What is in use after a garbage collection, on the heap and outside of it. */
  readonly liveBytes: number
  readonly residentBytes: number
}

/** The longest of each since the last reset; they need not be the same pause. */
export interface PauseReading {
  /** Time that the event loop did not turn. */
  readonly longestMs: number
  /** CPU time of the thread within one turn: what a busy machine cannot be blamed for. */
  readonly longestCpuMs: number
  /** One garbage collection. */
  readonly longestGcMs: number
}

const tickMs = 1

/** Ticks as often as the loop allows, and looks how long it took from one tick to the next. */
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
    // Twice: what the first run finalizes, the second frees.
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
  process.send?.(answers[question]?.() ?? { failure: `Nobody knows "${question}"` })
})
process.channel?.unref()
