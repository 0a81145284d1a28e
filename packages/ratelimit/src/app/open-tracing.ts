import type { Log } from '@portcullis/service-kit/log'
import type { TracingConfig } from '../config/tracing.ts'
import { noTracing, type Tracing } from '../tracing/tracing.ts'

/** OpenTelemetry is loaded here, and only when tracing is on. */
export async function openTracing(config: TracingConfig | undefined, log: Log): Promise<Tracing> {
  if (config === undefined) return noTracing
  const { openOtlpTracing } = await import('../tracing/otlp-tracing.ts')
  return await openOtlpTracing(config, log)
}
