import type { Log } from '@portcullis/service-kit/log/log'
import type { Counter } from '@portcullis/service-kit/metrics/instruments'
import type { LineFormat } from '@portcullis/service-kit/metrics/lines/line-format'
import type { Output } from '@portcullis/service-kit/metrics/lines/output'
import { TimerBuffer } from '@portcullis/service-kit/metrics/timer-buffer'
import { type DroppedBatch, DroppedCounters } from '../../dropped-counters.ts'
import type { Statistics } from '../../registry.ts'
import type { RuleCounters } from '../../rule-counters.ts'
import type { Sink, SinkContext } from '../sink.ts'
import { LineWriter } from './line-writer.ts'

export interface LineSinkSettings {
  readonly flushIntervalMs: number
  readonly format: LineFormat
  readonly output: Output
}

/** Durations are sent together, because a packet for each would cost more than the call it reports. */
const timerDelayMs = 100

const droppedDelayMs = 500
const mostDropped = 100_000

/** The time limit of the last flush, counted in ticks, so that a pause of this process counts as one tick. */
const [closeTicks, closeTickMs] = [10, 100] as const

/**
 * Sends statistics as lines: counters as differences and gauges as values at each flush, durations shortly after
 * they were observed. It works in slices and waits for the output, so decisions never wait. While there is no
 * connection nothing is sent, and counters keep their differences.
 */
export class LineSink implements Sink {
  readonly #statistics: Statistics
  readonly #processGauges: SinkContext['processGauges']
  readonly #log: Log
  readonly #output: Output
  readonly #writer: LineWriter
  readonly #dropped: DroppedCounters
  readonly #timers: TimerBuffer[] = []
  readonly #interval: NodeJS.Timeout
  #timerDelay: NodeJS.Timeout | undefined
  #timersSent: Promise<void> = Promise.resolve()
  #work: Promise<void> = Promise.resolve()
  #flush: Promise<void> | undefined
  #closed: Promise<void> | undefined
  #hasFailed = false

  constructor(
    { flushIntervalMs, format, output }: LineSinkSettings,
    { statistics, processGauges, log }: SinkContext,
  ) {
    this.#statistics = statistics
    this.#processGauges = processGauges
    this.#log = log
    this.#output = output
    output.onOpen = () => void this.#sendTimers()
    this.#writer = new LineWriter(format, output)
    this.#dropped = new DroppedCounters(statistics, {
      delayMs: droppedDelayMs,
      most: mostDropped,
      ready: () => void this.#queue(() => this.#sendDropped()),
    })
    statistics.eachTimer((name, timer) => {
      const buffer = new TimerBuffer(name, () => this.#delayTimers())
      this.#timers.push(buffer)
      timer.observer = buffer.add
    })
    this.#interval = setInterval(() => void this.flush(), flushIntervalMs).unref()
  }

  /** A call during a flush returns the promise of that flush. */
  flush(): Promise<void> {
    this.#flush ??= this.#queue(async () => {
      await this.#sendAll()
      this.#flush = undefined
    })
    return this.#flush
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    clearInterval(this.#interval)
    clearTimeout(this.#timerDelay)
    const giveUp = new AbortController()
    const { promise: tooLate, resolve } = Promise.withResolvers<void>()
    giveUp.signal.addEventListener('abort', () => resolve())
    let ticks = 0
    const deadline = setInterval(() => {
      if (++ticks === closeTicks) giveUp.abort()
    }, closeTickMs)
    this.#flush = undefined
    const last = this.#output.tried.then(() => this.flush())
    await Promise.race([last, tooLate])
    await this.#output.close(giveUp.signal)
    clearInterval(deadline)
    await last
    this.#dropped[Symbol.dispose]()
    this.#statistics.eachTimer((_, timer) => {
      timer.observer = undefined
    })
  }

  /** Runs one task at a time, because two would only fill the output twice as fast. */
  #queue(run: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(run).catch((error: unknown) => {
      this.#flush = undefined
      this.#onFailed(error)
    })
    return this.#work
  }

  #onFailed(error: unknown): void {
    if (!this.#hasFailed) this.#log.error(`Statistics could not be sent: ${String(error)}`)
    this.#hasFailed = true
  }

  async #sendAll(): Promise<void> {
    if (!this.#writer.isOpen) return
    await this.#statistics.refresh?.()
    await this.#sendTimers()
    for (const [name, counter] of this.#statistics.counters) this.#writer.counter(name, counter)
    for (const [name, read] of this.#statistics.gauges) this.#writer.value('gauge', name, read())
    for (const [name, value] of this.#processGauges()) this.#writer.value('gauge', name, value)
    await this.#sendDropped()
    await this.#sendDomains(this.#statistics.unknownDomains())
    await this.#sendRules(this.#statistics.rules.entries())
    this.#writer.send()
  }

  async #sendRules(entries: Iterable<[string, RuleCounters]>): Promise<void> {
    for (const [key, counters] of entries) {
      if (!this.#writer.isOpen) return
      this.#writer.rule(key, counters)
      const pause = this.#writer.pause()
      if (pause !== undefined) await pause
    }
  }

  async #sendDomains(entries: Iterable<[string, Counter]>): Promise<void> {
    for (const [domain, counter] of entries) {
      if (!this.#writer.isOpen) return
      this.#writer.domain(domain, counter)
      const pause = this.#writer.pause()
      if (pause !== undefined) await pause
    }
  }

  async #sendDropped(): Promise<void> {
    while (this.#writer.isOpen) {
      const batch = this.#dropped.take()
      if (batch === undefined) break
      await this.#sendBatch(batch)
      if (!this.#writer.isOpen) this.#dropped.restore(batch)
    }
    this.#writer.send()
  }

  #sendBatch(batch: DroppedBatch): Promise<void> {
    return batch.kind === 'rules'
      ? this.#sendRules(batch.counters)
      : this.#sendDomains(batch.counters)
  }

  #delayTimers(): void {
    this.#timerDelay ??= setTimeout(() => {
      this.#timerDelay = undefined
      void this.#sendTimers()
    }, timerDelayMs).unref()
  }

  /** Runs concurrently with a flush, which may take longer than the buffers of durations last. */
  #sendTimers(): Promise<void> {
    const failed = (error: unknown) => this.#onFailed(error)
    this.#timersSent = this.#timersSent.then(() => this.#writeTimers()).catch(failed)
    return this.#timersSent
  }

  async #writeTimers(): Promise<void> {
    for (const buffer of this.#timers) {
      if (!this.#writer.isOpen) return
      for (const durationMs of buffer.take()) {
        this.#writer.value('timer', buffer.name, durationMs)
        const pause = this.#writer.pause()
        if (pause !== undefined) await pause
      }
    }
    this.#writer.send()
  }
}
