// Adds to the counters of one implementation, in a separate process.

import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { Counter } from '@portcullis/service-kit/metrics/instruments'

export const implementations = [
  'service-kit',
  'OpenTelemetry without attributes',
  'OpenTelemetry with 2 attributes',
] as const
export type Implementation = (typeof implementations)[number]

export interface CounterJob {
  readonly implementation: Implementation
  /** How many different series the adds go to, in turn. */
  readonly series: number
  readonly adds: number
}

export interface CounterOutcome {
  readonly cpuSeconds: number
}

interface Counters {
  add(times: number): void
  /** The sum over all series, which shows that nothing was optimized away. */
  sum(): Promise<number>
}

class ManualReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const createCounters: Readonly<Record<Implementation, (series: number) => Counters>> = {
  /** The code that counts holds the object, as a rule holds its counters. */
  'service-kit'(series) {
    const counters = Array.from({ length: series }, () => new Counter())
    let at = 0
    return {
      add(times) {
        for (let i = 0; i < times; i++) {
          const counter = counters[at]
          if (counter !== undefined) counter.value += 1
          at = at + 1 === series ? 0 : at + 1
        }
      },
      sum: async () => counters.reduce((sum, { value }) => sum + value, 0),
    }
  },

  'OpenTelemetry without attributes'() {
    const { counter, sum } = openCounter()
    return {
      add(times) {
        for (let i = 0; i < times; i++) counter.add(1)
      },
      sum,
    }
  },

  /** The attributes are created once, which is the best case for OpenTelemetry. */
  'OpenTelemetry with 2 attributes'(series) {
    const { counter, sum } = openCounter()
    const attributes = Array.from({ length: series }, (_, one) => ({
      domain: 'bench',
      key1: `tenant_${one}`,
    }))
    let at = 0
    return {
      add(times) {
        for (let i = 0; i < times; i++) {
          counter.add(1, attributes[at])
          at = at + 1 === series ? 0 : at + 1
        }
      },
      sum,
    }
  },
}

function openCounter() {
  const reader = new ManualReader()
  const counter = new MeterProvider({ readers: [reader] }).getMeter('bench').createCounter('hits')
  const sum = async () => {
    const { resourceMetrics } = await reader.collect()
    const points = resourceMetrics.scopeMetrics[0]?.metrics[0]?.dataPoints ?? []
    return points.reduce((total, { value }) => total + Number(value), 0)
  }
  return { counter, sum }
}

answerParent(async ({ implementation, series, adds }: CounterJob): Promise<CounterOutcome> => {
  const counters = createCounters[implementation](series)
  const warmUp = Math.ceil(adds / 4)
  counters.add(warmUp)
  const start = process.cpuUsage()
  counters.add(adds)
  const { user, system } = process.cpuUsage(start)
  const sum = await counters.sum()
  if (sum !== warmUp + adds) throw new Error(`${implementation} counted ${sum}`)
  return { cpuSeconds: (user + system) / 1e6 }
})
