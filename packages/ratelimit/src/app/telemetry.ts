import type { Log } from '@portcullis/service-kit/log/log'
import type { StatsConfig } from '../config/stats.ts'
import type { TracingConfig } from '../config/tracing.ts'
import type { RuleSnapshot } from '../rules/match/snapshot.ts'
import type { Statistics } from '../stats/registry.ts'
import { openSink } from '../stats/sinks/index.ts'
import { noTracing, type Tracing } from '../tracing/tracing.ts'
import { processGauges } from '../transports/debug/process-gauges.ts'
import type { Primary } from './primary.ts'

interface StatisticsOutputContext {
  readonly statistics: Statistics
  readonly rules: () => RuleSnapshot | undefined
  readonly log: Log
  readonly now: () => number
  readonly primary: Primary | undefined
}

/** Statistics leave the process through a sink; a worker sends them to the primary, which has the sink. */
export async function openStatisticsOutput(
  config: StatsConfig,
  { statistics, rules, log, now, primary }: StatisticsOutputContext,
): Promise<AsyncDisposable> {
  if (primary !== undefined) {
    const sendsDurations = config.sink.kind !== 'none'
    return primary.openReports({ statistics, sendsDurations, processGauges, rules })
  }
  return await openSink(config, {
    statistics,
    log,
    now,
    processGauges,
    hasDomain: (domain) => rules()?.hasDomain(domain) ?? false,
  })
}

/** OpenTelemetry is loaded only here, and only when tracing is enabled. */
export async function openTracing(config: TracingConfig | undefined, log: Log): Promise<Tracing> {
  if (config === undefined) return noTracing
  const { openOtlpTracing } = await import('../tracing/otlp-tracing.ts')
  return await openOtlpTracing(config, log)
}
