import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import { LineSplitter, longestLineBytes } from './log/line-splitter.ts'
import type { OpenedLog } from './log/open-log.ts'
import { Reordering } from './log/reordering.ts'
import type { ReadLine, RecordedRequest } from './recorded-request.ts'
import type { Simulation } from './simulation/simulation.ts'

export interface ReplaySettings {
  readonly logs: readonly OpenedLog[]
  readonly readLine: ReadLine
  /** Each receives all requests, so that rules can be compared in one pass. */
  readonly simulations: readonly Simulation[]
  /** How far requests in the log may be out of order. */
  readonly reorderMs: number
  /** Ends the replay early. */
  readonly signal: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

export interface Progress {
  readonly lines: number
  readonly readBytes: number
  /** Undefined if the size of a log is unknown. */
  readonly totalBytes: number | undefined
}

export interface UnreadableLine {
  readonly log: string
  /** From 1. */
  readonly line: number
  readonly reason: string
  /** The beginning of the line. */
  readonly text: string
}

/** A summary of the log, independent of the rules. */
export interface LogSummary {
  readonly lines: number
  readonly unreadable: number
  /** The first unreadable lines. */
  readonly examples: readonly UnreadableLine[]
  /** Lines without descriptors, for which Envoy would have sent no request. */
  readonly withoutDescriptors: number
  readonly requests: number
  /** Requests that came too late in the log and were decided at the time of those around them. */
  readonly late: number
  /** NaN if there were no requests. */
  readonly firstMs: number
  readonly lastMs: number
  /** Whether the replay ended early, because of the signal or an error. */
  readonly isCut: boolean
  readonly error: string | undefined
}

const mostExamples = 5
const longestExample = 200

/** Feeds logs, one after the other, to the simulations. */
export async function replay(settings: ReplaySettings): Promise<LogSummary> {
  const { logs, signal, onProgress } = settings
  const run = new Run(settings)
  const sizes = logs.map(({ sizeBytes }) => sizeBytes ?? Number.NaN)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const totalBytes = Number.isNaN(total) ? undefined : total
  let error: string | undefined
  for (const log of logs) {
    if (signal.aborted) break
    try {
      const splitter = run.begin(log.name)
      // Each chunk is a turn of the event loop, in which signals arrive and expired counters are dropped.
      for await (const chunk of log.chunks(signal)) {
        splitter.push(chunk)
        const readBytes = logs.reduce((sum, each) => sum + each.readBytes, 0)
        onProgress?.({ lines: run.lines, readBytes, totalBytes })
        if (signal.aborted) break
      }
      if (!signal.aborted) splitter.end()
    } catch (cause) {
      if (signal.aborted) break
      if (toCode(cause) === '') throw cause
      error = `${log.name} cannot be read further than line ${run.line}: ${toReason(cause)}`
      break
    }
  }
  run.end()
  return run.toSummary(signal.aborted || error !== undefined, error)
}

class Run {
  readonly #simulations: readonly Simulation[]
  readonly #readLine: ReadLine
  readonly #reordering: Reordering
  readonly #examples: UnreadableLine[] = []
  #log = ''
  /** The number of the last line of the log. */
  line = 0
  /** The number of lines in all logs. */
  lines = 0
  #unreadable = 0
  #withoutDescriptors = 0
  #requests = 0
  #late = 0
  #firstMs = Number.NaN
  #nowMs = Number.NEGATIVE_INFINITY

  constructor({ simulations, readLine, reorderMs }: ReplaySettings) {
    this.#simulations = simulations
    this.#readLine = readLine
    this.#reordering = new Reordering(reorderMs, (request, isLate) => this.#decide(request, isLate))
  }

  begin(log: string): LineSplitter {
    this.#log = log
    this.line = 0
    return new LineSplitter({
      line: (text) => this.#take(text),
      tooLong: () => {
        this.line += 1
        this.lines += 1
        this.#refuse('', `the line is longer than ${longestLineBytes} bytes`)
      },
    })
  }

  end(): void {
    this.#reordering.end()
  }

  toSummary(isCut: boolean, error: string | undefined): LogSummary {
    return {
      lines: this.lines,
      unreadable: this.#unreadable,
      examples: this.#examples,
      withoutDescriptors: this.#withoutDescriptors,
      requests: this.#requests,
      late: this.#late,
      firstMs: this.#firstMs,
      lastMs: this.#nowMs === Number.NEGATIVE_INFINITY ? Number.NaN : this.#nowMs,
      isCut,
      error,
    }
  }

  #take(line: string): void {
    this.line += 1
    const text = this.line === 1 && line.startsWith('\ufeff') ? line.slice(1) : line
    if (text === '') return
    this.lines += 1
    const read = this.#readLine(text)
    if (read === undefined) this.#withoutDescriptors += 1
    else if (typeof read === 'string') this.#refuse(text, read)
    else this.#reordering.push(read)
  }

  #refuse(text: string, reason: string): void {
    this.#unreadable += 1
    if (this.#examples.length >= mostExamples) return
    const start = text.length > longestExample ? `${text.slice(0, longestExample)}…` : text
    this.#examples.push({ log: this.#log, line: this.line, reason, text: start })
  }

  #decide(request: RecordedRequest, isLate: boolean): void {
    this.#requests += 1
    if (isLate) this.#late += 1
    else this.#nowMs = request.timeMs
    if (Number.isNaN(this.#firstMs)) this.#firstMs = this.#nowMs
    for (const simulation of this.#simulations) simulation.run(request, this.#nowMs)
  }
}
