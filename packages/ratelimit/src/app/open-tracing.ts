import type { Log } from '@portcullis/service-kit/log'
import type { StoreConfig } from '../config/store.ts'
import type { TracingConfig } from '../config/tracing.ts'
import { noTracing, type TracedStoreKind, type Tracing } from '../tracing/tracing.ts'

/** OpenTelemetry is loaded here, and only when tracing is on. */
export async function openTracing(config: TracingConfig | undefined, log: Log): Promise<Tracing> {
  if (config === undefined) return noTracing
  const { openOtlpTracing } = await import('../tracing/otlp-tracing.ts')
  return await openOtlpTracing(config, log)
}

export function toTracedStoreKind(config: StoreConfig): TracedStoreKind {
  const hasPerSecond = config.kind === 'redis' && config.perSecond !== undefined
  return { kind: config.kind, hasPerSecond }
}
