import type { Counter, Timer } from '@portcullis/service-kit/metrics/instruments'
import { Pace } from '@portcullis/service-kit/metrics/slices'
import { TimerBuffer } from '@portcullis/service-kit/metrics/timer-buffer'
import type { ReportParts } from '../app/primary.ts'
import { Differences } from '../stats/differences.ts'
import { DroppedCounters } from '../stats/dropped-counters.ts'
import type { Statistics } from '../stats/registry.ts'
import type { RuleCounters } from '../stats/rule-counters.ts'
import type { NamedNumber, StatisticsMessage, TimerGrowth } from './messages.ts'
import { RuleRows } from './rule-rows.ts'

export interface ReportSettings extends ReportParts {
  /** Resolves when the message has been sent. */
  readonly send: (message: StatisticsMessage) => Promise<void>
  readonly log: { error(message: string): void }
}

/** The time between reports. If a worker dies, the counts since its last report are lost. */
const quietMs = 250

/** Searching for changes takes longer with more rules; this keeps it below 1 % of the time. */
const quietMsPerRule = 0.01

const durationsDelayMs = 100
const droppedDelayMs = 500
const mostDropped = 100_000
const mostNames = 1_000

/**
 * Sends the statistics of this worker to the primary: counters as differences, and of 100,000 rules only
 * those that were hit. It works in slices, with one outstanding message at a time.
 */
export class Reports implements AsyncDisposable {
  readonly #statistics: Statistics
  readonly #settings: ReportSettings
  readonly #differences = new Differences()
  readonly #dropped: DroppedCounters
  readonly #pace = new Pace()
  readonly #rows = new RuleRows()
  readonly #durations: TimerBuffer[] = []
  readonly #timers = new Map<string, { readonly count: number; readonly sumMs: number }>()
  readonly #toldCounters = new Set<string>()
  #toldRules = 0
  #domainsOf: unknown
  #timer: NodeJS.Timeout | undefined
  #durationsTimer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined
  #hasFailed = false

