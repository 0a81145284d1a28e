import type { Statistics } from '../stats/registry.ts'
import type { RuleCounters } from '../stats/rule-counters.ts'
import { ruleStatistics } from '../stats/rule-statistics.ts'
import type { NamedNumber, StatisticsMessage } from './messages.ts'
import { rowLength } from './rule-rows.ts'

/** What one worker has told, as far as it is needed again. */
export interface WorkerPart {
  /** Whether it is the lead worker: what all have in common is taken from this one. */
  isLead: boolean
  /** By the numbers that the worker gave them. */
  readonly rules: RuleCounters[]
  readonly gauges: Map<string, number>
  processGauges: readonly NamedNumber[]
}

type Messages = { readonly [Kind in StatisticsMessage['kind']]: MessageOf<Kind> }
type MessageOf<Kind> = Extract<StatisticsMessage, { readonly kind: Kind }>
type Take<Kind extends keyof Messages> = (part: WorkerPart, message: Messages[Kind]) => void

/** Adds up what the workers count, in statistics that `/stats` and the sinks read as ever. */
export class StatisticsSum {
  readonly #statistics: Statistics
  readonly #parts = new Set<WorkerPart>()
  /** What gauges that only grow had reached in workers that are gone. */
  readonly #ended = new Map<string, number>()
  #domains: ReadonlySet<string> = new Set()

  constructor(statistics: Statistics) {
    this.#statistics = statistics
  }

  /** Whether the rules name a domain. */
  hasDomain(domain: string): boolean {
    return this.#domains.has(domain)
  }

  openPart(isLead: boolean): WorkerPart {
    const part = { isLead, rules: [], gauges: new Map(), processGauges: [] }
    this.#parts.add(part)
    return part
  }

  /** The worker is gone. What it has counted stays. */
  closePart(part: WorkerPart): void {
    this.#parts.delete(part)
    for (const [name, value] of part.gauges) {
      if (toGaugeRule(name) !== 'total') continue
      this.#ended.set(name, (this.#ended.get(name) ?? 0) + value)
    }
  }

  take<Kind extends keyof Messages>(part: WorkerPart, message: Messages[Kind]): void {
    const take: Take<Kind> = this.#takes[message.kind]
    take(part, message)
  }

  /** What the processes take of their machine together; the first one's for all that is no size. */
  toProcessGauges(own: readonly NamedNumber[]): NamedNumber[] {
    const parts = [...this.#parts].map(({ processGauges }) => new Map(processGauges))
    return own.map(([name, value]) => {
      if (!name.includes('.memory.')) return [name, value]
      return [name, parts.reduce((sum, part) => sum + (part.get(name) ?? 0), value)]
    })
  }

  readonly #takes: { readonly [Kind in keyof Messages]: Take<Kind> } = {
    singles: (part, { counters, timers, gauges, processGauges }) => {
      for (const [name, by] of counters) {
        const counter = this.#statistics.counter(name)
        if (part.isLead || !isCommonCounter(name)) counter.value += by
      }
      for (const { name, count, sumMs, maxMs } of timers) {
        const timer = this.#statistics.timer(name)
        timer.count += count
        timer.sumMs += sumMs
        timer.maxMs = Math.max(timer.maxMs, maxMs)
      }
      for (const [name, value] of gauges) this.#setGauge(part, name, value)
      part.processGauges = processGauges
    },
    durations: (_part, { name, valuesMs }) => {
      const { observer } = this.#statistics.timer(name)
      if (observer !== undefined) for (const durationMs of valuesMs) observer(durationMs)
    },
    domains: (_part, { names }) => {
      this.#domains = new Set(names)
    },
    rules: (part, { added, numbers, growth }) => {
      for (const key of added) part.rules.push(this.#statistics.rules.forRule(key))
      for (const [row, number] of numbers.entries()) addRow(part.rules[number], growth, row)
    },
    requests: (_part, { keys, growth }) => {
      for (const [row, key] of keys.entries()) {
        addRow(this.#statistics.rules.forRequest(key), growth, row)
      }
    },
    'unknown domains': (_part, { counters }) => {
      for (const [domain, by] of counters) this.#statistics.unknownDomain(domain).value += by
    },
  }

  #setGauge(part: WorkerPart, name: string, value: number): void {
    part.gauges.set(name, value)
    if (!this.#statistics.gauges.has(name)) {
      this.#statistics.gauge(name, () => this.#readGauge(name))
    }
  }

  #readGauge(name: string): number {
    const rule = toGaugeRule(name)
    const values: number[] = []
    for (const { gauges, isLead } of this.#parts) {
      const value = gauges.get(name)
      if (value !== undefined && (rule !== 'one' || isLead)) values.push(value)
    }
    const sum = values.reduce((total, value) => total + value, this.#ended.get(name) ?? 0)
    return rule === 'mean' ? sum / Math.max(1, values.length) : sum
  }
}

function addRow(counters: RuleCounters | undefined, growth: Float64Array, row: number): void {
  if (counters === undefined) return
  for (const [statistic, [, field]] of ruleStatistics.entries()) {
    counters[field] += growth[row * rowLength + statistic] ?? 0
  }
}

/** How the gauges of several workers become one. */
type GaugeRule = 'sum' | 'total' | 'mean' | 'one'

/**
 * Those that are no plain sum of what the workers have now. Gauges that only ever grow keep what
 * workers have had that are gone; those about the rules are the same in every worker.
 */
const gaugeRules: Readonly<Record<string, GaugeRule>> = {
  'runtime.num_values': 'one',
  'ratelimit.localcache.evacuateCount': 'total',
  'ratelimit.localcache.expiredCount': 'total',
  'ratelimit.localcache.hitCount': 'total',
  'ratelimit.localcache.missCount': 'total',
  'ratelimit.localcache.lookupCount': 'total',
  'ratelimit.localcache.overwriteCount': 'total',
  'ratelimit.localcache.averageAccessTime': 'mean',
}

function toGaugeRule(name: string): GaugeRule {
  return gaugeRules[name] ?? 'sum'
}

/** Every worker loads the rules for itself: the loads of one of them are those of the service. */
const commonCounters: ReadonlySet<string> = new Set([
  'ratelimit.service.config_load_success',
  'ratelimit.service.config_load_error',
  'runtime.load_attempts',
  'runtime.load_failures',
])

function isCommonCounter(name: string): boolean {
  return commonCounters.has(name)
}
