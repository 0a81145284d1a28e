import type { Statistics } from '../stats/registry.ts'
import type { RuleCounters } from '../stats/rule-counters.ts'
import { ruleStatistics } from '../stats/rule-statistics.ts'
import type { NamedNumber, StatisticsMessage } from './messages.ts'
import { rowLength } from './rule-rows.ts'

/** The reported values of one worker that are needed later. */
export interface WorkerPart {
  /** Whether it is the lead worker, whose values are used for statistics that all workers have in common. */
  isLead: boolean
  /** By the numbers that the worker uses. */
  readonly rules: RuleCounters[]
  readonly gauges: Map<string, number>
  processGauges: readonly NamedNumber[]
}

type Messages = { readonly [Kind in StatisticsMessage['kind']]: MessageOf<Kind> }
type MessageOf<Kind> = Extract<StatisticsMessage, { readonly kind: Kind }>
type Take<Kind extends keyof Messages> = (part: WorkerPart, message: Messages[Kind]) => void

/** Adds up the statistics of all workers, for `/stats` and the sinks. */
export class StatisticsSum {
  readonly #statistics: Statistics
  readonly #parts = new Set<WorkerPart>()
  /** The last values of growing gauges in workers that have exited. */
  readonly #ended = new Map<string, number>()
  #domains: ReadonlySet<string> = new Set()

  constructor(statistics: Statistics) {
    this.#statistics = statistics
  }

  /** Whether the rules contain the domain. */
  hasDomain(domain: string): boolean {
    return this.#domains.has(domain)
  }

  openPart(isLead: boolean): WorkerPart {
    const part = { isLead, rules: [], gauges: new Map(), processGauges: [] }
    this.#parts.add(part)
    return part
  }

  /** The worker has exited. Its counts are kept. */
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

  /**
   * The resource usage of all processes: sizes are added up, the utilization is that of the busiest process, and
   * other values are those of the primary.
   */
  toProcessGauges(primaryGauges: readonly NamedNumber[]): NamedNumber[] {
    const parts = [...this.#parts].map(({ processGauges }) => new Map(processGauges))
    return primaryGauges.map(([name, value]) => {
      const values = [value, ...parts.map((part) => part.get(name) ?? 0)]
      if (name.includes('.memory.')) return [name, values.reduce((sum, each) => sum + each)]
      return [name, name.endsWith('.utilization') ? Math.max(...values) : value]
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

/** How the gauges of several workers are combined. */
type GaugeRule = 'sum' | 'total' | 'mean' | 'one'

/**
 * Gauges that are not a plain sum of the current values of the workers. Gauges that only grow include the
 * values of workers that have exited; gauges about the rules are the same in every worker.
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

/** Every worker loads the rules, so only the loads of one worker are counted. */
const commonCounters: ReadonlySet<string> = new Set([
  'ratelimit.service.config_load_success',
  'ratelimit.service.config_load_error',
  'runtime.load_attempts',
  'runtime.load_failures',
])

function isCommonCounter(name: string): boolean {
  return commonCounters.has(name)
}