  constructor(settings: ReportSettings) {
    this.#settings = settings
    this.#statistics = settings.statistics
    this.#dropped = new DroppedCounters(this.#statistics, {
      delayMs: droppedDelayMs,
      most: mostDropped,
      ready: () => void this.#queue(() => this.#sendDropped()),
    })
    if (settings.sendsDurations) this.#keepDurations()
    this.#schedule()
  }

  /** Resolves when everything that was counted before this call has been sent. */
  report(): Promise<void> {
    // A report in progress may have passed statistics that changed since.
    this.#next ??= this.#queue(async () => {
      this.#next = undefined
      await this.#sendAll()
    })
    return this.#next
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer)
    clearTimeout(this.#durationsTimer)
    await this.report()
    clearTimeout(this.#durationsTimer)
    this.#dropped[Symbol.dispose]()
  }

  #schedule(): void {
    const delayMs = quietMs + this.#statistics.rules.size * quietMsPerRule
    this.#timer = setTimeout(() => {
      void this.report().then(() => this.#schedule())
    }, delayMs).unref()
  }

  /** Runs tasks one after the other. */
  #queue(run: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(run).catch((error: unknown) => {
      if (!this.#hasFailed) {
        this.#settings.log.error(`Statistics could not be sent: ${String(error)}`)
      }
      this.#hasFailed = true
    })
    return this.#work
  }

  async #sendAll(): Promise<void> {
    await this.#sendDomainNames()
    await this.#sendSingles()
    await this.#sendDurations()
    await this.#sendDropped()
    await this.#sendUnknownDomains(this.#statistics.unknownDomains())
    await this.#sendRules(this.#statistics.rules.configured())
    await this.#sendRequests(this.#statistics.rules.requested())
  }

  async #sendDomainNames(): Promise<void> {
    const rules = this.#settings.rules()
    if (rules === undefined || rules === this.#domainsOf) return
    this.#domainsOf = rules
    await this.#settings.send({ kind: 'domains', names: [...rules.domainNames()] })
  }

  async #sendSingles(): Promise<void> {
    const { counters, gauges, timers } = this.#statistics
    await this.#settings.send({
      kind: 'singles',
      counters: [...this.#takeCounters(counters)],
      timers: [...timers].map(([name, timer]) => this.#takeTimer(name, timer)),
      gauges: [...gauges].map(([name, read]) => [name, read()] as const),
      processGauges: [...this.#settings.processGauges()],
    })
  }

  /** Includes counters with the value 0 the first time. */
  *#takeCounters(counters: ReadonlyMap<string, Counter>): Generator<NamedNumber> {
    for (const [name, counter] of counters) {
      const by = this.#differences.take(counter)
      if (by !== 0 || !this.#toldCounters.has(name)) yield [name, by]
      this.#toldCounters.add(name)
    }
  }

  #takeTimer(name: string, { count, sumMs, maxMs }: Timer): TimerGrowth {
    const last = this.#timers.get(name) ?? { count: 0, sumMs: 0 }
    this.#timers.set(name, { count, sumMs })
    return { name, count: count - last.count, sumMs: sumMs - last.sumMs, maxMs }
  }

  #keepDurations(): void {
    const isFirst = () => {
      this.#durationsTimer ??= setTimeout(() => {
        this.#durationsTimer = undefined
        void this.#queue(() => this.#sendDurations())
      }, durationsDelayMs).unref()
    }
    this.#statistics.eachTimer((name, timer) => {
      const buffer = new TimerBuffer(name, isFirst)
      this.#durations.push(buffer)
      timer.observer = buffer.add
    })
  }

  async #sendDurations(): Promise<void> {
    for (const buffer of this.#durations) {
      const valuesMs = buffer.take()
      if (valuesMs.length === 0) continue
      await this.#settings.send({ kind: 'durations', name: buffer.name, valuesMs })
    }
  }

  async #sendDropped(): Promise<void> {
    for (let batch = this.#dropped.take(); batch; batch = this.#dropped.take()) {
      await (batch.kind === 'rules'
        ? this.#sendRequests(batch.counters)
        : this.#sendUnknownDomains(batch.counters))
    }
  }

  async #sendUnknownDomains(entries: Iterable<[string, Counter]>): Promise<void> {
    let counters: NamedNumber[] = []
    const send = async () => {
      if (counters.length > 0) await this.#settings.send({ kind: 'unknown domains', counters })
      counters = []
    }
    for (const [domain, counter] of entries) {
      const by = this.#differences.take(counter)
      if (by !== 0) counters.push([domain, by])
      if (counters.length === mostNames) await send()
      const pause = this.#pace.step()
      if (pause !== undefined) await pause
    }
    await send()
  }

  /** A rule is sent by its name once, and afterwards by its number. */
  async #sendRules(rules: Iterable<[string, RuleCounters]>): Promise<void> {
    let added: string[] = []
    let numbers: number[] = []
    const send = async () => {
      if (added.length === 0 && this.#rows.isEmpty) return
      const growth = this.#rows.flush()
      const changes = { added, numbers: Uint32Array.from(numbers), growth }
      added = []
      numbers = []
      await this.#settings.send({ kind: 'rules', ...changes })
    }
    let number = 0
    for (const [key, counters] of rules) {
      if (number === this.#toldRules) {
        this.#toldRules += 1
        added.push(key)
      }
      if (this.#rows.take(counters, this.#differences)) numbers.push(number)
      number += 1
      if (this.#rows.isFull || added.length === mostNames) await send()
      const pause = this.#pace.step()
      if (pause !== undefined) await pause
    }
    await send()
  }

  async #sendRequests(entries: Iterable<[string, RuleCounters]>): Promise<void> {
    let keys: string[] = []
    const send = async () => {
      const growth = this.#rows.flush()
      if (keys.length > 0) await this.#settings.send({ kind: 'requests', keys, growth })
      keys = []
    }
    for (const [key, counters] of entries) {
      if (this.#rows.take(counters, this.#differences)) keys.push(key)
      if (this.#rows.isFull) await send()
      const pause = this.#pace.step()
      if (pause !== undefined) await pause
    }
    await send()
  }
}
